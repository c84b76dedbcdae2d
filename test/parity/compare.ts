// Compares a result with an expectation, by the rules of the format.
import { type Complex, type Element, elements, isArray } from "./arrays.ts";
import { type ArrayValue, PyFloat, tagged, toNumber } from "./format.ts";

export interface Tolerance {
  rtol: number;
  atol: number;
}

const inexact = new Set(["float16", "bfloat16", "float32", "float64", "complex64"]);

/** Null when the result is as expected; otherwise what differs first. */
export function compare(expected: unknown, result: unknown, tolerance: Tolerance, path = "result"): string | null {
  if (expected instanceof PyFloat || typeof expected === "number")
    return compareNumber(expected, result, tolerance, path);
  const tag = tagged(expected);
  if (tag !== undefined) return compareTagged(tag.tag, tag.body, result, tolerance, path);
  if (Array.isArray(expected)) return compareList(expected, result, tolerance, path);
  if (typeof expected === "object" && expected !== null) {
    return compareTree(expected as Record<string, unknown>, result, tolerance, path);
  }
  if (expected === null) return result === null || result === undefined ? null : differs(path, "null", result);
  return result === expected ? null : differs(path, JSON.stringify(expected), result);
}

function show(value: unknown): string {
  if (isArray(value)) return `an array of ${value.dtype} [${value.shape.join(", ")}]`;
  return Bun.inspect(value, { depth: 2 }).slice(0, 200);
}

function differs(path: string, expected: string, result: unknown): string {
  return `${path}: expected ${expected}, got ${show(result)}`;
}

function compareTagged(tag: string, body: unknown, result: unknown, tolerance: Tolerance, path: string): string | null {
  switch (tag) {
    case "$array":
      return compareArray(body as ArrayValue, result, tolerance, path);
    case "$dtype":
      return result === body ? null : differs(path, String(body), result);
    case "$float":
      return compareNumber(body, result, tolerance, path);
    case "$int":
      return typeof result === "bigint" && result === BigInt(body as string)
        ? null
        : differs(path, String(body), result);
    case "$list":
      return compareList(body as unknown[], result, tolerance, path);
    case "$complex": {
      const [re, im] = body as [unknown, unknown];
      const wanted = { re: toNumber(re), im: toNumber(im) };
      const fits = isComplex(result) && closeComplex(wanted, result, tolerance);
      return fits ? null : differs(path, `${wanted.re} + ${wanted.im}i`, result);
    }
    default:
      return `${path}: the expectation ${tag} is not known`;
  }
}

function compareNumber(expected: unknown, result: unknown, tolerance: Tolerance, path: string): string | null {
  const wanted = toNumber(expected);
  // 64-bit integers are bigints in JavaScript.
  const got = typeof result === "bigint" && Number.isInteger(wanted) && BigInt(wanted) === result ? wanted : result;
  return typeof got === "number" && close(wanted, got, tolerance) ? null : differs(path, String(wanted), result);
}

function compareList(expected: unknown[], result: unknown, tolerance: Tolerance, path: string): string | null {
  if (!Array.isArray(result)) return differs(path, `a list of ${expected.length}`, result);
  if (result.length !== expected.length) return differs(path, `${expected.length} items`, result);
  for (const [index, item] of expected.entries()) {
    const difference = compare(item, result[index], tolerance, `${path}[${index}]`);
    if (difference !== null) return difference;
  }
  return null;
}

function compareTree(
  expected: Record<string, unknown>,
  result: unknown,
  tolerance: Tolerance,
  path: string,
): string | null {
  if (typeof result !== "object" || result === null || isArray(result)) return differs(path, "a tree", result);
  const keys = Object.keys(expected).sort().join(", ");
  const got = Object.keys(result).sort().join(", ");
  if (keys !== got) return `${path}: expected the keys ${keys}, got ${got}`;
  for (const [key, item] of Object.entries(expected)) {
    const difference = compare(item, (result as Record<string, unknown>)[key], tolerance, `${path}.${key}`);
    if (difference !== null) return difference;
  }
  return null;
}

function compareArray(expected: ArrayValue, result: unknown, tolerance: Tolerance, path: string): string | null {
  if (!isArray(result)) return differs(path, `an array of ${expected.dtype}`, result);
  if (result.dtype !== expected.dtype) return `${path}: expected dtype ${expected.dtype}, got ${result.dtype}`;
  const shape = `[${expected.shape.join(", ")}]`;
  if (shape !== `[${result.shape.join(", ")}]`)
    return `${path}: expected shape ${shape}, got [${result.shape.join(", ")}]`;
  const got = elements(result);
  if (got.length !== expected.data.length)
    return `${path}: expected ${expected.data.length} elements, got ${got.length}`;
  const used = inexact.has(expected.dtype) ? tolerance : { rtol: 0, atol: 0 };
  for (const [index, item] of expected.data.entries()) {
    const wanted = parseElement(item, expected.dtype);
    const actual = got[index] as Element;
    if (!sameElement(wanted, actual, used)) {
      return `${path}: element ${index} of [${expected.shape.join(", ")}]: expected ${show(wanted)}, got ${show(actual)}`;
    }
  }
  return null;
}

function parseElement(item: unknown, dtype: string): Element {
  if (typeof item === "boolean") return item;
  if (dtype === "int64" || dtype === "uint64") return BigInt(item as string);
  if (dtype === "complex64") {
    const [re, im] = item as [unknown, unknown];
    return { re: Math.fround(toNumber(re)), im: Math.fround(toNumber(im)) };
  }
  const number = toNumber(item);
  return dtype === "float32" ? Math.fround(number) : number;
}

function sameElement(wanted: Element, got: Element, tolerance: Tolerance): boolean {
  if (typeof wanted === "number" && typeof got === "number") return close(wanted, got, tolerance);
  if (isComplex(wanted) && isComplex(got)) return closeComplex(wanted, got, tolerance);
  return wanted === got;
}

function isComplex(value: unknown): value is Complex {
  return typeof value === "object" && value !== null && "re" in value && "im" in value;
}

/** Equal, both NaN, or within atol + rtol * |expected|. -0 equals 0. */
export function close(expected: number, result: number, { rtol, atol }: Tolerance): boolean {
  if (result === expected || (Number.isNaN(expected) && Number.isNaN(result))) return true;
  return Math.abs(result - expected) <= atol + rtol * Math.abs(expected) && Number.isFinite(expected);
}

export function closeComplex(expected: Complex, result: Complex, { rtol, atol }: Tolerance): boolean {
  const isNaN = ({ re, im }: Complex): boolean => Number.isNaN(re) || Number.isNaN(im);
  if (isNaN(expected) || isNaN(result)) return isNaN(expected) && isNaN(result);
  // A part that agrees has no difference, also when it is infinite (where the subtraction would give NaN).
  const difference = (e: number, r: number): number => (e === r ? 0 : Math.abs(r - e));
  const distance = Math.hypot(difference(expected.re, result.re), difference(expected.im, result.im));
  if (distance === 0) return true;
  const size = Math.hypot(expected.re, expected.im);
  return Number.isFinite(size) && distance <= atol + rtol * size;
}
