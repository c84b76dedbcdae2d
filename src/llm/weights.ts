/** Weight matrices, dense or quantized, and the two things that a language model does with them. */

import * as mx from "../index.ts";

/**
 * A matrix to multiply by: dense (in, out), or MLX's quantized triple of its transpose. Files hold (out, in); a dense
 * one is turned once when it is loaded, which moves nothing: a step of the model then has an operation less for each.
 */
export type Weight = mx.Array | QuantizedWeight;

export interface QuantizedWeight {
  /** (out, in * bits / 32), uint32: packed integers. */
  readonly weight: mx.Array;
  /** (out, in / groupSize), float32: an integer q of a group stands for q * scale + bias. */
  readonly scales: mx.Array;
  readonly biases: mx.Array;
  readonly bits: number;
  readonly groupSize: number;
}

/** x (rows, in) times w: (rows, out). Two axes spare MLX the flattening of more, two operations a product. */
export function linear(x: mx.Array, w: Weight): mx.Array {
  if (w instanceof mx.Array) return mx.matmul(x, w);
  const { weight, scales, biases, bits, groupSize } = w;
  return mx.quantizedMatmul(x, weight, scales, biases, true, groupSize, bits);
}

/** The rows of w (vocab, d), not turned, for token ids (rows): (rows, d). */
export function embed(ids: mx.Array, w: Weight): mx.Array {
  if (w instanceof mx.Array) return mx.take(w, ids, 0);
  const { weight, scales, biases, bits, groupSize } = w;
  return mx.dequantize(mx.take(weight, ids, 0), mx.take(scales, ids, 0), mx.take(biases, ids, 0), groupSize, bits);
}

/** The numbers of a quantized matrix (out, in), as float32. */
export function dense({ weight, scales, biases, bits, groupSize }: QuantizedWeight): mx.Array {
  return mx.dequantize(weight, scales, biases, groupSize, bits);
}
