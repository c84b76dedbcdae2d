/** JavaScript scalars as MLX arrays of no dimensions, weakly typed as Python's are. */

import type { Pointer } from "../backend/types.ts";
import { describe } from "./describe.ts";
import { type Dtype, dtypeCodes, dtypeNames, integerBounds, isFloating, isInteger } from "./dtype.ts";
import { toBfloat16Bits, toFloat16Bits } from "./half.ts";
import { C } from "./native.ts";
import { elementAddress, int32Address } from "./scratch.ts";

export interface Complex {
  re: number;
  im: number;
}

/** A number that counts as a float even where its value is integral. Made by `mx.float`. */
export class WeakFloat {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/**
 * A weak float: `mx.float(2)` promotes an integer array to float32 as Python's 2.0 does, while 2 keeps its dtype.
 * Python: the literal 2.0.
 */
export function float(value: number): WeakFloat {
  if (typeof value !== "number") throw new TypeError(`float: value must be a number, got ${describe(value)}.`);
  return new WeakFloat(value);
}

export type Scalar = number | bigint | boolean | Complex | WeakFloat;

/** `{ re, im }` as plain properties: reading a getter would run code in the middle of preparing a native call. */
export function isComplex(value: unknown): value is Complex {
  if (typeof value !== "object" || value === null) return false;
  return (
    typeof Object.getOwnPropertyDescriptor(value, "re")?.value === "number" &&
    typeof Object.getOwnPropertyDescriptor(value, "im")?.value === "number"
  );
}

export function isScalar(value: unknown): value is Scalar {
  const type = typeof value;
  return type === "number" || type === "boolean" || type === "bigint" || value instanceof WeakFloat || isComplex(value);
}

/** The dtype that a scalar has by itself: bool, int32 (int64 where it does not fit), float32 or complex64. */
export function ownDtype(value: Scalar): Dtype {
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value))) {
    return value >= -2147483648 && value <= 2147483647
      ? "int32"
      : typeof value === "number" && !Number.isSafeInteger(value)
        ? "float32"
        : "int64";
  }
  return typeof value === "number" || value instanceof WeakFloat ? "float32" : "complex64";
}

/** The dtype that a scalar takes beside an array of dtype `other`. Python's rule for its own scalars. */
export function weakDtype(value: Scalar, other: Dtype): Dtype {
  if (typeof value === "boolean") return other;
  if (typeof value === "object") {
    if (value instanceof WeakFloat) return isFloating(other) ? other : "float32";
    return "complex64";
  }
  if (typeof value === "number" && !Number.isInteger(value)) return isFloating(other) ? other : "float32";
  return other === "bool" ? ownDtype(value) : other;
}

/**
 * A new native array of no dimensions that holds `value` as `dtype`. Integers must fit: the caller catches the
 * RangeError to add the operation's name.
 */
export function newScalar(value: Scalar, dtype: Dtype): Pointer {
  if (typeof value === "boolean") value = value ? 1 : 0;
  else if (value instanceof WeakFloat) value = value.value;
  if (typeof value === "object") return C.mlx_array_new_complex(value.re, value.im);
  if (dtype === "float32") return C.mlx_array_new_float32(Number(value));
  if (dtype === "int32") return C.mlx_array_new_int(Number(fit(value, dtype)));
  if (dtype === "bool") return C.mlx_array_new_bool(Number(value) !== 0);
  if (dtype === "float64") return C.mlx_array_new_float64(Number(value));
  if (dtype === "complex64") return C.mlx_array_new_complex(Number(value), 0);
  const address = elementAddress((view, offset) => writeElement(view, offset, value, dtype));
  return C.mlx_array_new_data(address, int32Address([]), 0, dtypeCodes[dtype]);
}

/** Checks that an integer fits a dtype. */
export function fit(value: number | bigint, dtype: Dtype): number | bigint {
  const [low, high] = integerBounds[dtype]!;
  if (typeof value === "number" && !Number.isInteger(value)) value = truncate(value, dtype);
  if (value < low || value > high) {
    throw new RangeError(`${value} does not fit ${dtype} (${low} to ${high})`);
  }
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    throw new RangeError(`the number ${value} is past the safe integers: write a bigint, ${BigInt(value)}n`);
  }
  return value;
}

function truncate(value: number, dtype: Dtype): number {
  if (!Number.isFinite(value)) throw new RangeError(`${value} does not fit ${dtype}`);
  return Math.trunc(value);
}

/** Writes one element in the machine's byte order. Integers are range-checked. */
export function writeElement(view: DataView, offset: number, value: number | bigint, dtype: Dtype): void {
  if (isInteger(dtype)) value = fit(value, dtype);
  switch (dtype) {
    case "bool":
      return view.setUint8(offset, Number(value) !== 0 ? 1 : 0);
    case "uint8":
      return view.setUint8(offset, Number(value));
    case "int8":
      return view.setInt8(offset, Number(value));
    case "uint16":
      return view.setUint16(offset, Number(value), true);
    case "int16":
      return view.setInt16(offset, Number(value), true);
    case "uint32":
      return view.setUint32(offset, Number(value), true);
    case "int32":
      return view.setInt32(offset, Number(value), true);
    case "uint64":
      return view.setBigUint64(offset, BigInt(value), true);
    case "int64":
      return view.setBigInt64(offset, BigInt(value), true);
    case "float16":
      return view.setUint16(offset, toFloat16Bits(Number(value)), true);
    case "bfloat16":
      return view.setUint16(offset, toBfloat16Bits(Number(value)), true);
    case "float32":
      return view.setFloat32(offset, Number(value), true);
    case "float64":
      return view.setFloat64(offset, Number(value), true);
    case "complex64":
      view.setFloat32(offset, Number(value), true);
      return view.setFloat32(offset + 4, 0, true);
  }
}

/** The name of a native dtype code. */
export function dtypeName(code: number): Dtype {
  return dtypeNames[code]!;
}
