/**
 * Rotary position embedding: each pair of features of a query or key turns by an angle that grows with its position,
 * so that their product depends on the distance between them.
 *
 * MLX has one kernel for it on a GPU. On the CPU it falls back to some fifteen operations a layer, each of which
 * costs microseconds; there a rotation of neighbouring features is one multiplication of complex numbers, with
 * factors that all layers share.
 */

import * as mx from "../index.ts";
import type { LlamaConfig } from "./config.ts";

/** Turns x (B, heads, T, D), whose first row is at the position that it was made for. */
export type Rotation = (x: mx.Array) => mx.Array;

/** The rotation of `length` positions from `offset` on, by the quickest way for the default device. */
export function rotation(config: LlamaConfig, offset: number, length: number): Rotation {
  using device = mx.defaultDevice();
  return device.type === "cpu" && config.ropeTraditional
    ? complexRotation(config, offset, length)
    : fusedRotation(config, offset);
}

/** MLX's own operation: one kernel on a GPU. */
export function fusedRotation({ headDim, ropeBase, ropeTraditional }: LlamaConfig, offset: number): Rotation {
  const options = { traditional: ropeTraditional, base: ropeBase, scale: 1, offset };
  return (x) => mx.fast.rope(x, headDim, options);
}

/** Neighbouring features as complex numbers, times e^(i * position * frequency). For float32. */
export function complexRotation({ headDim, ropeBase }: LlamaConfig, offset: number, length: number): Rotation {
  const pairs = headDim / 2;
  const frequencies = mx.exp(mx.arange(pairs).multiply(-Math.log(ropeBase) / pairs)); // (D/2)
  const positions = mx.arange(offset, offset + length).expandDims(1); // (T, 1)
  const angles = positions.multiply(frequencies); // (T, D/2)
  const factors = mx.cos(angles).add(mx.sin(angles).multiply({ re: 0, im: 1 })); // (T, D/2), complex64
  return (x) => x.view("complex64").multiply(factors).view("float32"); // (B, heads, T, D)
}
