/**
 * Bodies of `mx.slice` and `mx.sliceUpdate`. MLX reads and writes wherever a start leads, so plain starts are checked and
 * those in an Array are limited to the room that there is, unless they are known to fit.
 */

import {
  type ArrayInput,
  C,
  failure,
  type IndexInput,
  indexInput,
  input,
  inputDtype,
  inputLike,
  ints,
  MxArray,
  produce,
  refuse,
  slot,
  stream,
  type StreamOptions,
} from "../core/call.ts";
import type { Pointer } from "../backend/types.ts";
import { integerBounds } from "../core/dtype.ts";
import { newArrayFrom } from "../core/literal.ts";
import { newScalar } from "../core/scalar.ts";
import { holdArray } from "../core/temporaries.ts";
import { axisLength, shapeOfInput } from "./args.ts";
import { knownUpTo } from "./index-checks.ts";
import { step } from "./steps.ts";

/** The handle of the starts, none of which lets a part of these lengths leave the array. */
function safeStarts(
  starts: IndexInput,
  axes: readonly number[],
  shape: readonly number[],
  lengths: readonly number[],
  on: Pointer,
  op: string,
): Pointer {
  const rooms = axes.map((axis) => axisLength(shape, axis, op) - (lengths.at(axis) ?? 1));
  if (!MxArray.real(starts)) {
    const list = (Array.isArray(starts) ? starts : [starts]) as readonly unknown[];
    list.forEach((start, i) => checkStart(start, `startIndices[${i}]`, rooms[i] ?? 0, op));
    return indexInput(starts, op, "startIndices");
  }
  const given = indexInput(starts, op, "startIndices");
  if (starts.size !== axes.length) {
    refuse(new RangeError(`${op}: startIndices has ${starts.size} elements for ${axes.length} axes.`));
  }
  const { dtype } = starts;
  const bounds = integerBounds[dtype];
  // MLX says what it thinks of other dtypes.
  if (bounds === undefined || dtype === "bool") return given;
  // One room for all axes, the least: where there are several, starts that fit may be limited for nothing.
  if (knownUpTo(starts, given, Math.min(...rooms), op)) return given;
  // The limits have the starts' own dtype, so that no common one is looked for.
  const least = holdArray(newScalar(0, dtype));
  const highest = Number(bounds[1]);
  const limits = rooms.map((room) => Math.min(Math.max(room, 0), highest));
  const wide = dtype === "int64" || dtype === "uint64";
  const most = holdArray(newArrayFrom(wide ? limits.map(BigInt) : limits, { dtype, shape: starts.shape }));
  const out = slot();
  return step(C.mlx_clip(out, given, least, most, on), out, op, [starts]);
}

function checkStart(start: unknown, name: string, room: number, op: string): void {
  if (typeof start !== "number" && typeof start !== "bigint") return;
  if (start < 0 || start > room) {
    refuse(new RangeError(`${op}: ${name} is ${start}; a start is from 0 to ${room} here.`));
  }
}

export function sliceBody(
  a: ArrayInput,
  startIndices: IndexInput,
  axes: readonly number[],
  sliceSize: readonly number[],
  options: StreamOptions | undefined,
): MxArray {
  const op = "slice";
  const on = stream(options, op);
  const axesAddress = ints(axes, op, "axes");
  const sizeAddress = ints(sliceSize, op, "sliceSize");
  const source = input(a, op, "a");
  const shape = shapeOfInput(a, op);
  if (sliceSize.length !== shape.length || sliceSize.some((size, i) => size < 0 || size > shape[i]!)) {
    refuse(new RangeError(`${op}: sliceSize [${sliceSize.join(", ")}] does not fit the shape [${shape.join(", ")}].`));
  }
  const starts = safeStarts(startIndices, axes, shape, sliceSize, on, op);
  const out = slot();
  const status = C.mlx_slice_dynamic(out, source, starts, axesAddress, axes.length, sizeAddress, sliceSize.length, on);
  if (status !== 0) throw failure(op, [a, startIndices]);
  return produce(op, out);
}

export function sliceUpdateBody(
  a: ArrayInput,
  update: ArrayInput,
  startIndices: IndexInput,
  axes: readonly number[],
  options: StreamOptions | undefined,
): MxArray {
  const op = "sliceUpdate";
  const on = stream(options, op);
  const axesAddress = ints(axes, op, "axes");
  const source = input(a, op, "a");
  const shape = shapeOfInput(a, op);
  const part = shapeOfInput(update, op);
  const missing = shape.length - part.length;
  // An update that lacks axes in front is one element long on those that have a start.
  const lengths = missing > 0 ? [...new Array<number>(missing).fill(1), ...part] : part;
  if (missing < 0 || lengths.some((length, i) => length > shape[i]!)) {
    refuse(new RangeError(`${op}: an update of shape [${part.join(", ")}] does not fit into [${shape.join(", ")}].`));
  }
  const value = inputLike(update, inputDtype(a, op, "a"), op, "update");
  const starts = safeStarts(startIndices, axes, shape, lengths, on, op);
  const out = slot();
  const status = C.mlx_slice_update_dynamic(out, source, value, starts, axesAddress, axes.length, on);
  if (status !== 0) throw failure(op, [a, update, startIndices]);
  return produce(op, out);
}
