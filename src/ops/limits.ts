/** The limits of dtypes. */

import { describe } from "../core/describe.ts";
import { type Dtype, integerBounds, isDtype } from "../core/dtype.ts";

/** The limits of a floating-point dtype. Python: mx.finfo. */
export interface FloatInfo {
  readonly dtype: Dtype;
  /** Bits of one real number. */
  readonly bits: number;
  readonly min: number;
  readonly max: number;
  /** The distance from 1 to the next larger number. */
  readonly eps: number;
  /** The smallest positive number of full precision. */
  readonly smallestNormal: number;
}

/** The limits of an integer dtype. Python: mx.iinfo. */
export interface IntegerInfo {
  readonly dtype: Dtype;
  /** A bigint for the 64-bit dtypes, as their elements are. */
  readonly min: number | bigint;
  readonly max: number | bigint;
}

function floats(dtype: Dtype, bits: number, fraction: number, least: number): FloatInfo {
  const max = (2 - 2 ** -fraction) * 2 ** (1 - least);
  return { dtype, bits, min: -max, max, eps: 2 ** -fraction, smallestNormal: 2 ** least };
}

const float32 = floats("float32", 32, 23, -126);

// complex64 is a pair of float32.
const floatInfos: Readonly<Partial<Record<Dtype, FloatInfo>>> = {
  float16: floats("float16", 16, 10, -14),
  bfloat16: floats("bfloat16", 16, 7, -126),
  float32,
  float64: floats("float64", 64, 52, -1022),
  complex64: float32,
};

/**
 * The limits of a floating-point dtype; of float32 for complex64.
 *
 * Throws a TypeError for any other dtype. Python: `mx.finfo(dtype)`.
 */
export function finfo(dtype: Dtype): FloatInfo {
  const info = isDtype(dtype) ? floatInfos[dtype] : undefined;
  if (info === undefined) throw new TypeError(`finfo: dtype must be a floating-point dtype, got ${describe(dtype)}.`);
  return info;
}

/**
 * The limits of an integer dtype.
 *
 * Throws a TypeError for any other dtype. Python: `mx.iinfo(dtype)`.
 */
export function iinfo(dtype: Dtype): IntegerInfo {
  const bounds = isDtype(dtype) ? integerBounds[dtype] : undefined;
  if (bounds === undefined) throw new TypeError(`iinfo: dtype must be an integer dtype, got ${describe(dtype)}.`);
  const wide = dtype === "int64" || dtype === "uint64";
  const [min, max] = bounds;
  return { dtype, min: wide ? min : Number(min), max: wide ? max : Number(max) };
}
