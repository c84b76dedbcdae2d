// MLX's own memory counters and limits.
import { afterAll, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { refusal, untyped } from "../helpers.ts";

const limits = { memory: mx.memoryLimit(), cache: mx.setCacheLimit(2 ** 30) };
mx.setCacheLimit(limits.cache);

afterAll(() => {
  mx.setMemoryLimit(limits.memory);
  mx.setCacheLimit(limits.cache);
});

test("activeMemory follows what lives, peakMemory what lived", () => {
  mx.clearCache();
  mx.resetPeakMemory();
  const before = mx.activeMemory();
  const array = mx.array(new Float32Array(2 ** 18));
  const during = mx.activeMemory();
  expect(during - before).toBeGreaterThanOrEqual(2 ** 20);
  array.dispose();
  expect(mx.activeMemory()).toBe(before);
  expect(mx.peakMemory()).toBeGreaterThanOrEqual(during);
  mx.resetPeakMemory();
  expect(mx.peakMemory()).toBeLessThan(during);
});

test("cacheMemory is given back by clearCache", () => {
  mx.tidy(() => mx.eval(mx.add(mx.zeros([1024, 1024]), 1)));
  expect(mx.cacheMemory()).toBeGreaterThanOrEqual(0);
  mx.clearCache();
  expect(mx.cacheMemory()).toBe(0);
});

test("setters return the former limit", () => {
  expect(mx.setMemoryLimit(2 ** 33)).toBe(limits.memory);
  expect(mx.memoryLimit()).toBe(2 ** 33);
  expect(mx.setMemoryLimit(limits.memory)).toBe(2 ** 33);
  const cache = mx.setCacheLimit(12345);
  expect(mx.setCacheLimit(cache)).toBe(12345);
});

test("setters take whole numbers of bytes", () => {
  for (const [name, set] of [
    ["setMemoryLimit", mx.setMemoryLimit],
    ["setCacheLimit", mx.setCacheLimit],
    ["setWiredLimit", mx.setWiredLimit],
  ] as const) {
    for (const value of [-1, 0.5, NaN, Infinity, 2 ** 60, "1", null, undefined, 1n]) {
      expect(refusal(() => set(untyped(value)))).toStartWith(
        `RangeError: ${name}: the limit must be a whole number of bytes, 0 or more, got `,
      );
    }
  }
  expect(mx.memoryLimit()).toBe(limits.memory);
});
