/** Reading by an index: `x.get(0, "1:3", "...", null, ids)`. */

import { reshape, transpose } from "../../../generated/ops.ts";
import { type MxArray, shapeOf } from "../../core/array.ts";
import { C, failure, input, ints, produce, slot, stream } from "../../core/call.ts";
import { tidy } from "../../core/scope.ts";
import { axesOrder, gather, placeOf } from "./gather.ts";
import { type Box, boxOf, type IndexPart, type Part, resolve, slicesOf } from "./parts.ts";

/**
 * The part of an array that an index selects: `x.get(0, "1:3", "...", null, ids)` is Python's `x[0, 1:3, ..., None, ids]`.
 *
 * Integers drop their axis, slices keep it, null adds one of length 1; lists and Arrays of integers put their own axes
 * in place of the one they index (in front, when they stand apart). Bounds of slices are clamped; an integer out of
 * range throws a RangeError, in an Array too where its values are known. Values that are yet to be computed are limited
 * to the axis. Python: a[...].
 */
export function get(a: MxArray, ...index: IndexPart[]): MxArray {
  const shape = shapeOf(a, "get");
  const parts = resolve(index, shape, "get");
  return tidy(() => (parts.some((part) => part.kind === "array") ? advanced(a, parts) : basic(a, parts)));
}

/** Without index arrays: one slice, and one reshape where axes come or go. */
function basic(a: MxArray, parts: readonly Part[]): MxArray {
  const part = sliced(a, boxOf(parts, a.shape));
  if (parts.every(({ kind }) => kind === "slice")) return part;
  return reshape(
    part,
    parts.flatMap((one) => (one.kind === "integer" ? [] : [one.kind === "slice" ? one.count : 1])),
  );
}

/** With index arrays: the slices first, then one gather, then the axes in their places. */
function advanced(a: MxArray, parts: readonly Part[]): MxArray {
  const place = placeOf(parts, "get");
  const box = boxOf(slicesOf(parts), a.shape);
  const gathered = gather(box.whole ? a : sliced(a, box), place);
  const placed = place.before === 0 ? gathered : transpose(gathered, axesOrder(place, gathered.ndim, false));
  return parts.some(({ kind }) => kind === "newaxis") ? reshape(placed, place.shape) : placed;
}

/** The box that the slices of an index select. */
export function sliced(a: MxArray, box: Box): MxArray {
  const { starts, stops, steps } = box;
  const n = starts.length;
  const on = stream(undefined, "get");
  const from = input(a, "get", "a");
  const out = slot();
  const low = ints(starts, "get", "start");
  const status = C.mlx_slice(out, from, low, n, ints(stops, "get", "stop"), n, ints(steps, "get", "step"), n, on);
  if (status !== 0) throw failure("get", [a]);
  return produce("get", out);
}
