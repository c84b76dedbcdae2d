/** Checks of plain arguments. Native code converts silently, so every value is checked here, before the call. */

import type { Pointer } from "../backend/types.ts";
import { describe } from "./describe.ts";
import { dtypeCodes, isDtype } from "./dtype.ts";
import { constantAddress, int32Address, int64Address, textAddress } from "./scratch.ts";
import { refuse } from "./temporaries.ts";

/** An int32. */
export function int(value: unknown, op: string, name: string): number {
  if (typeof value === "number" && (value | 0) === value) return value;
  if (typeof value === "bigint" && value >= -2147483648n && value <= 2147483647n) return Number(value);
  return refuseInteger(value, op, name, "a 32-bit integer");
}

function refuseInteger(value: unknown, op: string, name: string, what: string): never {
  if (typeof value !== "number" && typeof value !== "bigint") {
    return refuse(new TypeError(`${op}: ${name} must be ${what}, got ${describe(value)}.`));
  }
  return refuse(new RangeError(`${op}: ${name} must be ${what}, got ${describe(value)}.`));
}

/** A double; NaN and the infinities are values like any other. */
export function float(value: unknown, op: string, name: string): number {
  if (typeof value === "number") return value;
  return refuse(new TypeError(`${op}: ${name} must be a number, got ${describe(value)}.`));
}

export function bool(value: unknown, op: string, name: string): boolean {
  if (typeof value === "boolean") return value;
  return refuse(new TypeError(`${op}: ${name} must be true or false, got ${describe(value)}.`));
}

/** The address of a text argument. */
export function str(value: unknown, op: string, name: string): Pointer {
  if (typeof value !== "string") {
    return refuse(new TypeError(`${op}: ${name} must be a string, got ${describe(value)}.`));
  }
  if (value.includes("\0")) {
    return refuse(new TypeError(`${op}: ${name} contains a NUL character, where native code would cut it.`));
  }
  return value.length < 24 ? constantAddress(value) : textAddress(value);
}

/** The native code of a dtype. */
export function dtype(value: unknown, op: string, name: string): number {
  if (isDtype(value)) return dtypeCodes[value];
  const known = Object.keys(dtypeCodes).join(", ");
  return refuse(new TypeError(`${op}: ${name} must be a dtype, got ${describe(value)}. The dtypes are ${known}.`));
}

/** The address of a list of int32. */
export function ints(value: unknown, op: string, name: string): Pointer {
  const list = integerList(value, op, name);
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    // Rare: a bigint, which is converted, or a value to refuse.
    if (typeof item !== "number" || (item | 0) !== item) return int32Address(checkedInts(list, op, name));
  }
  return int32Address(list as readonly number[]);
}

function checkedInts(list: readonly unknown[], op: string, name: string): readonly number[] {
  return Array.from(list, (item, i) => int(item, op, `${name}[${i}]`));
}

/** The address of a list of int64. */
export function int64s(value: unknown, op: string, name: string): Pointer {
  const list = integerList(value, op, name);
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    const fits = typeof item === "bigint" ? BigInt.asIntN(64, item) === item : Number.isSafeInteger(item);
    if (!fits) refuseInteger(item, op, `${name}[${i}]`, "a 64-bit integer");
  }
  return int64Address(list as readonly (number | bigint)[]);
}

function integerList(value: unknown, op: string, name: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return refuse(new TypeError(`${op}: ${name} must be a list of integers, got ${describe(value)}.`));
}

// mlx_optional_* by value is one 8-byte register: the value in the low half, 1 in the high half where there is one.
// As a sum it stays a safe integer, which the number-only FFI types take without a BigInt.
const PRESENT = 4294967296;
const single = new DataView(new ArrayBuffer(4));

export function optionalInt(value: number | null | undefined, op: string, name: string): number {
  if (value === null || value === undefined) return 0;
  return (int(value, op, name) >>> 0) + PRESENT;
}

export function optionalFloat(value: number | null | undefined, op: string, name: string): number {
  if (value === null || value === undefined) return 0;
  single.setFloat32(0, float(value, op, name));
  return single.getUint32(0) + PRESENT;
}

export function optionalDtype(value: unknown, op: string, name: string): number {
  if (value === null || value === undefined) return 0;
  return dtype(value, op, name) + PRESENT;
}
