/** Results for arrays without elements, of the operations in which MLX divides by their number. */

import {
  type ArrayInput,
  C,
  dtype as dtypeCode,
  failure,
  inputDtype,
  int,
  ints,
  MxArray,
  produce,
  slot,
  stream,
  type StreamOptions,
} from "../core/call.ts";
import { type Dtype, dtypeCodes, isFloating } from "../core/dtype.ts";
import { axisLength, shapeOfInput } from "./args.ts";

/** The array of no elements that an operation along an axis gives; without an axis it is flat. */
function emptyResult(
  op: string,
  a: ArrayInput,
  axis: unknown,
  code: number,
  options: StreamOptions | undefined,
): MxArray {
  const on = stream(options, op);
  const shape = axis === null ? [0] : shapeOfInput(a, op);
  if (axis !== null && axis !== undefined) axisLength(shape, int(axis, op, "axis"), op);
  const out = slot();
  if (C.mlx_zeros(out, ints(shape, op, "shape"), shape.length, code, on) !== 0) throw failure(op, [a]);
  return produce(op, out);
}

/** cumsum and its like: without an axis, or with null, the array counts as flat. */
export function emptyScan(
  op: string,
  a: ArrayInput,
  axis: unknown,
  dtype: unknown,
  options?: StreamOptions | undefined,
): MxArray {
  const code =
    dtype === undefined || dtype === null
      ? dtypeCodes[scanDtype(op, inputDtype(a, op, "a"))]
      : dtypeCode(dtype, op, "dtype");
  return emptyResult(op, a, axis ?? null, code, options);
}

function scanDtype(op: string, dtype: Dtype): Dtype {
  if (op === "logcumsumexp") return isFloating(dtype) || dtype === "complex64" ? dtype : "float32";
  return dtype === "bool" && (op === "cumsum" || op === "cumprod") ? "int32" : dtype;
}

/** sort and argsort: the last axis without one, the flat array with null. */
export function emptySort(op: string, a: ArrayInput, axis: unknown, options?: StreamOptions | undefined): MxArray {
  const dtype = op === "argsort" ? "uint32" : inputDtype(a, op, "a");
  return emptyResult(op, a, axis, dtypeCodes[dtype], options);
}
