/** Bodies of the operations that make arrays of one value, of ones on a diagonal, or of even steps. */

import {
  type ArrayInput,
  C,
  bool,
  dtype as dtypeCode,
  failure,
  float,
  input,
  inputDtype,
  inputLike,
  int,
  ints,
  MxArray,
  produce,
  slot,
  stream,
  type StreamOptions,
} from "../core/call.ts";
import type { Dtype } from "../core/dtype.ts";
import { WeakFloat } from "../core/scalar.ts";
import { asList } from "./args.ts";
import { requireFit } from "./fit.ts";

/** The dtype that a value fills an array with: like `mx.array`, it depends on the type of the value alone. */
function fillDtype(value: ArrayInput): Dtype {
  if (typeof value === "bigint") return "int64";
  return typeof value === "number" || value instanceof WeakFloat ? "float32" : inputDtype(value, "full", "vals");
}

export function fullBody(
  shape: number | readonly number[],
  vals: ArrayInput,
  dtype: Dtype | null,
  options: StreamOptions | undefined,
): MxArray {
  const on = stream(options, "full");
  if (dtype !== null) dtypeCode(dtype, "full", "dtype");
  const list = asList(shape) as readonly number[];
  const dims = ints(list, "full", "shape");
  // Beside a dtype a scalar is weak: 2.5 beside int32 is a float32, as in Python.
  const value = inputLike(vals, dtype ?? fillDtype(vals), "full", "vals");
  const out = slot();
  if (C.mlx_full(out, dims, list.length, value, C.mlx_array_dtype(value), on) !== 0) throw failure("full", [vals]);
  return produce("full", out);
}

export function fullLikeBody(
  a: ArrayInput,
  vals: ArrayInput,
  dtype: Dtype | null,
  options: StreamOptions | undefined,
): MxArray {
  const on = stream(options, "fullLike");
  const kind = dtype ?? inputDtype(a, "fullLike", "a");
  const code = dtypeCode(kind, "fullLike", "dtype");
  const like = input(a, "fullLike", "a");
  const value = inputLike(vals, kind, "fullLike", "vals");
  const out = slot();
  if (C.mlx_full_like(out, like, value, code, on) !== 0) throw failure("fullLike", [a, vals]);
  return produce("fullLike", out);
}

export function eyeBody(
  n: number,
  m: number | null,
  k: number,
  dtype: Dtype | null,
  options: StreamOptions | undefined,
): MxArray {
  const on = stream(options, "eye");
  const rows = int(n, "eye", "n");
  const columns = m === null ? rows : int(m, "eye", "m");
  const offset = int(k, "eye", "k");
  const code = dtypeCode(dtype ?? "float32", "eye", "dtype");
  const out = slot();
  if (C.mlx_eye(out, rows, columns, offset, code, on) !== 0) throw failure("eye", []);
  return produce("eye", out);
}

export function triBody(
  n: number,
  m: number | null,
  k: number,
  dtype: Dtype | null,
  options: StreamOptions | undefined,
): MxArray {
  const on = stream(options, "tri");
  const rows = int(n, "tri", "n");
  const columns = m === null ? rows : int(m, "tri", "m");
  const offset = int(k, "tri", "k");
  const code = dtypeCode(dtype ?? "float32", "tri", "dtype");
  const out = slot();
  if (C.mlx_tri(out, rows, columns, offset, code, on) !== 0) throw failure("tri", []);
  return produce("tri", out);
}

export function linspaceBody(
  start: number,
  stop: number,
  num: number,
  endpoint: boolean,
  dtype: Dtype | null,
  options: StreamOptions | undefined,
): MxArray {
  const on = stream(options, "linspace");
  const from = float(start, "linspace", "start");
  const to = float(stop, "linspace", "stop");
  const count = int(num, "linspace", "num");
  const whole = bool(endpoint, "linspace", "endpoint");
  const kind = dtype ?? "float32";
  const code = dtypeCode(kind, "linspace", "dtype");
  const last = whole ? to : to - (to - from) / count;
  // MLX wraps what an integer dtype cannot hold.
  if (count > 0) requireFit((count > 1 ? [from, last] : [from]).map(Math.trunc), kind, "linspace");
  const out = slot();
  if (C.mlx_linspace_endpoint(out, from, to, count, whole, code, on) !== 0) throw failure("linspace", []);
  return produce("linspace", out);
}
