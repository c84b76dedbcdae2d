/** The body of `mx.trace`: without a dtype the sum is taken in the array's own. */

import {
  type ArrayInput,
  C,
  dtype as dtypeCode,
  failure,
  input,
  int,
  MxArray,
  produce,
  slot,
  stream,
  type StreamOptions,
} from "../core/call.ts";
import type { Dtype } from "../core/dtype.ts";

export function traceBody(
  a: ArrayInput,
  offset: number,
  axis1: number,
  axis2: number,
  dtype: Dtype | null,
  options: StreamOptions | undefined,
): MxArray {
  const on = stream(options, "trace");
  const by = int(offset, "trace", "offset");
  const first = int(axis1, "trace", "axis1");
  const second = int(axis2, "trace", "axis2");
  const given = dtype === null ? null : dtypeCode(dtype, "trace", "dtype");
  const source = input(a, "trace", "a");
  const out = slot();
  if (C.mlx_trace_axes(out, source, by, first, second, given ?? C.mlx_array_dtype(source), on) !== 0) {
    throw failure("trace", [a]);
  }
  return produce("trace", out);
}
