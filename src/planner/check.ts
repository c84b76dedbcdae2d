/** What arguments have to be. Each check names the field that it refuses. */

import { PlannerError } from "./errors.ts";
import type { BufferView, Limits } from "./types.ts";

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  return typeof value === "function" || (typeof value === "object" && value !== null) ? typeof value : String(value);
}

export function bad(field: string, expected: string, value: unknown): never {
  throw new PlannerError("badInput", field, `expected ${expected}, not ${shown(value)}`);
}

export function integer(value: number, field: string, least: number, most: number = Number.MAX_SAFE_INTEGER): number {
  if (!Number.isInteger(value) || value < least || value > most)
    bad(field, `an integer from ${least} to ${most}`, value);
  return value;
}

export function positive(value: number, field: string): number {
  if (typeof value !== "number" || !(value > 0) || value === Number.POSITIVE_INFINITY)
    bad(field, "a finite number above 0", value);
  return value;
}

export function notNegative(value: number, field: string): number {
  if (typeof value !== "number" || !(value >= 0) || value === Number.POSITIVE_INFINITY)
    bad(field, "a finite number, 0 or more", value);
  return value;
}

export function boolean(value: boolean, field: string): boolean {
  if (typeof value !== "boolean") bad(field, "a boolean", value);
  return value;
}

export function oneOf<T extends string>(value: T, field: string, words: readonly T[]): T {
  if (!words.includes(value)) bad(field, words.map((word) => `"${word}"`).join(" or "), value);
  return value;
}

export function object<T extends object>(value: T, field: string): T {
  if (typeof value !== "object" || value === null) bad(field, "an object", value);
  return value;
}

export function list<T>(value: readonly T[], field: string, of: string): readonly T[] {
  if (!Array.isArray(value)) bad(field, `a list of ${of}`, value);
  return value;
}

/** A count of operations or elements. */
export function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0;
}

function isId(id: BufferView["bufferId"]): boolean {
  return typeof id === "string" || typeof id === "number" || typeof id === "bigint";
}

export function isView(value: BufferView): boolean {
  return typeof value === "object" && value !== null && isCount(value.dataSize) && isId(value.bufferId);
}

/** Checks view `at` of the list `field`. Names are made for a refusal only: lists may be long. */
export function view(value: BufferView, field: string, at: number): BufferView {
  if (isView(value)) return value;
  const name = `${field}[${at}]`;
  object(value, name);
  integer(value.dataSize, `${name}.dataSize`, 0);
  return bad(`${name}.bufferId`, "a string, a number or a bigint", value.bufferId);
}

/** One of MLX's limits, a number of 32 bits; `least` is what the caller takes. */
export function checkLimit(value: number, name: "maxOps" | "maxMb", least: number = -(2 ** 31)): void {
  integer(value, `limits.${name}`, least, 2 ** 31 - 1);
}

export function checkLimits(limits: Limits): void {
  object(limits, "limits");
  checkLimit(limits.maxOps, "maxOps");
  checkLimit(limits.maxMb, "maxMb");
}
