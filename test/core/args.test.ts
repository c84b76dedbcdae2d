// The checks of plain arguments: each refuses by operation and parameter, and gives native code what it was given.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import * as args from "../../src/core/args.ts";
import { backend } from "../../src/core/native.ts";
import { functions } from "../../src/ffi.ts";
import { refusal, untyped } from "../helpers.ts";

/** Not numbers, as error messages show them. */
const others: [value: unknown, text: string][] = [
  [undefined, "undefined"],
  [null, "null"],
  [true, "true"],
  ["1", '"1"'],
  [Symbol("x"), "a symbol"],
  [{}, "an object"],
  [[], "[]"],
  [(): number => 1, "a function"],
  [new Date(0), "a Date"],
];

const readInts = (address: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => backend.readI32(address, i * 4));

const readBigInts = (address: number, count: number): bigint[] => [
  ...new BigInt64Array(backend.view(address, count * 8).slice(0)),
];

describe("int", () => {
  test("takes integers of 32 bits, numbers and bigints", () => {
    for (const value of [0, 1, -1, 2147483647, -2147483648]) {
      expect(args.int(value, "op", "n")).toBe(value);
      expect(args.int(BigInt(value), "op", "n")).toBe(value);
    }
    expect(args.int(-0, "op", "n") === 0).toBe(true);
  });

  test.each([0.5, NaN, Infinity, -Infinity, 2147483648, -2147483649, 1e300, 2147483648n, -2147483649n, 2n ** 70n])(
    "%p is a RangeError",
    (value) => {
      const text = typeof value === "bigint" ? `${value}n` : String(value);
      expect(refusal(() => args.int(value, "sum", "axis"))).toBe(
        `RangeError: sum: axis must be a 32-bit integer, got ${text}.`,
      );
    },
  );

  test.each(others)("%p is a TypeError", (value, text) => {
    expect(refusal(() => args.int(value, "sum", "axis"))).toBe(
      `TypeError: sum: axis must be a 32-bit integer, got ${text}.`,
    );
  });
});

describe("float", () => {
  test("takes every number", () => {
    for (const value of [0, -0, 1.5, 1e300, NaN, Infinity]) expect(args.float(value, "op", "x")).toBe(value);
  });

  test.each([...others, [1n, "1n"] as [unknown, string]])("%p is a TypeError", (value, text) => {
    expect(refusal(() => args.float(value, "clip", "min"))).toBe(`TypeError: clip: min must be a number, got ${text}.`);
  });
});

describe("bool", () => {
  test("takes true and false only", () => {
    expect([args.bool(true, "op", "b"), args.bool(false, "op", "b")]).toEqual([true, false]);
    for (const value of [0, 1, "true", null, undefined, {}]) {
      expect(refusal(() => args.bool(value, "sum", "keepDims"))).toStartWith(
        "TypeError: sum: keepDims must be true or false, got ",
      );
    }
  });
});

describe("str", () => {
  const read = (text: string): string => backend.text(args.str(text, "op", "mode"));

  test("gives the text, short or long, of any language", () => {
    for (const text of [
      "",
      "a",
      "valid",
      "x".repeat(23),
      "x".repeat(24),
      "ä".repeat(23),
      "日本語".repeat(20),
      "🎉".repeat(5000),
    ]) {
      expect(read(text)).toBe(text);
      expect(read(text)).toBe(text);
    }
    expect(read("x".repeat(100_000))).toBe("x".repeat(100_000));
    // A lone surrogate has no UTF-8: it becomes the replacement character instead of broken text.
    expect(read("a\ud800b")).toBe("a\ufffdb");
  });

  test("refuses NUL and what is no text", () => {
    expect(refusal(() => args.str("a\0b", "load", "path"))).toBe(
      "TypeError: load: path contains a NUL character, where native code would cut it.",
    );
    expect(refusal(() => args.str("x".repeat(50) + "\0", "load", "path"))).toContain("NUL character");
    for (const [value, text] of others.filter(([value]) => typeof value !== "string")) {
      expect(refusal(() => args.str(value, "load", "path"))).toBe(
        `TypeError: load: path must be a string, got ${text}.`,
      );
    }
    expect(refusal(() => args.str(new String("x"), "load", "path"))).toContain("got a String");
  });
});

describe("dtype", () => {
  test("gives the native code", () => {
    expect(args.dtype("bool", "op", "dtype")).toBe(0);
    const scalar = functions.mlx_array_new_float32(1);
    expect(args.dtype("float32", "op", "dtype")).toBe(functions.mlx_array_dtype(scalar));
    functions.mlx_array_free(scalar);
  });

  test("refuses the rest, and names the dtypes", () => {
    for (const value of ["float31", "Float32", "", "constructor", "toString", 5, null, undefined, {}]) {
      expect(refusal(() => args.dtype(value, "zeros", "dtype"))).toMatch(
        /^TypeError: zeros: dtype must be a dtype, got .*\. The dtypes are bool, uint8, .*complex64\.$/,
      );
    }
  });
});

describe("ints", () => {
  test("gives the address of int32", () => {
    expect(readInts(args.ints([1, -2, 2147483647, -2147483648, 0], "op", "axes"), 5)).toEqual([
      1, -2, 2147483647, -2147483648, 0,
    ]);
    expect(readInts(args.ints([1n, 2, -3n], "op", "axes"), 3)).toEqual([1, 2, -3]);
    expect(args.ints([], "op", "axes")).toBeGreaterThan(0);
    const many = Array.from({ length: 20_000 }, (_, i) => i);
    expect(readInts(args.ints(many, "op", "axes"), 20_000)).toEqual(many);
  });

  test("refuses by position", () => {
    const refused = (list: unknown): string => refusal(() => args.ints(list, "reshape", "shape"));
    expect(refused([1, 2.5])).toBe("RangeError: reshape: shape[1] must be a 32-bit integer, got 2.5.");
    expect(refused([2 ** 31])).toBe("RangeError: reshape: shape[0] must be a 32-bit integer, got 2147483648.");
    expect(refused([1, , 3])).toBe("TypeError: reshape: shape[1] must be a 32-bit integer, got undefined.");
    expect(refused([1, "2"])).toBe('TypeError: reshape: shape[1] must be a 32-bit integer, got "2".');
    expect(refused([Symbol("x")])).toBe("TypeError: reshape: shape[0] must be a 32-bit integer, got a symbol.");
    expect(refused([{ valueOf: (): number => 1 }])).toContain("got an object");
    expect(refused(5)).toBe("TypeError: reshape: shape must be a list of integers, got 5.");
    expect(refused("12")).toContain("must be a list of integers");
    expect(refused(new Int32Array(2))).toContain("got an Int32Array");
    expect(refused({ length: 1, 0: 1 })).toContain("got an object");
    expect(refused(null)).toContain("got null");
  });
});

describe("int64s", () => {
  test("gives the address of int64", () => {
    const values = [0, -1, 2 ** 53 - 1, 2n ** 63n - 1n, -(2n ** 63n)];
    expect(readBigInts(args.int64s(values, "op", "strides"), 5)).toEqual(values.map(BigInt));
    expect(args.int64s([], "op", "strides")).toBeGreaterThan(0);
  });

  test("refuses by position", () => {
    const refused = (list: unknown): string => refusal(() => args.int64s(list, "asStrided", "strides"));
    expect(refused([2 ** 53])).toBe(
      "RangeError: asStrided: strides[0] must be a 64-bit integer, got 9007199254740992.",
    );
    expect(refused([2n ** 63n])).toBe(
      "RangeError: asStrided: strides[0] must be a 64-bit integer, got 9223372036854775808n.",
    );
    expect(refused([1, , 1])).toBe("TypeError: asStrided: strides[1] must be a 64-bit integer, got undefined.");
    expect(refused([0.5])).toContain("RangeError");
    expect(refused([null])).toContain("TypeError");
    expect(refused(3)).toContain("must be a list of integers");
  });
});

describe("optional values: one register, the flag in its high half", () => {
  const PRESENT = 2 ** 32;

  test("absent is 0", () => {
    for (const absent of [null, undefined]) {
      expect(args.optionalInt(absent, "op", "n")).toBe(0);
      expect(args.optionalFloat(absent, "op", "x")).toBe(0);
      expect(args.optionalDtype(absent, "op", "dtype")).toBe(0);
    }
  });

  test("present, 0 and negatives included", () => {
    expect(args.optionalInt(0, "op", "n")).toBe(PRESENT);
    expect(args.optionalInt(5, "op", "n")).toBe(PRESENT + 5);
    expect(args.optionalInt(-1, "op", "n")).toBe(PRESENT + 4294967295);
    expect(args.optionalFloat(0, "op", "x")).toBe(PRESENT);
    expect(args.optionalFloat(1, "op", "x")).toBe(PRESENT + 0x3f800000);
    expect(args.optionalFloat(-2, "op", "x")).toBe(PRESENT + 0xc0000000);
    expect(args.optionalDtype("bool", "op", "dtype")).toBe(PRESENT);
    expect(args.optionalDtype("uint8", "op", "dtype")).toBe(PRESENT + 1);
  });

  test("wrong", () => {
    expect(refusal(() => args.optionalInt(1.5, "op", "n"))).toBe(
      "RangeError: op: n must be a 32-bit integer, got 1.5.",
    );
    expect(refusal(() => args.optionalFloat(untyped("1"), "op", "x"))).toBe(
      'TypeError: op: x must be a number, got "1".',
    );
    expect(refusal(() => args.optionalDtype("f32", "op", "dtype"))).toStartWith("TypeError: op: dtype must be a dtype");
  });
});

let before = 0;
beforeEach(() => {
  before = functions.mlxts_live_arrays();
});

afterEach(() => {
  // Whatever was refused, nothing that was prepared for the call stays.
  expect(functions.mlxts_live_arrays()).toBe(before);
});
