// Reports from users of MLX's bindings: integers past the safe ones, ranges, promotion beside host numbers, booleans.
import { describe, expect } from "bun:test";
import * as mx from "../../src/index.ts";
import { refusal, scoped } from "../helpers.ts";

/** The dtype and the values of an array. */
const seen = (x: mx.Array): [mx.Dtype, unknown] => [x.dtype, x.tolist()];

describe("B04: 64-bit integers are exact:", () => {
  const wide = [9007199254740993n, -9007199254740993n, 2n ** 63n - 1n, -(2n ** 63n)];
  scoped("int64 from bigints and back", () => {
    expect(mx.array(wide).tolist()).toEqual(wide);
    expect(mx.array(wide, { dtype: "int64" }).toTypedArray()).toEqual(new BigInt64Array(wide));
    expect(wide.map((value) => mx.array(value).item())).toEqual(wide);
  });
  scoped("uint64 from a bigint and back", () => {
    expect(mx.array([2n ** 64n - 1n], { dtype: "uint64" }).tolist()).toEqual([18446744073709551615n]);
    expect(mx.array(2n ** 64n - 1n, { dtype: "uint64" }).item()).toBe(18446744073709551615n);
    expect(mx.array(new BigUint64Array([2n ** 64n - 1n])).item()).toBe(18446744073709551615n);
  });
  scoped("a sum", () => {
    expect(mx.sum(mx.array([2n ** 53n, 1n])).item()).toBe(9007199254740993n);
  });
  scoped("plain numbers, as long as they are safe", () => {
    expect(mx.array([1, 2], { dtype: "int64" }).tolist()).toEqual([1n, 2n]);
    expect(refusal(() => mx.array([2 ** 53 + 2], { dtype: "int64" }))).toMatch(/^RangeError: .*9007199254740994n/);
    expect(refusal(() => mx.add(mx.array([1n]), 2 ** 60))).toMatch(/^RangeError: add: b: .*1152921504606846976n/);
    expect(refusal(() => mx.full([2], 2 ** 60, { dtype: "int64" }))).toMatch(/^RangeError: full: vals: /);
  });
  scoped("out of range", () => {
    expect(refusal(() => mx.array([2n ** 63n], { dtype: "int64" }))).toMatch(/^RangeError: .*does not fit int64/);
    expect(refusal(() => mx.array([-1n], { dtype: "uint64" }))).toMatch(/^RangeError: .*does not fit uint64/);
    expect(refusal(() => mx.add(mx.array([1n]), 2n ** 63n))).toMatch(/^RangeError: .*does not fit int64/);
    expect(refusal(() => mx.add(mx.array([1n], { dtype: "uint64" }), -1n))).toMatch(/^RangeError: .*fit uint64/);
    expect(
      refusal(() =>
        mx
          .zeros([2], { dtype: "int64" })
          .at(0)
          .set(2n ** 63n),
      ),
    ).toMatch(/^RangeError: at: value: /);
  });
});

describe("B05: arange past int32", () => {
  scoped("is int64, with every element", () => {
    expect(seen(mx.arange(2 ** 40, 2 ** 40 + 3))).toEqual(["int64", [1099511627776n, 1099511627777n, 1099511627778n]]);
    const wide = [9007199254740992n, 9007199254740993n, 9007199254740994n];
    expect(seen(mx.arange(2n ** 53n, 2n ** 53n + 3n, { dtype: "int64" }))).toEqual(["int64", wide]);
    expect(seen(mx.arange(2n ** 53n, 2n ** 53n + 3n))).toEqual(["int64", wide]);
  });
  scoped("throws where the dtype cannot hold an element", () => {
    expect(refusal(() => mx.arange(2 ** 40, 2 ** 40 + 3, { dtype: "int32" }))).toBe(
      "RangeError: arange: the element 1099511627776 does not fit int32 (-2147483648 to 2147483647).",
    );
    expect(refusal(() => mx.arange(0, 301, { step: 100, dtype: "uint8" }))).toBe(
      "RangeError: arange: the element 300 does not fit uint8 (0 to 255).",
    );
    expect(refusal(() => mx.arange(-3, 3, { dtype: "uint32" }))).toMatch(/^RangeError: .* -3 does not fit uint32/);
    // What counts are the elements, not the bounds.
    expect(mx.arange(0, 300, { step: 100, dtype: "uint8" }).tolist()).toEqual([0, 100, 200]);
    expect(mx.arange(255, -1, { step: -100, dtype: "uint8" }).tolist()).toEqual([255, 155, 55]);
    expect(mx.arange(300, 0, { dtype: "uint8" }).tolist()).toEqual([]);
  });
  scoped("throws where numbers cannot tell the bounds apart", () => {
    expect(refusal(() => mx.arange(2 ** 53, 2 ** 53 + 4))).toMatch(/^RangeError: arange: .*bigint/);
  });
  scoped("and so do its siblings", () => {
    expect(refusal(() => mx.linspace(0, 1000, { num: 3, dtype: "uint8" }))).toBe(
      "RangeError: linspace: the element 1000 does not fit uint8 (0 to 255).",
    );
    expect(refusal(() => mx.linspace(0, 2 ** 40, { num: 3, dtype: "int32" }))).toMatch(/^RangeError: linspace: /);
    expect(refusal(() => mx.linspace(NaN, 1, { num: 3, dtype: "int32" }))).toMatch(/^RangeError: linspace: .* NaN /);
    expect(refusal(() => mx.linspace(0, Infinity, { num: 3, dtype: "int32" }))).toMatch(/^RangeError: linspace: /);
    expect(mx.linspace(0, 255, { num: 2, dtype: "uint8" }).tolist()).toEqual([0, 255]);
    expect(mx.linspace(0, 1000, { num: 0, dtype: "uint8" }).tolist()).toEqual([]);
    expect(refusal(() => mx.random.randint(0, 2 ** 40, { shape: [3] }))).toMatch(/^RangeError: random.randint: /);
    expect(refusal(() => mx.random.randint(-1, 5, { shape: [3], dtype: "uint8" }))).toMatch(
      /^RangeError: .* -1 does not/,
    );
    expect(refusal(() => mx.random.randint(0, 257, { shape: [3], dtype: "uint8" }))).toMatch(
      /^RangeError: .* 256 does/,
    );
    expect(mx.random.randint(0, 256, { shape: [3], dtype: "uint8" }).shape).toEqual([3]);
    expect(mx.random.randint(0n, 2n ** 40n, { shape: [3], dtype: "int64" }).dtype).toBe("int64");
    expect(refusal(() => mx.full([2], 2 ** 40, { dtype: "int32" }))).toMatch(/^RangeError: full: /);
    expect(refusal(() => mx.array([2 ** 40], { dtype: "int32" }))).toMatch(/^RangeError: array: /);
  });
});

describe("B06: host numbers are weak:", () => {
  const bf = (): mx.Array => mx.array([1.5], { dtype: "bfloat16" });
  const cases: Record<string, [() => mx.Array, mx.Dtype, unknown[]]> = {
    "bfloat16 * 2.5": [() => mx.multiply(bf(), 2.5), "bfloat16", [3.75]],
    "2.5 * bfloat16": [() => mx.multiply(2.5, bf()), "bfloat16", [3.75]],
    "bfloat16 ** 2": [() => mx.power(bf(), 2), "bfloat16", [2.25]],
    "int8 + 1": [() => mx.array([1, 2], { dtype: "int8" }).add(1), "int8", [2, 3]],
    "1 + int8": [() => mx.add(1, mx.array([1, 2], { dtype: "int8" })), "int8", [2, 3]],
    "int32 * 2.5": [() => mx.array([1, 2], { dtype: "int32" }).multiply(2.5), "float32", [2.5, 5]],
    "2.5 * int32": [() => mx.multiply(2.5, mx.array([1, 2], { dtype: "int32" })), "float32", [2.5, 5]],
    "bool * 25": [() => mx.array([true, false]).multiply(25), "int32", [25, 0]],
    "25 * bool": [() => mx.multiply(25, mx.array([true, false])), "int32", [25, 0]],
    "where(cond, float16, 0.5)": [
      () => mx.where(mx.array([true, false]), mx.array([1, 1], { dtype: "float16" }), 0.5),
      "float16",
      [1, 0.5],
    ],
    "where(cond, 0.5, float16)": [
      () => mx.where(mx.array([true, false]), 0.5, mx.array([1, 1], { dtype: "float16" })),
      "float16",
      [0.5, 1],
    ],
    "float32 * 1e-3": [() => mx.array([1]).multiply(1e-3), "float32", [Math.fround(1e-3)]],
    "clip(float16, 0, 1)": [() => mx.clip(mx.array([1.5, -1], { dtype: "float16" }), 0, 1), "float16", [1, 0]],
  };
  for (const [name, [make, dtype, values]] of Object.entries(cases)) {
    scoped(name, () => expect(seen(make())).toEqual([dtype, values]));
  }
});

describe("B08: integers of different kinds:", () => {
  scoped("a host integer that does not fit is refused", () => {
    const x = mx.array([1], { dtype: "uint8" });
    for (const op of [mx.add, mx.subtract, mx.multiply, mx.maximum, mx.equal, mx.bitwiseAnd] as const) {
      expect(refusal(() => op(x, 300))).toMatch(/^RangeError: \w+: b: 300 does not fit uint8 \(0 to 255\)\.$/);
      expect(refusal(() => op(-1, x))).toMatch(/^RangeError: \w+: a: -1 does not fit uint8 \(0 to 255\)\.$/);
    }
  });
  scoped("minus an argmax wraps as uint32, as the guide says", () => {
    const negated = mx.negative(mx.argmax(mx.array([1, 2, 3])));
    expect([negated.dtype, negated.item()]).toEqual(["uint32", 4294967294]);
  });
  const promotions: [mx.Dtype, mx.Dtype, mx.Dtype][] = [
    ["uint64", "int64", "float32"],
    ["float16", "bfloat16", "float32"],
    ["int64", "float32", "float32"],
  ];
  for (const [a, b, expected] of promotions) {
    scoped(`${a} + ${b} is ${expected}`, () => {
      const [x, y] = [mx.ones([1], { dtype: a }), mx.ones([1], { dtype: b })];
      expect([mx.add(x, y).dtype, mx.add(y, x).dtype]).toEqual([expected, expected]);
    });
  }
});

describe("B09: booleans:", () => {
  scoped("sum is int32, mean float32", () => {
    const x = mx.array([true, true, false]);
    expect([mx.sum(x).item(), mx.sum(x).dtype]).toEqual([2, "int32"]);
    expect([mx.mean(x).dtype, mx.mean(x).item()]).toEqual(["float32", Math.fround(2 / 3)]);
    expect([mx.any(x).item(), mx.all(x).item(), mx.any(x).dtype]).toEqual([true, false, "bool"]);
  });
  scoped("are read as booleans, a byte each", () => {
    const x = mx.array([true, true, false]);
    expect([x.tolist(), x.toTypedArray(), x.nbytes]).toEqual([[true, true, false], new Uint8Array([1, 1, 0]), 3]);
  });
  scoped("minus is refused, plus is a logical or", () => {
    expect(refusal(() => mx.negative(mx.array([true])))).toMatch(/^MlxError: .*use logical_not/);
    expect(seen(mx.add(mx.array([true, true]), mx.array([true, false])))).toEqual(["bool", [true, true]]);
  });
});
