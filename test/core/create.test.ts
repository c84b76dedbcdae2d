// mx.array: every dtype from every kind of value, the options, and lists that hold Arrays.
import { describe, expect, test } from "bun:test";
import { dtypeNames, isFloating, isInteger } from "../../src/core/dtype.ts";
import * as mx from "../../src/index.ts";
import { refusal, scoped, transposed, untyped } from "../helpers.ts";

const integers = dtypeNames.filter(isInteger);
const floats = dtypeNames.filter(isFloating);
const wide = (dtype: mx.Dtype): boolean => dtype === "int64" || dtype === "uint64";

/** How a small integer reads back. */
function element(value: number, dtype: mx.Dtype): unknown {
  if (dtype === "bool") return value !== 0;
  if (dtype === "complex64") return { re: value, im: 0 };
  return wide(dtype) ? BigInt(value) : value;
}

describe("the dtype depends on the types of the values", () => {
  const cases: [name: string, value: unknown, dtype: mx.Dtype][] = [
    ["a whole number", 2, "float32"],
    ["a fraction", 2.5, "float32"],
    ["a bigint", 2n, "int64"],
    ["a boolean", true, "bool"],
    ["a complex number", { re: 1, im: 2 }, "complex64"],
    ["a weak float", mx.float(2), "float32"],
    ["numbers", [1, 2.5], "float32"],
    ["bigints", [1n, 2n], "int64"],
    ["booleans", [[true], [false]], "bool"],
    ["booleans and numbers", [true, 2], "float32"],
    ["booleans and bigints", [true, 2n], "int64"],
    ["numbers and complex numbers", [1, { re: 0, im: 1 }], "complex64"],
    ["bigints and complex numbers", [1n, { re: 0, im: 1 }], "complex64"],
    ["nothing", [], "float32"],
    ["nothing, twice", [[], []], "float32"],
    ["an empty typed array", new Int16Array(0), "int16"],
  ];
  for (const [name, value, dtype] of cases) {
    scoped(name, () => expect(mx.array(untyped<mx.ArrayLiteral>(value)).dtype).toBe(dtype));
  }
});

describe.each([...dtypeNames])("as %s:", (dtype) => {
  scoped("numbers, bigints, booleans and weak floats", () => {
    const values = [0, 1, 2n, true, false, mx.float(1)];
    const array = mx.array(untyped<mx.ArrayLiteral>(values), { dtype });
    expect(array.dtype).toBe(dtype);
    expect(array.shape).toEqual([6]);
    expect(array.tolist()).toEqual(untyped<never>([0, 1, 2, 1, 0, 1].map((value) => element(value, dtype))));
  });

  scoped("one value, without axes", () => {
    for (const value of [1, 1n, true, mx.float(1)]) {
      const array = mx.array(value, dtype);
      expect({ dtype: array.dtype, shape: array.shape, value: array.item() }).toEqual({
        dtype,
        shape: [],
        value: untyped(element(1, dtype)),
      });
    }
  });

  scoped("nested lists and empty ones", () => {
    const array = mx.array([[[1], [0]]], { dtype });
    expect(array.shape).toEqual([1, 2, 1]);
    expect(array.tolist()).toEqual(untyped<never>([[[element(1, dtype)], [element(0, dtype)]]]));
    expect(mx.array([], { dtype }).dtype).toBe(dtype);
    expect(mx.array([[], []], dtype).shape).toEqual([2, 0]);
  });

  scoped("complex numbers only where they fit", () => {
    const make = (): mx.Array => mx.array([{ re: 1.5, im: -2 }], { dtype });
    if (dtype === "complex64") expect(make().tolist()).toEqual([{ re: 1.5, im: -2 }]);
    else expect(refusal(make)).toBe(`TypeError: array: a complex value cannot become ${dtype}.`);
  });

  scoped("an Array of any other dtype", () => {
    const source = mx.array([0, 1, 2], { dtype: "int32" });
    const array = mx.array(source, { dtype });
    expect(array.dtype).toBe(dtype);
    expect(array.tolist()).toEqual(untyped<never>([0, 1, 2].map((value) => element(value, dtype))));
    expect(mx.array(array).dtype).toBe(dtype);
  });
});

describe.each(integers)("the range of %s:", (dtype) => {
  const bits = BigInt(/\d+/.exec(dtype)![0]);
  const signed = dtype.startsWith("i");
  const low = signed ? -(2n ** (bits - 1n)) : 0n;
  const high = signed ? 2n ** (bits - 1n) - 1n : 2n ** bits - 1n;

  scoped("both ends are exact", () => {
    const read = mx.array([low, high], { dtype }).tolist();
    expect(read).toEqual(untyped<never>(wide(dtype) ? [low, high] : [Number(low), Number(high)]));
    if (!wide(dtype)) expect(mx.array([Number(low), Number(high)], { dtype }).tolist()).toEqual(read);
  });

  scoped("one past either end throws, as a bigint and as a number", () => {
    for (const value of [low - 1n, high + 1n]) {
      const text = `RangeError: array: ${value} does not fit ${dtype} (${low} to ${high})`;
      expect(refusal(() => mx.array(value, { dtype }))).toBe(text);
      expect(refusal(() => mx.array([0n, value], { dtype }))).toBe(text);
      // As a number, one below the least int64 is the least int64, which a number cannot be sure of either.
      const reason = BigInt(Number(value)) < low || BigInt(Number(value)) > high ? "does not fit" : "is past the safe";
      expect(refusal(() => mx.array([Number(value)], { dtype }))).toMatch(
        new RegExp(`^RangeError: array: .*${reason}`),
      );
    }
  });

  scoped("NaN and the infinities throw, fractions are cut", () => {
    for (const value of [NaN, Infinity, -Infinity]) {
      expect(refusal(() => mx.array([value], { dtype }))).toBe(`RangeError: array: ${value} does not fit ${dtype}`);
    }
    expect(mx.array([1.9, -0.9], { dtype }).tolist()).toEqual(untyped<never>(wide(dtype) ? [1n, 0n] : [1, 0]));
  });

  if (wide(dtype)) {
    scoped("a number past the safe integers asks for a bigint", () => {
      expect(refusal(() => mx.array(2 ** 53, { dtype }))).toBe(
        "RangeError: array: the number 9007199254740992 is past the safe integers: write a bigint, 9007199254740992n",
      );
      expect(mx.array(2 ** 53 - 1, { dtype }).item()).toBe(9007199254740991n);
    });
  }
});

describe("numbers that float32 does not hold", () => {
  const cases: [value: number, dtype: mx.Dtype][] = [
    [16777217, "int32"],
    [-16777217, "int32"],
    [2 ** 31 - 1, "int32"],
    [2 ** 31 + 1, "int64"],
    [2 ** 53 - 1, "int64"],
    [1e300, "float64"],
  ];
  test.each(cases)("%p suggests %s", (value, dtype) => {
    const text = `RangeError: array: the integer ${value} is not exact as float32. Give a dtype: { dtype: "${dtype}" } holds it, "float32" rounds it.`;
    expect(refusal(() => mx.array(value))).toBe(text);
    expect(refusal(() => mx.array([[0, value]]))).toBe(text);
    mx.tidy(() => {
      expect(Number(mx.array(value, { dtype }).item())).toBe(value);
      expect(mx.array(value, { dtype: "float32" }).item()).toBe(Math.fround(value));
    });
  });

  scoped("exact integers and fractions pass", () => {
    const values = [16777216, -1e9, 1e10, 2 ** 100, 0.1, 1e-300, 2 ** 127, -0];
    const read = mx.array(values).toTypedArray();
    expect([...read]).toEqual(values.map(Math.fround));
    expect(Object.is(read[7], -0)).toBe(true);
  });
});

describe.each(floats)("special values as %s:", (dtype) => {
  scoped("NaN, the infinities and -0 stay", () => {
    const read = mx.array([NaN, Infinity, -Infinity, -0], { dtype }).tolist() as number[];
    expect(read.slice(0, 3)).toEqual([NaN, Infinity, -Infinity]);
    expect(Object.is(read[3], -0)).toBe(true);
  });
});

describe("the options", () => {
  scoped("a dtype may be given alone, and by the constants of mx", () => {
    expect(mx.array([1], "uint8").dtype).toBe("uint8");
    expect(mx.array([1], mx.float16).dtype).toBe("float16");
    expect(mx.array([1], { dtype: undefined, shape: undefined }).dtype).toBe("float32");
    expect(mx.array([1], untyped(null)).dtype).toBe("float32");
    expect(mx.array([1], { dtype: untyped<undefined>(null) }).dtype).toBe("float32");
  });

  scoped("shape arranges the elements of a list or a typed array", () => {
    expect(mx.array([1, 2, 3, 4], { shape: [2, 2] }).tolist()).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(mx.array([[1, 2]], { shape: [2, 1] }).tolist()).toEqual([[1], [2]]);
    expect(mx.array(new Uint8Array(6), { shape: [1, 2, 3] }).shape).toEqual([1, 2, 3]);
    expect(mx.array(7, { shape: [1, 1] }).tolist()).toEqual([[7]]);
    expect(mx.array([5], { shape: [] }).item()).toBe(5);
    expect(mx.array([], { shape: [2147483647, 0] }).size).toBe(0);
  });

  test("what does not fit is refused", () => {
    const make = (value: unknown, options: unknown) => (): mx.Array =>
      mx.array(untyped<number>(value), untyped(options));
    expect(refusal(make([1, 2, 3], { shape: [2, 2] }))).toBe(
      "RangeError: array: the shape [2, 2] holds 4 elements, the data has 3.",
    );
    expect(refusal(make(new Float32Array(6), { shape: [4] }))).toBe(
      "RangeError: array: the shape [4] holds 4 elements, the data has 6.",
    );
    expect(refusal(make([1], { shape: 1 }))).toBe("TypeError: array: shape must be a list of integers, got 1.");
    for (const shape of [[-1], [1.5], [NaN], [2 ** 31], ["1"], [, 1], [1n], [null]]) {
      expect(refusal(make([1], { shape }))).toStartWith(
        "RangeError: array: a shape is a list of non-negative 32-bit integers, got ",
      );
    }
    expect(refusal(make([1], { shape: [65536, 65536, 65536, 65536] }))).toContain(
      "holds 18446744073709552000 elements",
    );
    expect(refusal(make([1], "float31"))).toBe(
      `TypeError: array: dtype must be one of ${dtypeNames.join(", ")}, got "float31".`,
    );
    expect(refusal(make([1], { dtype: 3 }))).toContain("dtype must be one of");
    expect(refusal(make([1], { type: "int8" }))).toContain('unknown option "type". Did you mean "dtype"?');
    expect(refusal(make([1], 5))).toBe(
      "TypeError: array: the last argument must be an options object ({ dtype, shape }), got 5.",
    );
  });
});

describe("what is no value", () => {
  const cases: [value: unknown, text: string][] = [
    [undefined, "undefined"],
    [null, "null"],
    ["text", '"text"'],
    [Symbol("s"), "a symbol"],
    [(): void => undefined, "a function"],
    [{}, "an object"],
    [{ re: 1 }, "an object"],
    [{ re: 1, im: "2" }, "an object"],
    [new Date(0), "a Date"],
    [new Map(), "a Map"],
    [new ArrayBuffer(8), "an ArrayBuffer"],
    [new DataView(new ArrayBuffer(8)), "a DataView"],
    [Promise.resolve(1), "a Promise"],
    [Object.create(null), "an object"],
  ];
  test.each(cases)("%p", (value, text) => {
    const make = (v: unknown) => (): mx.Array => mx.array(untyped<number>(v));
    expect(refusal(make(value))).toBe(
      `TypeError: array: the value must be a number, a bigint, a boolean or { re, im }, got ${text}.`,
    );
    expect(refusal(make([[0], [value]]))).toBe(
      `TypeError: array: value[1][0] must be a number, a bigint, a boolean or { re, im }, got ${text}.`,
    );
  });

  test("numbers beside bigints", () => {
    expect(refusal(() => mx.array([1, 2n]))).toBe(
      "TypeError: array: the values mix numbers and bigints. Give a dtype, or write them all the same way.",
    );
    mx.tidy(() => expect(mx.array([1, 2n], "int64").tolist()).toEqual([1n, 2n]));
  });

  test("a getter is no complex number: reading it would run code", () => {
    const value = {
      get re(): number {
        return 1;
      },
      im: 0,
    };
    expect(refusal(() => mx.array(value))).toStartWith("TypeError: array: the value must be");
  });
});

describe("lists that hold Arrays", () => {
  scoped("are stacked, beside scalars and lists", () => {
    const a = mx.array([1, 2]);
    expect(mx.array([a, a, [5, 6]]).tolist()).toEqual([
      [1, 2],
      [1, 2],
      [5, 6],
    ]);
    expect(mx.array([[a], [[7, 8]]]).shape).toEqual([2, 1, 2]);
    expect(mx.array([mx.array(1), 2, true]).tolist()).toEqual([1, 2, 1]);
    expect(mx.array([[mx.array(1), 2]]).shape).toEqual([1, 2]);
    const flipped = transposed(
      mx.array([
        [1, 2],
        [3, 4],
      ]),
      [1, 0],
    );
    expect(mx.array([flipped]).tolist()).toEqual([
      [
        [1, 3],
        [2, 4],
      ],
    ]);
  });

  scoped("take the dtype that they are given, exactly", () => {
    const mixed = mx.array([mx.array(1), 9007199254740993n, 16777217], { dtype: "int64" });
    expect(mixed.tolist()).toEqual([1n, 9007199254740993n, 16777217n]);
    expect(refusal(() => mx.array([mx.array(1), 300], "uint8"))).toContain("300 does not fit uint8");
    expect(mx.array([mx.array(1, "int32"), mx.array(2, "float16")]).dtype).toBe("float16");
  });

  scoped("that are ragged name the path", () => {
    const a = mx.array([1, 2]);
    const ragged = (value: unknown): string => refusal(() => mx.array(untyped<mx.ArrayLiteral>(value)));
    expect(ragged([a, [1, 2, 3]])).toBe(
      "TypeError: array: the nested lists are ragged: value[1] has the shape [3], value[0] has [2].",
    );
    expect(
      ragged([
        [a, a],
        [a, 3],
      ]),
    ).toBe("TypeError: array: the nested lists are ragged: value[1][1] has the shape [], value[1][0] has [2].");
    expect(ragged([a, []])).toContain("value[1] has the shape [0]");
    expect(ragged([a, "x"])).toContain('value[1] must be a number, a bigint, a boolean or { re, im }, got "x"');
    expect(ragged([a, , a])).toContain("value[1] must be a number");
    expect(ragged([[a], [[1, null]]])).toContain("value[1][0][1] must be a number");
  });

  scoped("leave nothing behind", () => {
    const a = mx.keep(mx.array([1, 2]));
    const before = mx.memory().liveHandles;
    mx.array([
      [a, [3, 4]],
      [a, a],
    ]).dispose();
    expect(() => mx.array([a, [1, 2, 3]])).toThrow(TypeError);
    expect(mx.memory().liveHandles).toBe(before);
    a.dispose();
  });

  scoped("an Array takes no shape", () => {
    expect(refusal(() => mx.array(mx.array([1, 2]), { shape: [2, 1] }))).toContain("use reshape on an Array");
  });
});
