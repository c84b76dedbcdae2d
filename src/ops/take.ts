/** Bodies of the operations that pick elements by index. What is known of the indices is checked against the axis. */

import {
  type ArrayInput,
  C,
  failure,
  type IndexInput,
  indexInput,
  input,
  inputDtype,
  inputLike,
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
import { axisLength, shapeOfInput } from "./args.ts";
import { forEachIndex } from "./host-indices.ts";
import { type Axis, insideAxis } from "./index-checks.ts";
import { flattened, step } from "./steps.ts";

/** The handle of indices into an axis of this length, none of which leads out of it. */
function safeIndices(indices: IndexInput, of: Axis, op: string, on: Pointer): Pointer {
  if (MxArray.real(indices)) return insideAxis(indices, of, op, "indices", on);
  const { length } = of;
  forEachIndex(indices, `${op}: indices`, (index, path) => {
    if ((typeof index === "number" || typeof index === "bigint") && (index >= length || index < -length)) {
      refuse(new RangeError(`${path} is ${index}, out of range for an axis of length ${length}.`));
    }
  });
  return indexInput(indices, op, "indices");
}

/** What indices go along: all elements where no axis is given. */
function goingAlong(a: ArrayInput, source: Pointer, axis: number | null, op: string): Axis {
  const shape = shapeOfInput(a, op);
  if (axis !== null) return { source, axes: [axis], length: axisLength(shape, axis, op) };
  return { source, axes: shape.map((_, i) => i), length: shape.reduce((size, n) => size * n, 1) };
}

export function takeBody(
  a: ArrayInput,
  indices: IndexInput,
  axis: number | null,
  options: StreamOptions | undefined,
): MxArray {
  const on = stream(options, "take");
  const along = axis === null ? null : int(axis, "take", "axis");
  const source = input(a, "take", "a");
  const picks = safeIndices(indices, goingAlong(a, source, along, "take"), "take", on);
  const out = slot();
  const status = along === null ? C.mlx_take(out, source, picks, on) : C.mlx_take_axis(out, source, picks, along, on);
  if (status !== 0) throw failure("take", [a, indices]);
  return produce("take", out);
}

export function takeAlongAxisBody(
  a: ArrayInput,
  indices: IndexInput,
  axis: number | null,
  options: StreamOptions | undefined,
): MxArray {
  const op = "takeAlongAxis";
  const on = stream(options, op);
  const along = axis === null ? null : int(axis, op, "axis");
  const source = input(a, op, "a");
  const picks = safeIndices(indices, goingAlong(a, source, along, op), op, on);
  const from = along === null ? flattened(source, on, op, [a]) : source;
  const out = slot();
  if (C.mlx_take_along_axis(out, from, picks, along ?? 0, on) !== 0) throw failure(op, [a, indices]);
  return produce(op, out);
}

export function putAlongAxisBody(
  a: ArrayInput,
  indices: IndexInput,
  values: ArrayInput,
  axis: number | null,
  options: StreamOptions | undefined,
): MxArray {
  const op = "putAlongAxis";
  const on = stream(options, op);
  const along = axis === null ? null : int(axis, op, "axis");
  const target = input(a, op, "a");
  const picks = safeIndices(indices, goingAlong(a, target, along, op), op, on);
  const given = inputLike(values, inputDtype(a, op, "a"), op, "values");
  const out = slot();
  if (along !== null) {
    if (C.mlx_put_along_axis(out, target, picks, given, along, on) !== 0) throw failure(op, [a, indices, values]);
    return produce(op, out);
  }
  const flat = flattened(target, on, op, [a]);
  const put = step(C.mlx_put_along_axis(out, flat, picks, given, 0, on), out, op, [a, indices, values]);
  const shape = shapeOfInput(a, op);
  const back = slot();
  if (C.mlx_reshape(back, put, ints(shape, op, "shape"), shape.length, on) !== 0) throw failure(op, [a]);
  return produce(op, back);
}
