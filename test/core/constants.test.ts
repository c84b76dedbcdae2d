// Numbers beside arrays keep their handles: the same values as ever, nothing counted, and a table that does not grow.
import { beforeEach, expect, test } from "bun:test";
import { constant, forgetConstants } from "../../src/core/constants.ts";
import { keptRegion, PLACES } from "../../src/core/kept.ts";
import { backend } from "../../src/core/native.ts";
import { dropTemporaries } from "../../src/core/temporaries.ts";
import { functions } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";

beforeEach(forgetConstants);

/** The handles in the table, in the memory that a leak checker sees. */
function table(): bigint[] {
  const { address, bytes } = keptRegion();
  return [...new BigUint64Array(backend.view(address, bytes).slice(0))].slice(-PLACES).filter((one) => one !== 0n);
}

const valueOf = (fn: () => mx.Array): unknown => mx.tidy(() => fn().item());

test("a number gets a lasting handle when it is seen again", () => {
  const first = constant(0.1, "float32");
  dropTemporaries();
  expect(table()).toEqual([]);
  const second = constant(0.1, "float32");
  dropTemporaries();
  expect(table()).toEqual([BigInt(second)]);
  for (let i = 0; i < 3; i++) expect(constant(0.1, "float32")).toBe(second);
  expect(first).not.toBe(0);
  forgetConstants();
  expect(table()).toEqual([]);
});

test("lasting handles are not counted as live", () => {
  using x = mx.array([1, 2]);
  mx.tidy(() => void mx.add(x, 1));
  const before = functions.mlxts_live_handles();
  for (let i = 0; i < 5; i++) mx.tidy(() => void mx.multiply(mx.add(x, 0.25), 7));
  expect(table().length).toBeGreaterThanOrEqual(2);
  expect(functions.mlxts_live_handles()).toBe(before);
});

test("0, -0 and NaN stay apart", () => {
  using one = mx.array([1]);
  for (let i = 0; i < 4; i++) {
    expect(valueOf(() => mx.divide(one, 0))).toBe(Infinity);
    expect(valueOf(() => mx.divide(one, -0))).toBe(-Infinity);
    expect(valueOf(() => mx.add(one, NaN))).toBe(NaN);
  }
});

test("one number in several dtypes", () => {
  const dtypes = ["float32", "int32", "uint8", "float16", "bfloat16", "int64"] as const;
  for (const dtype of [...dtypes, ...dtypes, ...dtypes, ...dtypes.toReversed()]) {
    mx.tidy(() => {
      const sum = mx.add(mx.zeros([2], { dtype }), 3);
      expect(sum.dtype).toBe(dtype);
      expect(mx.astype(sum, "float32").tolist()).toEqual([3, 3]);
    });
  }
});

test("a number that does not fit is refused each time, and nothing is left", () => {
  using bytes = mx.zeros([2], { dtype: "uint8" });
  for (let i = 0; i < 3; i++) expect(() => mx.add(bytes, 300)).toThrow(RangeError);
  expect(table()).toEqual([]);
});

test("more numbers than there are places: right values, and a table of one size", () => {
  using x = mx.array([0]);
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 4 * PLACES; i++) {
      const value = i % 2 === 0 ? i : i / 1024;
      for (let again = 0; again < 2; again++) expect(valueOf(() => mx.add(x, value))).toBe(value);
    }
  }
  expect(table().length).toBeGreaterThan(PLACES / 2);
  expect(table().length).toBeLessThanOrEqual(PLACES);
});

test("a number displaces another that stands in the same call", () => {
  using x = mx.array([-1e6, 0.5, 1e6]);
  // Whole numbers that are PLACES apart share a place.
  for (let i = 0; i < 5; i++) {
    const clipped = mx.tidy(() => mx.clip(x, i + 1, i + 1 + PLACES).tolist());
    expect(clipped).toEqual([i + 1, i + 1, i + 1 + PLACES]);
    const again = mx.tidy(() => mx.clip(x, 1, 1 + PLACES).tolist());
    expect(again).toEqual([1, 1, 1 + PLACES]);
  }
});

test("constants in compiled, mapped and differentiated functions", () => {
  const fn = (x: mx.Array): mx.Array => mx.sum(mx.add(mx.multiply(mx.multiply(x, 3), 3), 3));
  using x = mx.array([1, 2]);
  using compiled = mx.compile(fn);
  for (let i = 0; i < 3; i++) {
    expect(valueOf(() => fn(x))).toBe(33);
    expect(valueOf(() => compiled(x))).toBe(33);
    expect(mx.tidy(() => mx.grad(fn)(x).tolist())).toEqual([9, 9]);
    expect(
      mx.tidy(() =>
        mx
          .vmap((row: mx.Array) => mx.add(mx.multiply(row, 3), 3))(x)
          .tolist(),
      ),
    ).toEqual([6, 9]);
  }
  forgetConstants();
  expect(valueOf(() => compiled(x))).toBe(33);
});

test("constants may go while a graph still needs them", () => {
  using x = mx.array([1, 2]);
  mx.tidy(() => void mx.add(x, 0.125));
  using sum = mx.add(x, 0.125);
  forgetConstants();
  expect(sum.tolist()).toEqual([1.125, 2.125]);
});
