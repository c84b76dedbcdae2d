/** `mx.arange`: ranges of numbers, with a dtype that follows the bounds. */

import {
  C,
  dtype as dtypeCode,
  failure,
  isOptions,
  MxArray,
  produce,
  refuse,
  slot,
  stream,
  type StreamOptions,
} from "../core/call.ts";
import { describe } from "../core/describe.ts";
import { type Dtype, dtypeCodes, integerBounds, isInteger } from "../core/dtype.ts";
import { newScalar, WeakFloat } from "../core/scalar.ts";
import { holdArray } from "../core/temporaries.ts";
import { nothingAfter, trailing } from "./args.ts";
import { requireFit } from "./fit.ts";
import { step } from "./steps.ts";

/** A bound of a range. A bigint is an integer like any other; `mx.float(2)` makes the range one of floats. */
export type RangeNumber = number | bigint | WeakFloat;

/** The options of `mx.arange`. */
export interface ArangeOptions extends StreamOptions {
  /** Default: 1. */
  step?: RangeNumber | null | undefined;
  /** Default: int32 for integers, int64 where one of them needs it, float32 otherwise. */
  dtype?: Dtype | null | undefined;
}

const names = ["start", "stop", "step", "dtype", "stream"] as const;
const SAFE = 9007199254740992n;

/**
 * The numbers from `start` up to but not including `stop`, in steps.
 *
 * Integers give int32, or int64 where a bound does not fit; a fraction or `mx.float` among them gives float32. With a
 * bigint bound past 2^53 the elements are exact. An empty range gives an array of no elements. Throws a RangeError for
 * a step of zero, for a length past 2^31, and where the dtype cannot hold an element. Defaults: start 0, step 1, dtype null.
 * Python: `mx.arange(start, stop, step, dtype=None)` and `mx.arange(stop, step=None, dtype=None)`.
 *
 * @example
 * mx.arange(3);                     // int32 [0, 1, 2]
 * mx.arange(0, 1, 0.25);            // float32 [0, 0.25, 0.5, 0.75]
 * mx.arange(3, { dtype: mx.float16 });
 */
export function arange(stop: RangeNumber, options?: ArangeOptions): MxArray;
/** The numbers from `start` up to but not including `stop`, in steps. */
export function arange(start: RangeNumber, stop: RangeNumber, options?: ArangeOptions): MxArray;
/** The numbers from `start` up to but not including `stop`, in steps. */
export function arange(
  start: RangeNumber,
  stop: RangeNumber,
  step: RangeNumber | null | undefined,
  options?: Omit<ArangeOptions, "step">,
): MxArray;
/** The numbers from `start` up to but not including `stop`, in steps. */
export function arange(
  start: RangeNumber,
  stop: RangeNumber,
  step: RangeNumber | null | undefined,
  dtype: Dtype | null | undefined,
  options?: StreamOptions,
): MxArray;
export function arange(start: unknown, stop?: unknown, step?: unknown, dtype?: unknown, options?: unknown): MxArray {
  let given: { step?: unknown; dtype?: unknown } & StreamOptions = {};
  if (isOptions(stop)) {
    nothingAfter(step ?? dtype ?? options, "arange");
    given = trailing(stop, "arange", names, 2);
    stop = undefined;
    ({ step, dtype } = given);
  } else if (isOptions(step)) {
    nothingAfter(dtype ?? options, "arange");
    given = trailing(step, "arange", names, 2);
    ({ step, dtype } = given);
  } else if (isOptions(dtype)) {
    nothingAfter(options, "arange");
    given = trailing(dtype, "arange", names, 3);
    ({ dtype } = given);
  } else if (options !== undefined) {
    given = trailing(options, "arange", names, 4);
  }
  const from = stop === undefined ? 0 : bound(start, "start");
  const to = stop === undefined ? bound(start, "stop") : bound(stop, "stop");
  return range(from, to, step === undefined || step === null ? 1 : bound(step, "step"), dtype, given);
}

function range(from: RangeNumber, to: RangeNumber, by: RangeNumber, dtype: unknown, options: StreamOptions): MxArray {
  const kind = dtype === undefined || dtype === null ? ownDtype([from, to, by]) : dtype;
  const code = dtypeCode(kind, "arange", "dtype");
  if (Number(plain(by)) === 0) refuse(new RangeError("arange: step must not be zero."));
  const wide = [from, to, by].some((value) => typeof value === "bigint" && (value > SAFE || value < -SAFE));
  if (wide) return wideRange([from, to, by], kind as Dtype, options);
  const [start, stop, step] = [from, to, by].map((value) => Number(plain(value))) as [number, number, number];
  requireElements(start, stop, step, kind as Dtype);
  const on = stream(options, "arange");
  const out = slot();
  if (C.mlx_arange(out, start, stop, step, code, on) !== 0) throw failure("arange", []);
  return produce("arange", out);
}

/** Native code wraps what an integer dtype cannot hold, and counts in doubles: both ends must be right. */
function requireElements(start: number, stop: number, step: number, dtype: Dtype): void {
  const first = Math.trunc(start);
  // The distance of two elements of an integer range, as MLX has it.
  const distance = Math.trunc(start + step) - first;
  const count = Math.ceil((stop - start) / step);
  if (!isInteger(dtype) || !(count > 0)) return;
  requireFit([first, first + distance * (count - 1)], dtype, "arange");
}

/** Bounds that doubles cannot hold: the offsets are made as a range, and the start is added to them in int64. */
function wideRange(bounds: readonly RangeNumber[], dtype: Dtype, options: StreamOptions): MxArray {
  if (dtype !== "int64" && dtype !== "uint64") {
    refuse(new RangeError(`arange: bounds past 2^53 are exact in int64 and uint64 only, and the dtype is ${dtype}.`));
  }
  const [from, to, by] = bounds.map(exact) as [bigint, bigint, bigint];
  const count = (to - from) / by + ((to - from) % by === 0n ? 0n : 1n);
  const length = to > from === by > 0n && to !== from ? count : 0n;
  const last = from + (length - 1n) * by;
  if (length > 0n && fitsNot(last, dtype)) {
    refuse(new RangeError(`arange: the element ${last} does not fit ${dtype}.`));
  }
  if (length * (by < 0n ? -by : by) > SAFE) {
    refuse(new RangeError("arange: the distance from start to stop is past 2^53, further than MLX counts."));
  }
  const on = stream(options, "arange");
  const out = slot();
  const status = C.mlx_arange(out, 0, Number(length * by), Number(by), dtypeCodes[dtype], on);
  const offsets = step(status, out, "arange", []);
  const sum = slot();
  if (C.mlx_add(sum, offsets, holdArray(startScalar(from, dtype)), on) !== 0) throw failure("arange", []);
  return produce("arange", sum);
}

function fitsNot(value: bigint, dtype: Dtype): boolean {
  const [low, high] = integerBounds[dtype]!;
  return value < low || value > high;
}

function startScalar(from: bigint, dtype: Dtype): number {
  try {
    return newScalar(from, dtype);
  } catch (error) {
    return refuse(new RangeError(`arange: start: ${(error as Error).message}.`));
  }
}

function exact(value: RangeNumber): bigint {
  const number = plain(value);
  if (typeof number === "number" && !Number.isSafeInteger(number)) {
    refuse(new RangeError(`arange: a range past 2^53 needs integer bounds, got ${number}.`));
  }
  return BigInt(number);
}

function plain(value: RangeNumber): number | bigint {
  return value instanceof WeakFloat ? value.value : value;
}

function bound(value: unknown, name: string): RangeNumber {
  if (typeof value === "number" || typeof value === "bigint" || value instanceof WeakFloat) return value;
  return refuse(new TypeError(`arange: ${name} must be a number, got ${describe(value)}.`));
}

function ownDtype(bounds: readonly RangeNumber[]): Dtype {
  let wide = false;
  for (const value of bounds) {
    if (value instanceof WeakFloat || (typeof value === "number" && !Number.isInteger(value))) return "float32";
    if (value > 2147483647 || value < -2147483648) wide = true;
  }
  return wide ? "int64" : "int32";
}
