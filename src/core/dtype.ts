/** Element types: a string union, with the codes that the native library uses. */

import { dtypeCodes } from "../../generated/enums.ts";

export type Dtype = keyof typeof dtypeCodes;

export const bool = "bool";
export const uint8 = "uint8";
export const uint16 = "uint16";
export const uint32 = "uint32";
export const uint64 = "uint64";
export const int8 = "int8";
export const int16 = "int16";
export const int32 = "int32";
export const int64 = "int64";
export const float16 = "float16";
export const bfloat16 = "bfloat16";
export const float32 = "float32";
export const float64 = "float64";
export const complex64 = "complex64";

/** The dtype of each native code. */
export const dtypeNames: readonly Dtype[] = (Object.keys(dtypeCodes) as Dtype[]).sort(
  (a, b) => dtypeCodes[a] - dtypeCodes[b],
);

const bytes: Record<Dtype, number> = {
  bool: 1,
  uint8: 1,
  uint16: 2,
  uint32: 4,
  uint64: 8,
  int8: 1,
  int16: 2,
  int32: 4,
  int64: 8,
  float16: 2,
  bfloat16: 2,
  float32: 4,
  float64: 8,
  complex64: 8,
};

/** Bytes of one element. */
export function dtypeSize(dtype: Dtype): number {
  return bytes[dtype];
}

export function isDtype(value: unknown): value is Dtype {
  return typeof value === "string" && Object.hasOwn(dtypeCodes, value);
}

/** Inclusive bounds of the integer dtypes, as bigints since two of them leave the safe integers. */
export const integerBounds: Partial<Record<Dtype, readonly [bigint, bigint]>> = {
  uint8: [0n, 255n],
  uint16: [0n, 65535n],
  uint32: [0n, 4294967295n],
  uint64: [0n, 2n ** 64n - 1n],
  int8: [-128n, 127n],
  int16: [-32768n, 32767n],
  int32: [-2147483648n, 2147483647n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
};

export function isInteger(dtype: Dtype): boolean {
  return integerBounds[dtype] !== undefined;
}

export function isFloating(dtype: Dtype): boolean {
  return dtype === "float32" || dtype === "float16" || dtype === "bfloat16" || dtype === "float64";
}

export { dtypeCodes };
