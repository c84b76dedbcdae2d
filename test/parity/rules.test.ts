// The rules of the harness that need no library: literals, names, slices, closeness.
import { describe, expect, test } from "bun:test";
import { close, closeComplex } from "./compare.ts";
import { parseLine, PyFloat, tagged, toNumber } from "./format.ts";
import { literalDtype } from "./literals.ts";
import { camelCase } from "./names.ts";
import { sliceRange } from "./views.ts";

describe("Python's literals", () => {
  test.each([
    ["true", "bool"],
    ["3", "int32"],
    ["-2147483648", "int32"],
    ["2147483648", "int64"],
    ['{"$int":"9007199254740993"}', "int64"],
    ["2.5", "float32"],
    ["2.0", "float32"],
    ['{"$float":2.0}', "float32"],
    ['{"$float":"inf"}', "float32"],
    ['{"$complex":[1,2]}', "complex64"],
    ["[1,2,3]", "int32"],
    ["[true,false]", "bool"],
    ["[true,1]", "int32"],
    ["[[1,2],[3,4.5]]", "float32"],
    ["[1,2199023255552]", "int64"],
    ['[1,{"$complex":[0,1]}]', "complex64"],
    ["[]", "float32"],
    ['{"$array":{"dtype":"int8","shape":[],"data":[1]}}', undefined],
    ['[1,{"$array":{"dtype":"int8","shape":[],"data":[1]}}]', undefined],
    ['"text"', undefined],
    ["null", undefined],
  ])("mx.array(%s) is %s", (source, dtype) => {
    expect(literalDtype(parseLine(source))).toBe(dtype as ReturnType<typeof literalDtype>);
  });

  test("the source text decides between int and float, at any depth", () => {
    expect(parseLine('{"a":[1,1.0,{"b":1e0}]}')).toEqual({ a: [1, new PyFloat(1), { b: new PyFloat(1) }] });
    expect(parseLine("-0.0")).toEqual(new PyFloat(-0));
  });

  test("numbers and their words", () => {
    expect([new PyFloat(2), 2.5, "nan", "inf", "-inf"].map(toNumber)).toEqual([2, 2.5, NaN, Infinity, -Infinity]);
    expect(() => toNumber("two")).toThrow("not a number");
  });

  test("an object counts as tagged only with a single $ key", () => {
    expect(tagged({ $dtype: "int8" })).toEqual({ tag: "$dtype", body: "int8" });
    for (const value of [{ w: 1 }, { $a: 1, $b: 2 }, [1], null, 1, {}]) expect(tagged(value)).toBeUndefined();
  });
});

test.each([
  ["log_softmax", "logSoftmax"],
  ["logsumexp", "logsumexp"],
  ["keepdims", "keepDims"],
  ["atleast_1d", "atleast1d"],
  ["conv_transpose2d", "convTranspose2d"],
  ["cholesky_inv", "choleskyInv"],
  ["UPLO", "UPLO"],
  ["isneginf", "isneginf"],
  ["T", "T"],
  ["scaled_dot_product_attention", "scaledDotProductAttention"],
])("%s is %s", (python, ours) => {
  expect(camelCase(python)).toBe(ours);
});

test.each([
  [[null, null, null], 5, 0, 1, 5],
  [[1, null, 2], 11, 1, 2, 5],
  [[null, null, -1], 4, 3, -1, 4],
  [[-3, -1, 1], 5, 2, 1, 2],
  [[4, 1, -2], 6, 4, -2, 2],
  [[10, 20, 1], 5, 5, 1, 0],
  [[1, 2, null], 3, 1, 1, 1],
  [[null, 0, -1], 3, 2, -1, 2],
  [[null, null, 1], 0, 0, 1, 0],
] as [[number | null, number | null, number | null], number, number, number, number][])(
  "slice %p of %p",
  (slice, size, start, step, length) => {
    expect(sliceRange(slice, size)).toEqual({ start, step, length });
  },
);

describe("closeness", () => {
  const exact = { rtol: 0, atol: 0 };

  test("real numbers", () => {
    expect(close(1, 1, exact)).toBe(true);
    expect(close(1, 1 + 1e-7, exact)).toBe(false);
    expect(close(NaN, NaN, exact)).toBe(true);
    expect(close(NaN, 1, { rtol: 1, atol: 1 })).toBe(false);
    expect(close(1, NaN, { rtol: 1, atol: 1 })).toBe(false);
    expect(close(0, -0, exact)).toBe(true);
    expect(close(Infinity, Infinity, exact)).toBe(true);
    expect(close(Infinity, 1e30, { rtol: 1, atol: 1 })).toBe(false);
    expect(close(Infinity, -Infinity, { rtol: 1, atol: 1 })).toBe(false);
    expect(close(1, Infinity, { rtol: 1, atol: 1 })).toBe(false);
    expect(close(100, 101, { rtol: 0.01, atol: 0 })).toBe(true);
    expect(close(100, 101.1, { rtol: 0.01, atol: 0 })).toBe(false);
    expect(close(0, 0.5, { rtol: 1, atol: 0.4 })).toBe(false);
  });

  test("complex numbers are compared by the size of the difference", () => {
    const c = (re: number, im: number): { re: number; im: number } => ({ re, im });
    expect(closeComplex(c(3, 4), c(3, 4.4), { rtol: 0.1, atol: 0 })).toBe(true);
    expect(closeComplex(c(3, 4), c(3.4, 4.4), { rtol: 0.1, atol: 0 })).toBe(false);
    expect(closeComplex(c(NaN, 0), c(0, NaN), exact)).toBe(true);
    expect(closeComplex(c(NaN, 0), c(0, 0), { rtol: 1, atol: 1 })).toBe(false);
    expect(closeComplex(c(Infinity, 1), c(Infinity, 1), exact)).toBe(true);
    expect(closeComplex(c(Infinity, 1), c(-Infinity, 1), { rtol: 1, atol: 1 })).toBe(false);
  });
});
