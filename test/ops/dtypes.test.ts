// Dtypes without arrays, against what Python MLX 0.32.2 says.
import { expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { caught, refusal, untyped } from "../helpers.ts";

const order: readonly mx.Dtype[] = [
  "bool",
  "uint8",
  "uint16",
  "uint32",
  "uint64",
  "int8",
  "int16",
  "int32",
  "int64",
  "float16",
  "bfloat16",
  "float32",
  "float64",
  "complex64",
];
// Row and column in that order: b bool, u/i with the bytes of an unsigned or signed integer, h float16, B bfloat16,
// f float32, d float64, c complex64.
const names: Record<string, mx.Dtype> = {
  b: "bool",
  u1: "uint8",
  u2: "uint16",
  u4: "uint32",
  u8: "uint64",
  i1: "int8",
  i2: "int16",
  i4: "int32",
  i8: "int64",
  h: "float16",
  B: "bfloat16",
  f: "float32",
  d: "float64",
  c: "complex64",
};
const table = `
b  u1 u2 u4 u8 i1 i2 i4 i8 h B f d c
u1 u1 u2 u4 u8 i2 i2 i4 i8 h B f d c
u2 u2 u2 u4 u8 i4 i4 i4 i8 h B f d c
u4 u4 u4 u4 u8 i8 i8 i8 i8 h B f d c
u8 u8 u8 u8 u8 f  f  f  f  h B f d c
i1 i2 i4 i8 f  i1 i2 i4 i8 h B f d c
i2 i2 i4 i8 f  i2 i2 i4 i8 h B f d c
i4 i4 i4 i8 f  i4 i4 i4 i8 h B f d c
i8 i8 i8 i8 f  i8 i8 i8 i8 h B f d c
h  h  h  h  h  h  h  h  h  h f f d c
B  B  B  B  B  B  B  B  B  f B f d c
f  f  f  f  f  f  f  f  f  f f f d c
d  d  d  d  d  d  d  d  d  d d d d c
c  c  c  c  c  c  c  c  c  c c c c c`
  .trim()
  .split("\n")
  .map((row) => row.split(/\s+/).map((name) => names[name]!));

test("resultType is MLX's promotion, for all pairs", () => {
  expect(order.map((a) => order.map((b) => mx.resultType(a, b)))).toEqual(table);
});

test("resultType agrees with what an addition gives", () => {
  for (const a of order) {
    for (const b of order) {
      expect(mx.tidy(() => mx.add(mx.ones([1], a), mx.ones([1], b)).dtype)).toBe(mx.resultType(a, b));
    }
  }
});

test("resultType of arrays, of one, of none", () => {
  using x = mx.zeros([1], "int8");
  expect(mx.resultType(x, "uint8")).toBe("int16");
  expect(mx.resultType(x)).toBe("int8");
  expect(mx.resultType("int8", "uint8", "float16")).toBe("float16");
  expect(caught(() => mx.resultType())).toBeInstanceOf(TypeError);
  expect(caught(() => mx.resultType(untyped(2)))).toBeInstanceOf(TypeError);
});

test("canCast is promotion that stays", () => {
  const cases: [mx.Dtype, mx.Dtype, boolean][] = [
    ["int64", "float16", true],
    ["float32", "float16", false],
    ["bool", "int8", true],
    ["int8", "uint8", false],
    ["uint8", "int8", false],
    ["complex64", "float32", false],
    ["float64", "complex64", true],
  ];
  for (const [from, to, expected] of cases) expect(mx.canCast(from, to)).toBe(expected);
  using x = mx.zeros([1], "int32");
  expect(mx.canCast(x, "float16")).toBe(true);
  expect(caught(() => mx.canCast(untyped(2), "int8"))).toBeInstanceOf(TypeError);
  expect(caught(() => mx.canCast("int8", untyped("int")))).toBeInstanceOf(TypeError);
});

test("issubdtype", () => {
  expect(mx.issubdtype("int8", mx.integer)).toBe(true);
  expect(mx.issubdtype("int8", mx.signedinteger)).toBe(true);
  expect(mx.issubdtype("int8", mx.unsignedinteger)).toBe(false);
  expect(mx.issubdtype("bool", mx.number)).toBe(false);
  expect(mx.issubdtype("bool", mx.generic)).toBe(true);
  expect(mx.issubdtype("complex64", mx.floating)).toBe(false);
  expect(mx.issubdtype("complex64", mx.complexfloating)).toBe(true);
  expect(mx.issubdtype(mx.complexfloating, mx.inexact)).toBe(true);
  expect(mx.issubdtype(mx.integer, mx.number)).toBe(true);
  expect(mx.issubdtype(mx.number, mx.integer)).toBe(false);
  expect(mx.issubdtype(mx.generic, mx.generic)).toBe(true);
  expect(mx.issubdtype("float32", "float32")).toBe(true);
  expect(mx.issubdtype("float32", "float64")).toBe(false);
  expect(mx.issubdtype(mx.integer, "int8")).toBe(false);
  expect(caught(() => mx.issubdtype(untyped("integer"), mx.integer))).toBeInstanceOf(TypeError);
  expect(`${mx.floating}`).toBe("floating");
});

test("isdtype", () => {
  expect(mx.isdtype("int8", "integral")).toBe(true);
  expect(mx.isdtype("int8", ["bool", "signed integer"])).toBe(true);
  expect(mx.isdtype("int8", "int8")).toBe(true);
  expect(mx.isdtype("bool", "numeric")).toBe(false);
  expect(mx.isdtype("bool", "bool")).toBe(true);
  expect(mx.isdtype("bfloat16", "real floating")).toBe(true);
  expect(mx.isdtype("complex64", "complex floating")).toBe(true);
  expect(mx.isdtype("int8", [])).toBe(false);
  expect(refusal(() => mx.isdtype("int8", untyped("whole")))).toContain('got "whole"');
  expect(caught(() => mx.isdtype("int8", untyped(["int8", "whole"])))).toBeInstanceOf(TypeError);
});

test("finfo and iinfo", () => {
  expect(mx.finfo("float16")).toMatchObject({ bits: 16, min: -65504, max: 65504, eps: 0.0009765625 });
  expect(mx.finfo("float16").smallestNormal).toBe(6.103515625e-5);
  expect(mx.finfo("bfloat16").max).toBe(3.3895313892515355e38);
  expect(mx.finfo("float32")).toMatchObject({ max: 3.4028234663852886e38, eps: 1.1920928955078125e-7 });
  expect(mx.finfo("float64")).toMatchObject({ max: Number.MAX_VALUE, eps: Number.EPSILON, bits: 64 });
  expect(mx.finfo("complex64").dtype).toBe("float32");
  expect(mx.iinfo("uint8")).toEqual({ dtype: "uint8", min: 0, max: 255 });
  expect(mx.iinfo("int64")).toEqual({ dtype: "int64", min: -(2n ** 63n), max: 2n ** 63n - 1n });
  expect(caught(() => mx.finfo("int8"))).toBeInstanceOf(TypeError);
  expect(caught(() => mx.iinfo("bool"))).toBeInstanceOf(TypeError);
});

test("broadcastShapes", () => {
  expect(mx.broadcastShapes([1, 2], [3, 1])).toEqual([3, 2]);
  expect(mx.broadcastShapes([2], [])).toEqual([2]);
  expect(mx.broadcastShapes([0], [1])).toEqual([0]);
  expect(mx.broadcastShapes([4, 1, 3], [2, 1], [1])).toEqual([4, 2, 3]);
  expect(refusal(() => mx.broadcastShapes([2], [3]))).toBe(
    "RangeError: broadcastShapes: [2] and [3] cannot be broadcast.",
  );
  expect(caught(() => mx.broadcastShapes())).toBeInstanceOf(TypeError);
  expect(caught(() => mx.broadcastShapes(untyped(2)))).toBeInstanceOf(TypeError);
});
