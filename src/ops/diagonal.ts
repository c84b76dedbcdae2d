/** Bodies of `mx.diagonal` and `mx.trace`. A diagonal outside of the array is made as an empty array. */

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
import type { Dtype } from "../core/dtype.ts";
import { axisLength, shapeOfInput } from "./args.ts";
import { step } from "./steps.ts";

/** Where a diagonal runs. */
interface Diagonal {
  offset: number;
  axis1: number;
  axis2: number;
  /** The shape of the result where no element is on the diagonal; null where there is one. */
  empty: readonly number[] | null;
}

function read(a: ArrayInput, offset: unknown, axis1: unknown, axis2: unknown, op: string): Diagonal {
  const by = int(offset, op, "offset");
  const first = int(axis1, op, "axis1");
  const second = int(axis2, op, "axis2");
  const shape = shapeOfInput(a, op);
  if (shape.length < 2) refuse(new RangeError(`${op}: a must have two axes or more, got ${shape.length}.`));
  const rows = axisLength(shape, first, op);
  const columns = axisLength(shape, second, op);
  const length = by >= 0 ? Math.min(rows, columns - by) : Math.min(rows + by, columns);
  if (length > 0) return { offset: by, axis1: first, axis2: second, empty: null };
  const gone = [first, second].map((axis) => (axis < 0 ? axis + shape.length : axis));
  if (gone[0] === gone[1]) refuse(new RangeError(`${op}: axis1 and axis2 are the same.`));
  return { offset: by, axis1: first, axis2: second, empty: [...shape.filter((_, i) => !gone.includes(i)), 0] };
}

function zeros(shape: readonly number[], code: number, on: Pointer, op: string): Pointer {
  const out = slot();
  return step(C.mlx_zeros(out, ints(shape, op, "shape"), shape.length, code, on), out, op, []);
}

export function diagonalBody(
  a: ArrayInput,
  offset: number,
  axis1: number,
  axis2: number,
  options: StreamOptions | undefined,
): MxArray {
  const op = "diagonal";
  const on = stream(options, op);
  const source = input(a, op, "a");
  const at = read(a, offset, axis1, axis2, op);
  const out = slot();
  const status =
    at.empty === null
      ? C.mlx_diagonal(out, source, at.offset, at.axis1, at.axis2, on)
      : C.mlx_zeros(out, ints(at.empty, op, "shape"), at.empty.length, C.mlx_array_dtype(source), on);
  if (status !== 0) throw failure(op, [a]);
  return produce(op, out);
}

export function traceBody(
  a: ArrayInput,
  offset: number,
  axis1: number,
  axis2: number,
  dtype: Dtype | null,
  options: StreamOptions | undefined,
): MxArray {
  const op = "trace";
  const on = stream(options, op);
  const given = dtype === null ? null : dtypeCode(dtype, op, "dtype");
  const source = input(a, op, "a");
  const at = read(a, offset, axis1, axis2, op);
  // Without a dtype the sum is taken in the array's own.
  const code = given ?? C.mlx_array_dtype(source);
  const out = slot();
  const status =
    at.empty === null
      ? C.mlx_trace_axes(out, source, at.offset, at.axis1, at.axis2, code, on)
      : C.mlx_sum_axis(out, zeros(at.empty, code, on, op), -1, false, on);
  if (status !== 0) throw failure(op, [a]);
  return produce(op, out);
}
