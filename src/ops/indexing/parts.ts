/** The parts of an index: what a user writes, resolved against a shape, before anything native is called. */

import { MxArray } from "../../core/array.ts";
import { describe } from "../../core/describe.ts";
import { handleOf } from "../../core/handle.ts";
import type { IndexList } from "../../core/operands.ts";
import { forEachIndex } from "../host-indices.ts";
import { knownInside } from "../index-checks.ts";

type Bound = number | "";

/** A slice as text: "1:3", ":", "::-1", "-2:". What is no slice does not compile. */
export type SliceText = `${Bound}:${Bound}` | `${Bound}:${Bound}:${Bound}`;

/**
 * One part of an index: an integer, a slice text, "..." for all axes between, null for a new axis of length 1, a list
 * of integers, or an Array of integers (in updates also a boolean mask).
 */
export type IndexPart = number | SliceText | "..." | null | IndexList | MxArray;

/** A slice of one axis: `count` elements from `start`, `step` apart. */
export interface SlicePart {
  kind: "slice";
  axis: number;
  start: number;
  step: number;
  count: number;
}

export type Part =
  | SlicePart
  | { kind: "integer"; axis: number; at: number }
  | { kind: "array"; axis: number; index: MxArray | IndexList; known: boolean }
  | { kind: "newaxis" };

/** Resolves an index: ellipsis expanded, bounds clamped as NumPy's are, every source axis named once. */
export function resolve(index: readonly IndexPart[], shape: readonly number[], op: string): Part[] {
  const used = index.filter((part) => part !== null && part !== "...").length;
  if (used > shape.length) {
    throw new RangeError(
      `${op}: too many indices: ${used} for an array of ${shape.length} axes, shape [${shape.join(", ")}].`,
    );
  }
  if (index.filter((part) => part === "...").length > 1) throw new RangeError(`${op}: an index can hold "..." once.`);
  const parts: Part[] = [];
  let axis = 0;
  const whole = (): void => {
    parts.push({ kind: "slice", axis, start: 0, step: 1, count: shape[axis]! });
    axis++;
  };
  for (const [position, part] of index.entries()) {
    if (part === "...") for (let missing = shape.length - used; missing > 0; missing--) whole();
    else if (part === null) parts.push({ kind: "newaxis" });
    else {
      if (MxArray.real(part)) handleOf(part, op);
      parts.push(one(part, axis, shape[axis++]!, `${op}: index ${position}`));
    }
  }
  while (axis < shape.length) whole();
  return parts;
}

function one(part: Exclude<IndexPart, "..." | null>, axis: number, length: number, where: string): Part {
  if (typeof part === "number" || typeof part === "bigint")
    return { kind: "integer", axis, at: integer(part, length, where) };
  if (typeof part === "string") return slice(part, axis, length, where);
  if (MxArray.real(part)) return { kind: "array", axis, index: part, known: requireIntegers(part, length, where) };
  if (Array.isArray(part)) {
    checkList(part as IndexList, length, where);
    return { kind: "array", axis, index: part as IndexList, known: true };
  }
  throw new TypeError(
    `${where} must be an integer, a slice such as "1:3", "...", null, a list of integers or an Array, got ${describe(part)}.`,
  );
}

/** A host integer, checked against its axis: native code would read whatever lies there. */
function integer(value: number | bigint, length: number, where: string): number {
  const at = Number(value);
  if (!Number.isInteger(at)) throw new TypeError(`${where} must be an integer, got ${describe(value)}.`);
  if (at < -length || at >= length) {
    throw new RangeError(`${where} is ${at}, out of range for an axis of length ${length}.`);
  }
  return at < 0 ? at + length : at;
}

function checkList(list: IndexList, length: number, where: string): void {
  forEachIndex(list, where, (item) => {
    if (typeof item === "number" || typeof item === "bigint") integer(item, length, where);
    else throw new TypeError(`${where} must be a list of integers, got ${describe(item)} in it.`);
  });
}

/** Whether the values are known, and then inside of the axis. */
function requireIntegers(index: MxArray, length: number, where: string): boolean {
  const { dtype } = index;
  if (dtype === "bool") {
    throw new TypeError(
      `${where} is a boolean mask. The shape of what it selects would depend on values, so MLX cannot read by a mask: use mx.where, or x.at(mask).set(value) to write.`,
    );
  }
  if (!/^u?int/.test(dtype)) throw new TypeError(`${where} must be an Array of integers, got one of ${dtype}.`);
  const colon = where.indexOf(": ");
  return knownInside(index, length, where.slice(0, colon), where.slice(colon + 2));
}

const SLICE = /^\s*(-?\d+)?\s*:\s*(-?\d+)?\s*(?::\s*(-?\d+)?\s*)?$/;

function slice(text: string, axis: number, length: number, where: string): SlicePart {
  const match = SLICE.exec(text);
  if (match === null) {
    throw new TypeError(
      `${where} is ${describe(text)}, which is no slice. Write "start:stop" or "start:stop:step", each part optional.`,
    );
  }
  const step = match[3] === undefined ? 1 : Number(match[3]);
  if (step === 0) throw new RangeError(`${where}: the step of a slice cannot be 0.`);
  const forward = step > 0;
  const clamp = (bound: string | undefined, absent: number): number => {
    if (bound === undefined) return absent;
    const at = Number(bound) < 0 ? Number(bound) + length : Number(bound);
    return forward ? Math.min(Math.max(at, 0), length) : Math.min(Math.max(at, -1), length - 1);
  };
  const start = clamp(match[1], forward ? 0 : length - 1);
  const stop = clamp(match[2], forward ? length : -1);
  const count = Math.max(0, Math.ceil((stop - start) / step));
  if (count > 1 && count * Math.abs(step) > 2147483647) {
    throw new RangeError(`${where}: ${count} steps of ${step} are further than the 32 bits that MLX counts in.`);
  }
  return { kind: "slice", axis, start, step, count };
}

export function slicesOf(parts: readonly Part[]): SlicePart[] {
  return parts.filter((part) => part.kind === "slice");
}

/** The start, stop and step of each axis as the native slice takes them. */
export interface Box {
  starts: number[];
  stops: number[];
  steps: number[];
  /** Whether the box is the whole array. */
  whole: boolean;
}

/** The box that the slices and integers of an index select; axes of index arrays stay whole. */
export function boxOf(parts: readonly Part[], shape: readonly number[]): Box {
  const box: Box = { starts: shape.map(() => 0), stops: [...shape], steps: shape.map(() => 1), whole: true };
  for (const part of parts) {
    if (part.kind === "newaxis" || part.kind === "array") continue;
    const { axis } = part;
    const length = shape[axis]!;
    const [start, step, count] = part.kind === "integer" ? [part.at, 1, 1] : [part.start, part.step, part.count];
    if (start === 0 && step === 1 && count === length) continue;
    box.whole = false;
    // An empty slice is written so that native code cannot take its bounds for something else.
    box.starts[axis] = count === 0 ? 0 : start;
    // One element needs no step: a long one would leave the 32 bits, or wrap in them.
    box.steps[axis] = count < 2 ? 1 : step;
    // The stop stands right behind the last element: further on it could leave the 32 bits.
    const stop = count === 0 ? 0 : count === 1 ? start + 1 : start + step * (count - 1) + Math.sign(step);
    // Going down past the first element: a stop of -1 would mean the last one.
    box.stops[axis] = stop < 0 ? -length - 1 : stop;
  }
  return box;
}

/** Whether index arrays, with the integers beside them, stand together: then their axes stay in place. */
export function arraysTogether(parts: readonly Part[]): boolean {
  const advanced = parts.map((part) => part.kind === "array" || part.kind === "integer");
  const first = advanced.indexOf(true);
  const last = advanced.lastIndexOf(true);
  return advanced.slice(first, last + 1).every(Boolean);
}
