// Comparing with constants from Python MLX 0.32.2.
import { expect } from "bun:test";
import type * as mx from "../../src/index.ts";

/** Dtype, shape and values, the values to a relative tolerance. */
export function expectNear(x: mx.Array, dtype: mx.Dtype, expected: unknown, tolerance = 1e-5): void {
  expect(x.dtype).toBe(dtype);
  near(x.tolist(), expected, tolerance, "");
}

function near(actual: unknown, expected: unknown, tolerance: number, path: string): void {
  if (Array.isArray(expected)) {
    expect(Array.isArray(actual) ? actual.length : `no list at ${path}`).toBe(expected.length);
    expected.forEach((item, i) => near((actual as unknown[])[i], item, tolerance, `${path}[${i}]`));
  } else if (typeof expected === "number") {
    const close = Math.abs((actual as number) - expected) <= tolerance * Math.max(1, Math.abs(expected));
    expect(close || `${path}: expected ${expected}, got ${String(actual)}`).toBe(true);
  } else {
    expect(actual).toEqual(expected);
  }
}

/** Complex values as [re, im] pairs, rounded enough to compare. */
export function pairs(x: mx.Array): unknown {
  const round = (value: number): number => Math.round(value * 1e4) / 1e4 + 0;
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    const { re, im } = value as { re: number; im: number };
    return [round(re), round(im)];
  };
  return walk(x.tolist());
}
