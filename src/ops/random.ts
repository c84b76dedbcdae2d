/** Bodies of the random operations whose shape or form depends on what is given. */

import {
  type ArrayInput,
  C,
  dtype as dtypeCode,
  failure,
  input,
  int,
  ints,
  MxArray,
  produce,
  refuse,
  slot,
  stream,
  type StreamOptions,
} from "../core/call.ts";
import type { Pointer } from "../backend/types.ts";
import { type Dtype, dtypeCodes, isInteger } from "../core/dtype.ts";
import { axisLength, shapeOfInput } from "./args.ts";
import { broadcastShapes } from "./dtypes.ts";
import { requireFit } from "./fit.ts";
import { keyOrNext } from "./random-state.ts";

export function bernoulliBody(
  p: ArrayInput,
  shape: readonly number[] | null,
  key: MxArray | null,
  options: StreamOptions | undefined,
): MxArray {
  const op = "random.bernoulli";
  const on = stream(options, op);
  const dims = shape ?? shapeOfInput(p, op);
  const address = ints(dims, op, "shape");
  const chance = input(p, op, "p");
  const from = keyOrNext(key, op, "key");
  const out = slot();
  if (C.mlx_random_bernoulli(out, chance, address, dims.length, from, on) !== 0) throw failure(op, [p]);
  return produce(op, out);
}

export function truncatedNormalBody(
  lower: ArrayInput,
  upper: ArrayInput,
  shape: readonly number[] | null,
  dtype: Dtype | null,
  key: MxArray | null,
  options: StreamOptions | undefined,
): MxArray {
  const op = "random.truncatedNormal";
  const on = stream(options, op);
  const code = dtypeCode(dtype ?? "float32", op, "dtype");
  const low = input(lower, op, "lower");
  const high = input(upper, op, "upper");
  const dims = shape ?? boundsShape(lower, upper, op);
  const address = ints(dims, op, "shape");
  const from = keyOrNext(key, op, "key");
  const out = slot();
  const status = C.mlx_random_truncated_normal(out, low, high, address, dims.length, code, from, on);
  if (status !== 0) throw failure(op, [lower, upper]);
  return produce(op, out);
}

function boundsShape(lower: ArrayInput, upper: ArrayInput, op: string): number[] {
  try {
    return broadcastShapes(shapeOfInput(lower, op), shapeOfInput(upper, op));
  } catch (error) {
    return refuse(new RangeError(`${op}: lower and upper do not go together: ${(error as Error).message}`));
  }
}

export function categoricalBody(
  logits: ArrayInput,
  axis: number,
  shape: readonly number[] | null,
  numSamples: number | null,
  key: MxArray | null,
  options: StreamOptions | undefined,
): MxArray {
  const op = "random.categorical";
  const on = stream(options, op);
  if (shape !== null && numSamples !== null) refuse(new TypeError(`${op}: shape and numSamples exclude each other.`));
  const along = int(axis, op, "axis");
  const address = shape === null ? 0 : ints(shape, op, "shape");
  const count = numSamples === null ? 0 : int(numSamples, op, "numSamples");
  const weights = input(logits, op, "logits");
  const from = keyOrNext(key, op, "key");
  const out = slot();
  const status =
    shape !== null
      ? C.mlx_random_categorical_shape(out, weights, along, address, shape.length, from, on)
      : numSamples !== null
        ? C.mlx_random_categorical_num_samples(out, weights, along, count, from, on)
        : C.mlx_random_categorical(out, weights, along, from, on);
  if (status !== 0) throw failure(op, [logits]);
  return produce(op, out);
}

export function permutationBody(
  x: number | MxArray,
  axis: number,
  key: MxArray | null,
  options: StreamOptions | undefined,
): MxArray {
  const op = "random.permutation";
  const on = stream(options, op);
  const along = int(axis, op, "axis");
  const rows = MxArray.real(x) ? input(x, op, "x") : null;
  const count = MxArray.real(x) ? 0 : int(x, op, "x");
  if (rows === null ? count === 0 : C.mlx_array_size(rows) === 0) return nothingToPermute(x, along, on);
  const from = keyOrNext(key, op, "key");
  const out = slot();
  const status =
    rows === null
      ? C.mlx_random_permutation_arange(out, count, from, on)
      : C.mlx_random_permutation(out, rows, along, from, on);
  if (status !== 0) throw failure(op, [x]);
  return produce(op, out);
}

/** MLX orders by random numbers, and ends the process where there are none. */
function nothingToPermute(x: number | MxArray, axis: number, on: Pointer): MxArray {
  const op = "random.permutation";
  if (MxArray.real(x)) axisLength(x.shape, axis, op);
  const out = slot();
  const status = MxArray.real(x)
    ? C.mlx_array_set(out, input(x, op, "x"))
    : C.mlx_zeros(out, ints([0], op, "x"), 1, dtypeCodes.uint32, on);
  if (status !== 0) throw failure(op, [x]);
  return produce(op, out);
}

export function randintBody(
  low: ArrayInput,
  high: ArrayInput,
  shape: readonly number[],
  dtype: Dtype | null,
  key: MxArray | null,
  options: StreamOptions | undefined,
): MxArray {
  const op = "random.randint";
  const on = stream(options, op);
  const kind = dtype ?? "int32";
  const code = dtypeCode(kind, op, "dtype");
  // MLX wraps what the dtype cannot hold. The upper bound itself is never drawn.
  if (isInteger(kind)) requireFit([...integerBound(low, 0), ...integerBound(high, 1)], kind, op);
  const from = input(low, op, "low");
  const to = input(high, op, "high");
  const address = ints(shape, op, "shape");
  const source = keyOrNext(key, op, "key");
  const out = slot();
  const status = C.mlx_random_randint(out, from, to, address, shape.length, code, source, on);
  if (status !== 0) throw failure(op, [low, high]);
  return produce(op, out);
}

function integerBound(value: ArrayInput, less: 0 | 1): (number | bigint)[] {
  if (typeof value === "bigint") return [value - BigInt(less)];
  return typeof value === "number" && Number.isInteger(value) ? [value - less] : [];
}
