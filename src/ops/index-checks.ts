/**
 * Index arrays, which MLX follows wherever they lead, out of the array too. Values that are there already are looked at
 * before they are used: that costs one reading of what the operation reads anyway. Values that are yet to be computed
 * are limited to what there is when they are, by one operation more; to find who made them, the checks that can be
 * switched on compute and look at them first.
 */

import type { Pointer } from "../backend/types.ts";
import { bool } from "../core/args.ts";
import type { MxArray } from "../core/array.ts";
import { C, indexInput, ints, refuse } from "../core/call.ts";
import { constant } from "../core/constants.ts";
import { type Dtype, dtypeCodes, integerBounds } from "../core/dtype.ts";
import { evaluateOne } from "../core/evaluate.ts";
import { shapelessTrace } from "../core/shapeless.ts";
import { readSlot, readSlotF64, slot } from "../core/slots.ts";
import { aside } from "../core/temporaries.ts";
import { step } from "./steps.ts";

let all = process.env["MLX_TS_CHECK_INDICES"] === "1";
let onHost: boolean | null = null;

/**
 * Says whether every index array is computed and checked before it is used, those that are not computed yet included.
 *
 * For finding a mistake: it costs an evaluation at each use. Inside of transforms the values do not exist, and nothing is
 * checked. Without it, index arrays that are computed already are checked all the same, and the others are limited to the
 * axis. Default: false, or true where the environment variable MLX_TS_CHECK_INDICES is 1. One setting for each thread.
 * Python has no such function.
 *
 * @example
 * mx.setIndexChecks(true);
 * x.get(mx.array([7], { dtype: "int32" }).add(1)); // RangeError: get: index[0] is 8, out of range for ...
 */
export function setIndexChecks(on: boolean): void {
  all = bool(on, "setIndexChecks", "on");
}

/** Whether index arrays that are not computed yet are computed and checked. */
export function indexChecks(): boolean {
  return all;
}

/** Reading from a CUDA device would move the array to the host. */
function readable(): boolean {
  if (onHost === null) {
    const answer = slot();
    // The low byte of the slot is a C bool.
    onHost = C.mlx_cuda_is_available(answer) === 0 && (readSlot(answer) & 1) === 0;
  }
  return onHost;
}

/** Where an element is that has this place in row-major order: [1][2]. */
function pathOf(array: MxArray, position: number): string {
  let path = "";
  let rest = position;
  for (const length of array.shape.toReversed()) {
    path = `[${rest % length}]${path}`;
    rest = Math.floor(rest / length);
  }
  return path;
}

/** 0 when every element is from `least` to `most`, 1 when one is not, whose place stays in `found`; -1: not known. */
function look(array: MxArray, handle: Pointer, least: number, most: number, op: string): number {
  const position = slot();
  const value = slot();
  let answer = all || readable() ? C.mlxts_indices_outside(handle, least, most, position, value) : -1;
  if (answer === -1 && all && C.mlxts_array_is_tracer(handle) === 0) {
    aside(() => evaluateOne(array, op));
    answer = C.mlxts_indices_outside(handle, least, most, position, value);
  }
  if (answer === 1) found = { path: pathOf(array, readSlotF64(position)), value: readSlotF64(value) };
  return answer;
}

let found = { path: "", value: 0 };

/**
 * Refuses an index array that leads out of an axis of this length, from either end as MLX counts; `place` is what it is
 * called. False when the values are not known.
 */
export function knownInside(array: MxArray, length: number, op: string, place: string): boolean {
  // Of an axis without elements MLX itself says that there is nothing to take.
  if (length === 0) return true;
  const answer = look(array, indexInput(array, op, place), -length, length - 1, op);
  if (answer === 1) {
    const { path, value } = found;
    refuse(new RangeError(`${op}: ${place}${path} is ${value}, out of range for an axis of length ${length}.`));
  }
  return answer === 0;
}

/**
 * The handle of an index array that does not lead out of the axis: known values that do are refused, values that are yet
 * to be computed are limited to the axis when they are.
 */
export function insideAxis(array: MxArray, of: Axis, op: string, place: string, on: Pointer): Pointer {
  if (knownInside(array, of.length, op, place)) return indexInput(array, op, place);
  return limitedToAxis(array, of, op, on);
}

/** The same for indices that count from the front alone, into as many things. */
export function insideCount(array: MxArray, of: Axis, op: string, place: string, on: Pointer): Pointer {
  const handle = indexInput(array, op, place);
  const count = of.length;
  if (count === 0) return handle;
  const answer = look(array, handle, 0, count - 1, op);
  if (answer === 1) {
    const { path, value } = found;
    refuse(new RangeError(`${op}: ${place}${path} is ${value}, and there are ${count} to pick from.`));
  }
  return answer === 0 ? handle : limited(array, of, false, op, on);
}

/** Whether the values are known, and all from 0 to `most`. */
export function knownUpTo(array: MxArray, handle: Pointer, most: number, op: string): boolean {
  return look(array, handle, 0, most, op) === 0;
}

/** Values that are yet to be computed, limited to an axis. */
export function limitedToAxis(array: MxArray, of: Axis, op: string, on: Pointer): Pointer {
  return limited(array, of, true, op, on);
}

/** What indices go along. */
export interface Axis {
  readonly length: number;
  /** An array, and the axes of it that together have this length. */
  readonly source: Pointer;
  readonly axes: readonly number[];
  /** The length counts a place behind the last element too. */
  readonly withEnd?: true;
}

function limited(array: MxArray, of: Axis, fromEnd: boolean, op: string, on: Pointer): Pointer {
  const handle = indexInput(array, op, "indices");
  const { dtype } = array;
  const bounds = integerBounds[dtype];
  // MLX says what it thinks of other dtypes.
  if (bounds === undefined || dtype === "bool") return handle;
  if (shapelessTrace() && of.axes.length > 0) return limitedByGraph(handle, dtype, of, fromEnd, op, on);
  const least = fromEnd ? -of.length : 0;
  const most = of.length - 1;
  const low = bounds[0] < least ? constant(least, dtype) : 0;
  const high = bounds[1] > most ? constant(most, dtype) : 0;
  if (low === 0 && high === 0) return handle;
  const out = slot();
  return step(C.mlx_clip(out, handle, low, high, on), out, op, [array]);
}

/** In a graph for all shapes, which has to ask for the length each time. */
function limitedByGraph(handle: Pointer, dtype: Dtype, of: Axis, fromEnd: boolean, op: string, on: Pointer): Pointer {
  // A dtype that holds every length, and makes no float beside the indices' own.
  const wide = dtype === "uint64" ? "uint64" : "int64";
  const call = (write: (out: Pointer) => number): Pointer => {
    const out = slot();
    return step(write(out), out, op, []);
  };
  const { source, axes } = of;
  const list = ints(axes, op, "axis");
  const count = call((out) => C.mlx_number_of_elements(out, source, list, axes.length, false, dtypeCodes[wide], on));
  const high = of.withEnd === true ? count : call((out) => C.mlx_subtract(out, count, constant(1, wide), on));
  const low = !fromEnd || wide === "uint64" ? constant(0, wide) : call((out) => C.mlx_negative(out, count, on));
  return call((out) => C.mlx_clip(out, handle, low, high, on));
}
