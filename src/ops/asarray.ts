/** `mx.asarray`: an array of whatever can become one. */

import type { MxArray } from "../core/array.ts";
import { array, type ArrayLiteral, type TypedArrayInput } from "../core/create.ts";
import type { Dtype } from "../core/dtype.ts";
import { isOptions } from "../core/options.ts";
import { bool } from "../core/call.ts";
import { nothingAfter, trailing } from "./args.ts";

/** The options of `mx.asarray`. */
export interface AsarrayOptions {
  /** Default: as `mx.array` chooses it. */
  dtype?: Dtype | null | undefined;
  /** false refuses, since arrays are always made by copying. Default: null. */
  copy?: boolean | null | undefined;
}

const names = ["dtype", "copy"] as const;

/**
 * Makes an array of a scalar, nested lists, a typed array or an Array, as `mx.array` does.
 *
 * Throws a TypeError for `copy: false`: data of JavaScript is always copied. Defaults: dtype null, copy null.
 * Python: `mx.asarray(a, dtype=None, *, copy=None)`.
 */
export function asarray(a: ArrayLiteral | TypedArrayInput, options?: AsarrayOptions): MxArray;
/** Makes an array of a scalar, nested lists, a typed array or an Array, as `mx.array` does. */
export function asarray(
  a: ArrayLiteral | TypedArrayInput,
  dtype: Dtype | null | undefined,
  options?: Omit<AsarrayOptions, "dtype">,
): MxArray;
export function asarray(a: ArrayLiteral | TypedArrayInput, dtype?: unknown, options?: unknown): MxArray {
  let copy: unknown;
  if (isOptions(dtype)) {
    nothingAfter(options, "asarray");
    ({ dtype, copy } = trailing(dtype, "asarray", names, 0));
  } else if (options !== undefined) {
    ({ copy } = trailing(options, "asarray", names, 1));
  }
  if (copy !== undefined && copy !== null && !bool(copy, "asarray", "copy")) {
    throw new TypeError("asarray: copy: false is refused, since the data of JavaScript is always copied.");
  }
  return dtype === undefined || dtype === null ? array(a) : array(a, dtype as Dtype);
}
