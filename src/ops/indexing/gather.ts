/** Where index arrays put their axes, and reading by them as one native gather. */

import { squeeze } from "../../../generated/ops.ts";
import type { MxArray } from "../../core/array.ts";
import { C, failure, input, ints, produce, slot, stream } from "../../core/call.ts";
import { array } from "../../core/create.ts";
import { vectorOfHandles } from "../../core/operands.ts";
import type { Pointer } from "../../backend/types.ts";
import { limitedToAxis } from "../index-checks.ts";
import { arraysTogether, type Part } from "./parts.ts";

/** The place that an index with arrays names. */
export interface Place {
  /** One index array for each indexed axis, integers among them. */
  indices: MxArray[];
  /** Which of them are known to be inside of their axes. */
  known: boolean[];
  axes: number[];
  /** The shape that the index arrays broadcast to. */
  indexShape: number[];
  /** How many sliced axes stand before the index axes in the result. */
  before: number;
  /** The shape of the result. */
  shape: number[];
}

/** Called inside a tidy: it makes arrays of the integers and lists. */
export function placeOf(parts: readonly Part[], op: string): Place {
  const indexed = parts.filter((part) => part.kind === "array" || part.kind === "integer");
  const indices = indexed.map(indexArray);
  const indexShape = broadcast(
    indices.map((index) => index.shape),
    op,
  );
  const first = parts.findIndex((part) => part.kind === "array" || part.kind === "integer");
  // Indices that stand apart have no common place: their axes go in front.
  const from = arraysTogether(parts) ? first : 0;
  const length = (part: Part): number[] => {
    if (part.kind === "newaxis") return [1];
    return part.kind === "slice" ? [part.count] : [];
  };
  return {
    indices,
    known: indexed.map((part) => part.kind === "integer" || part.known),
    axes: indexed.map((part) => part.axis),
    indexShape,
    before: parts.slice(0, from).filter((part) => part.kind === "slice").length,
    shape: [...parts.slice(0, from).flatMap(length), ...indexShape, ...parts.slice(from).flatMap(length)],
  };
}

function indexArray(part: Extract<Part, { kind: "array" | "integer" }>): MxArray {
  if (part.kind === "integer") return array(part.at, { dtype: "int32" });
  return Array.isArray(part.index) ? array(part.index as number[], { dtype: "int32" }) : (part.index as MxArray);
}

function broadcast(shapes: readonly (readonly number[])[], op: string): number[] {
  const ndim = Math.max(0, ...shapes.map((shape) => shape.length));
  return Array.from({ length: ndim }, (_, i) => {
    const lengths = shapes.map((shape) => shape[shape.length - ndim + i] ?? 1).filter((length) => length !== 1);
    if (lengths.some((length) => length !== lengths[0])) {
      const all = shapes.map((shape) => `[${shape.join(", ")}]`).join(", ");
      throw new RangeError(`${op}: the index arrays' shapes ${all} cannot be broadcast together.`);
    }
    return lengths[0] ?? 1;
  });
}

/** The native list of the indices, those that are not known limited to their axes of an array. */
export function indexVector(place: Place, a: MxArray, op: string, on: Pointer): Pointer {
  const { indices, known, axes } = place;
  const source = input(a, op, "a");
  const { shape } = a;
  const limited = (index: MxArray, axis: number): Pointer =>
    limitedToAxis(index, { source, axes: [axis], length: shape[axis]! }, op, on);
  return vectorOfHandles(indices.map((index, i) => (known[i]! ? input(index, op, "index") : limited(index, axes[i]!))));
}

/** Gathers along the indexed axes. The result has the index axes first, then the others. */
export function gather(a: MxArray, place: Place): MxArray {
  const { indices, axes, indexShape } = place;
  const sizes = a.shape.map((length, axis) => (axes.includes(axis) ? 1 : length));
  const on = stream(undefined, "get");
  const from = input(a, "get", "a");
  const list = indexVector(place, a, "get", on);
  const out = slot();
  const along = ints(axes, "get", "axes");
  const status = C.mlx_gather(out, from, list, along, axes.length, ints(sizes, "get", "sizes"), sizes.length, on);
  if (status !== 0) throw failure("get", [a, ...indices]);
  return squeeze(
    produce("get", out),
    axes.map((axis) => axis + indexShape.length),
  );
}

/** The order of axes that moves the index axes behind the first `before` others; `back` for the way back. */
export function axesOrder(place: Place, ndim: number, back: boolean): number[] {
  const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
  const count = place.indexShape.length;
  const [block, rest] = back ? [place.before, count] : [count, place.before];
  return [...range(block, block + rest), ...range(0, block), ...range(block + rest, ndim)];
}
