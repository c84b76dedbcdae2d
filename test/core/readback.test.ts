// From arrays to JavaScript values: every dtype, every stride, no axes, no elements.
import { describe, expect, test } from "bun:test";
import { dtypeNames } from "../../src/core/dtype.ts";
import { functions, handleOf } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { broadcast, refusal, scoped, sliced, strided, transposed, untyped } from "../helpers.ts";

/** Six values of each dtype, as they are written and as they read back. */
const samples: Record<mx.Dtype, { written: unknown[]; read: unknown[]; typed: mx.TypedArray; text: string }> = {
  bool: {
    written: [true, false, true, true, false, true],
    read: [true, false, true, true, false, true],
    typed: new Uint8Array([1, 0, 1, 1, 0, 1]),
    text: "array([[True, False, True],\n       [True, False, True]], dtype=bool)",
  },
  uint8: integers("uint8", new Uint8Array([0, 1, 2, 127, 128, 255])),
  uint16: integers("uint16", new Uint16Array([0, 1, 2, 32767, 32768, 65535])),
  uint32: integers("uint32", new Uint32Array([0, 1, 2, 2147483647, 2147483648, 4294967295])),
  uint64: integers("uint64", new BigUint64Array([0n, 1n, 2n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n])),
  int8: integers("int8", new Int8Array([0, 1, -1, 127, -127, -128])),
  int16: integers("int16", new Int16Array([0, 1, -1, 32767, -32767, -32768])),
  int32: integers("int32", new Int32Array([0, 1, -1, 2147483647, -2147483647, -2147483648])),
  int64: integers("int64", new BigInt64Array([0n, 1n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)])),
  float16: {
    ...floats([0, 0.5, -1.5, 65504, 2 ** -24, -4]),
    typed: new Float16Array([0, 0.5, -1.5, 65504, 2 ** -24, -4]),
    text: "array([[0, 0.5, -1.5],\n       [65504, 5.96046e-08, -4]], dtype=float16)",
  },
  bfloat16: {
    ...floats([0, 0.5, -1.5, 2 ** 127, 2 ** -133, -4]),
    typed: new Uint16Array([0, 0x3f00, 0xbfc0, 0x7f00, 0x0001, 0xc080]),
    text: "array([[0, 0.5, -1.5],\n       [1.70141e+38, 9.18355e-41, -4]], dtype=bfloat16)",
  },
  float32: {
    ...floats([0, 0.5, -1.5, 2 ** 127, 2 ** -149, -4]),
    typed: new Float32Array([0, 0.5, -1.5, 2 ** 127, 2 ** -149, -4]),
    text: "array([[0, 0.5, -1.5],\n       [1.70141e+38, 1.4013e-45, -4]], dtype=float32)",
  },
  float64: {
    ...floats([0, 0.1, -1.5, 1e300, 5e-324, -4]),
    typed: new Float64Array([0, 0.1, -1.5, 1e300, 5e-324, -4]),
    text: "array([[0, 0.1, -1.5],\n       [1e+300, 4.94066e-324, -4]], dtype=float64)",
  },
  complex64: {
    ...floats([0, 1, 2, 3, 4, 5].map((re) => ({ re, im: -re / 2 }))),
    typed: new Float32Array([0, -0, 1, -0.5, 2, -1, 3, -1.5, 4, -2, 5, -2.5]),
    text: "array([[0+-0j, 1-0.5j, 2-1j],\n       [3-1.5j, 4-2j, 5-2.5j]], dtype=complex64)",
  },
};

function integers(
  dtype: string,
  typed: mx.TypedArray,
): { written: unknown[]; read: unknown[]; typed: mx.TypedArray; text: string } {
  const values: unknown[] = Array.from(typed as Uint8Array);
  const row = (from: number): string => `[${values.slice(from, from + 3).join(", ")}]`;
  return { written: values, read: values, typed, text: `array([${row(0)},\n       ${row(3)}], dtype=${dtype})` };
}

function floats(values: unknown[]): { written: unknown[]; read: unknown[] } {
  return { written: values, read: values };
}

function make(dtype: mx.Dtype, shape: readonly number[] = [2, 3]): mx.Array {
  return mx.array(untyped<mx.ArrayLiteral>(samples[dtype].written), { dtype, shape });
}

const pick = (dtype: mx.Dtype, ...at: number[]): unknown[] => at.map((i) => samples[dtype].read[i]);

/** What `toEqual` takes, whatever is expected. */
const any = (value: unknown): never => value as never;

describe.each([...dtypeNames])("%s:", (dtype) => {
  const { read, typed, text } = samples[dtype];

  scoped("item, tolist, toTypedArray, toString", () => {
    const array = make(dtype);
    expect(array.tolist()).toEqual(any([read.slice(0, 3), read.slice(3)]));
    expect(array.toTypedArray()).toEqual(any(typed));
    expect(array.toTypedArray().constructor).toBe(typed.constructor);
    expect(String(array)).toBe(text);
    for (const [i, value] of read.entries()) {
      const one = sliced(make(dtype, [6]), [i], [i + 1], [1]);
      expect(one.item()).toEqual(any(value));
    }
  });

  scoped("without axes", () => {
    const one = mx.array(untyped<mx.ArrayLiteral>(samples[dtype].written[1]), dtype);
    expect(one.item()).toEqual(any(read[1]));
    expect(one.tolist()).toEqual(any(read[1]));
    expect(one.toTypedArray().length).toBe(dtype === "complex64" ? 2 : 1);
  });

  scoped("transposed, sliced, reversed, repeated and overlapping views are read in logical order", () => {
    const array = make(dtype);
    expect(transposed(array, [1, 0]).tolist()).toEqual(any([pick(dtype, 0, 3), pick(dtype, 1, 4), pick(dtype, 2, 5)]));
    expect(sliced(array, [0, 1], [2, 3], [1, 1]).tolist()).toEqual(any([pick(dtype, 1, 2), pick(dtype, 4, 5)]));
    expect(sliced(array, [0, 0], [2, 3], [1, 2]).tolist()).toEqual(any([pick(dtype, 0, 2), pick(dtype, 3, 5)]));
    expect(sliced(array, [1, 2], [-3, -4], [-1, -1]).tolist()).toEqual(
      any([pick(dtype, 5, 4, 3), pick(dtype, 2, 1, 0)]),
    );
    expect(broadcast(make(dtype, [6]), [2, 6]).tolist()).toEqual(any([read, read]));
    expect(broadcast(sliced(array, [0, 0], [2, 1], [1, 1]), [2, 2]).tolist()).toEqual(
      any([pick(dtype, 0, 0), pick(dtype, 3, 3)]),
    );
    expect(strided(make(dtype, [6]), [4, 3], [1, 1], 0).tolist()).toEqual(
      any([pick(dtype, 0, 1, 2), pick(dtype, 1, 2, 3), pick(dtype, 2, 3, 4), pick(dtype, 3, 4, 5)]),
    );
    expect(strided(make(dtype, [6]), [3], [-2], 5).tolist()).toEqual(any(pick(dtype, 5, 3, 1)));
    expect(sliced(make(dtype, [6]), [4], [6], [1]).item.bind(make(dtype, [6]))).toThrow(RangeError);
  });

  scoped("views of views, and text of them", () => {
    const view = transposed(sliced(make(dtype), [0, 1], [2, 3], [1, 1]), [1, 0]);
    expect(view.tolist()).toEqual(any([pick(dtype, 1, 4), pick(dtype, 2, 5)]));
    expect(String(view)).toBe(String(mx.array(untyped<mx.ArrayLiteral>(view.tolist()), dtype)));
    expect(view.toTypedArray()).toEqual(mx.array(untyped<mx.ArrayLiteral>(view.tolist()), dtype).toTypedArray());
  });

  scoped("without elements", () => {
    for (const [shape, expected] of [
      [[0], []],
      [
        [2, 0],
        [[], []],
      ],
      [[0, 2], []],
      [[1, 0, 3], [[]]],
    ] as const) {
      const array = mx.array([], { dtype, shape });
      expect(array.tolist()).toEqual(any(expected));
      expect(array.toTypedArray().length).toBe(0);
      expect(array.toTypedArray().constructor).toBe(typed.constructor);
      expect(array.size).toBe(0);
      expect(refusal(() => array.item())).toContain(`has 0 (shape [${shape.join(", ")}])`);
      expect(String(array)).toContain(`dtype=${dtype}`);
      expect(mx.array(array.toTypedArray() as Uint8Array).size).toBe(0);
    }
    const nothing = sliced(make(dtype), [0, 1], [2, 1], [1, 1]);
    expect(nothing.tolist()).toEqual([[], []]);
  });
});

describe("toTypedArray", () => {
  scoped("gives a copy that the caller owns", () => {
    const array = mx.array([1, 2, 3]);
    const copy = array.toTypedArray();
    copy[0] = 9;
    expect(array.tolist()).toEqual([1, 2, 3]);
    expect(copy.buffer.byteLength).toBe(12);
    array.dispose();
    expect([...copy].map(Number)).toEqual([9, 2, 3]);
  });

  scoped("reads lazy graphs", () => {
    expect([...mx.add(mx.array([1, 2]), mx.array([3, 4])).toTypedArray()].map(Number)).toEqual([4, 6]);
  });
});

describe("item", () => {
  scoped("wants exactly one element", () => {
    expect(refusal(() => mx.array([1, 2]).item())).toBe(
      "RangeError: item: the array must have exactly one element, and has 2 (shape [2]).",
    );
    expect(mx.array([[[5]]]).item()).toBe(5);
  });
});

describe("an array that no buffer holds", () => {
  scoped("is refused before it is computed", () => {
    const huge = broadcast(mx.array(1), [1 << 20, 1 << 20]);
    const text = "the array has 4398046511104 bytes, more than one buffer holds: read it in parts.";
    expect(refusal(() => huge.toTypedArray())).toBe(`RangeError: toTypedArray: ${text}`);
    expect(refusal(() => huge.tolist())).toBe(`RangeError: tolist: ${text}`);
    const beyond = broadcast(mx.array(1), [2147483647, 134217728, 2]);
    expect(() => beyond.toTypedArray()).toThrow(RangeError);
    expect(beyond.size).toBe(2147483647 * 134217728 * 2);
    expect(beyond.shape).toEqual([2147483647, 134217728, 2]);
    expect(String(huge)).toContain("...");
    expect(sliced(huge, [0, 0], [2, 2], [1, 1]).tolist()).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });
});

describe("toJSON", () => {
  scoped("gives nested lists", () => {
    expect(JSON.stringify({ x: mx.array([[1.5], [2]]), y: mx.array(true) })).toBe('{"x":[[1.5],[2]],"y":true}');
    expect(JSON.stringify(mx.array([1n, -2n]))).toBe("[1,-2]");
    expect(JSON.stringify(mx.array([{ re: 1, im: 2 }]))).toBe('[{"re":1,"im":2}]');
    expect(JSON.stringify(mx.array([NaN, Infinity]))).toBe("[null,null]");
    expect(mx.array([1, 2], "bfloat16").toJSON()).toEqual([1, 2]);
  });

  scoped("refuses what JSON cannot say", () => {
    expect(refusal(() => JSON.stringify(mx.array([2n ** 53n])))).toBe(
      "RangeError: JSON.stringify: 9007199254740992 is not exact as a JSON number.",
    );
    expect(JSON.stringify(mx.array([2n ** 53n - 1n, -(2n ** 53n)]))).toBe("[9007199254740991,-9007199254740992]");
    expect(refusal(() => JSON.stringify([broadcast(mx.array(1), [1001, 1000])]))).toStartWith(
      "RangeError: JSON.stringify: an array of 1001000 elements is too large for JSON text",
    );
    expect(JSON.stringify(broadcast(mx.array(0), [1000, 1000])).length).toBe(1000 * 2001 + 1001);
  });
});

test("float64 is put in order on the CPU, also where another stream is in force: GPUs have none", () => {
  const own = functions.mlx_contiguous;
  const used: boolean[] = [];
  using other = mx.newStream("cpu");
  using usual = mx.defaultStream("cpu");
  functions.mlx_contiguous = (...args) => {
    used.push(functions.mlx_stream_equal(args[3], handleOf(usual, "test")));
    return own(...args);
  };
  try {
    for (const dtype of ["float32", "float64"] as const) {
      using flat = mx.array([1, 2, 3, 4], { dtype, shape: [2, 2] });
      using turned = transposed(flat, [1, 0]);
      expect(mx.withStream(other, () => turned.tolist())).toEqual([
        [1, 3],
        [2, 4],
      ]);
    }
  } finally {
    functions.mlx_contiguous = own;
  }
  expect(used).toEqual([false, true]);
});

test("reading many values of many arrays keeps them apart", () => {
  for (let i = 0; i < 20_000; i++) {
    using array = mx.array([i, -i], "int32");
    const [a, b] = array.tolist() as number[];
    if (a !== i || b !== -i) throw new Error(`${i} came back as ${a}, ${b}`);
  }
});
