// From JavaScript values to native memory: typed arrays of every kind and origin, ragged and hostile lists.
import { describe, expect, test } from "bun:test";
import { dtypeNames } from "../../src/core/dtype.ts";
import { newArrayFrom } from "../../src/core/literal.ts";
import { functions } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { broadcast, refusal, scoped, untyped } from "../helpers.ts";

const kinds = [
  ["uint8", Uint8Array],
  ["uint8", Uint8ClampedArray],
  ["uint16", Uint16Array],
  ["uint32", Uint32Array],
  ["uint64", BigUint64Array],
  ["int8", Int8Array],
  ["int16", Int16Array],
  ["int32", Int32Array],
  ["int64", BigInt64Array],
  ["float16", Float16Array],
  ["float32", Float32Array],
  ["float64", Float64Array],
] as const;

type AnyTyped = mx.TypedArray & { [i: number]: number | bigint };

/** 1, 2, 3, ... of a kind, over a buffer that the caller may choose. */
function filled(Kind: (typeof kinds)[number][1], buffer?: ArrayBufferLike, offset = 0, length = 5): AnyTyped {
  const Make = untyped<new (...args: unknown[]) => AnyTyped>(Kind);
  const typed = buffer === undefined ? new Make(length) : new Make(buffer, offset, length);
  const big = typed instanceof BigInt64Array || typed instanceof BigUint64Array;
  for (let i = 0; i < typed.length; i++) typed[i] = big ? BigInt(i + 1) : i + 1;
  return typed;
}

function read(typed: AnyTyped, options?: mx.ArrayOptions): { dtype: mx.Dtype; values: number[] } {
  const array = mx.array(untyped<Float32Array>(typed), options);
  return { dtype: array.dtype, values: Array.from(array.toTypedArray(), Number) };
}

describe.each([...kinds])("%s from a typed array", (dtype, Kind) => {
  const size = Kind.BYTES_PER_ELEMENT;

  scoped("of its own, and of a large one", () => {
    expect(read(filled(Kind))).toEqual({ dtype, values: [1, 2, 3, 4, 5] });
    const large = filled(Kind, undefined, 0, 100);
    expect(read(large).values).toEqual(Array.from(large, Number));
    expect(read(filled(Kind, undefined, 0, 0)).values).toEqual([]);
  });

  scoped("that is a view at an offset, and one of one", () => {
    expect(read(filled(Kind, new ArrayBuffer(size * 10), size * 3)).values).toEqual([1, 2, 3, 4, 5]);
    expect(read(untyped<AnyTyped>(filled(Kind).subarray(1, 4))).values).toEqual([2, 3, 4]);
    expect(read(untyped<AnyTyped>(filled(Kind).subarray(4, 5))).values).toEqual([5]);
    expect(read(untyped<AnyTyped>(filled(Kind).subarray(2, 2))).values).toEqual([]);
  });

  scoped("over shared and resizable memory", () => {
    expect(read(filled(Kind, new SharedArrayBuffer(size * 6), size))).toEqual({ dtype, values: [1, 2, 3, 4, 5] });
    const resizable = new ArrayBuffer(size * 8, { maxByteLength: size * 16 });
    expect(read(filled(Kind, resizable, size * 2))).toEqual({ dtype, values: [1, 2, 3, 4, 5] });
    const tracking = new (untyped<new (b: ArrayBuffer) => AnyTyped>(Kind))(resizable);
    resizable.resize(size * 3);
    expect(read(tracking).values).toEqual([0, 0, 1]);
  });

  scoped("whose memory is gone", () => {
    const typed = filled(Kind);
    structuredClone(typed.buffer, { transfer: [untyped<ArrayBuffer>(typed.buffer)] });
    expect(refusal(() => read(typed))).toBe(
      `TypeError: array: the ${Kind.name}'s buffer was transferred away: it has no data any more.`,
    );
  });

  scoped("into every other dtype", () => {
    for (const other of dtypeNames) {
      const array = mx.array(untyped<Float32Array>(filled(Kind)), { dtype: other });
      expect(array.dtype).toBe(other);
      // The bits of bfloat16 have no typed array of their own: a Uint16Array gives them.
      if (Kind === Uint16Array && other === "bfloat16") continue;
      const expected = other === "bool" ? [1, 1, 1, 1, 1] : [1, 2, 3, 4, 5];
      const values = Array.from(array.toTypedArray(), Number);
      if (other === "bfloat16") expect(array.tolist()).toEqual(expected);
      else if (other === "complex64") expect(values).toEqual([1, 0, 2, 0, 3, 0, 4, 0, 5, 0]);
      else expect(values).toEqual(expected);
    }
  });

  scoped("is a copy: later writes do not show", () => {
    const typed = filled(Kind);
    const array = mx.array(untyped<Float32Array>(typed));
    typed.fill(untyped<never>(typeof typed[0] === "bigint" ? 9n : 9));
    expect(Array.from(array.toTypedArray(), Number)).toEqual([1, 2, 3, 4, 5]);
  });
});

describe("typed arrays", () => {
  scoped("a Buffer counts as bytes, also out of the pool", () => {
    expect(read(untyped<AnyTyped>(Buffer.from([1, 2, 255])))).toEqual({ dtype: "uint8", values: [1, 2, 255] });
    expect(read(untyped<AnyTyped>(Buffer.from("abc"))).values).toEqual([97, 98, 99]);
  });

  scoped("the bits of bfloat16 go both ways", () => {
    const bits = new Uint16Array([0x3f80, 0xc000, 0x7f80, 0x0001, 0x7fc0]);
    const array = mx.array(bits, { dtype: "bfloat16" });
    expect(array.tolist()).toEqual([1, -2, Infinity, 2 ** -133, NaN]);
    expect(array.toTypedArray()).toEqual(bits);
  });

  scoped("anything but 0 is true", () => {
    expect(mx.array(new Float64Array([0, -0, NaN, 0.1]), "bool").tolist()).toEqual([false, false, true, true]);
    expect(mx.array(new Uint8Array([0, 2, 255]), "bool").tolist()).toEqual([false, true, true]);
    expect([...mx.array(new Uint8Array([0, 2, 255]), "bool").toTypedArray()].map(Number)).toEqual([0, 1, 1]);
  });

  test("values that do not fit are refused", () => {
    expect(refusal(() => mx.array(new Int32Array([1, 256]), "uint8"))).toContain("256 does not fit uint8 (0 to 255)");
    expect(refusal(() => mx.array(new Float32Array([NaN]), "int32"))).toContain("NaN does not fit int32");
    expect(refusal(() => mx.array(new BigInt64Array([-1n]), "uint64"))).toContain("-1 does not fit uint64");
    expect(refusal(() => mx.array(new Float64Array([1e30]), "int64"))).toContain("does not fit int64");
  });

  scoped("a subclass cannot speak of memory that it does not have", () => {
    class Liar extends Uint8Array<ArrayBuffer> {
      override get length(): number {
        return 1e9;
      }
      override get byteOffset(): number {
        return 4096;
      }
      override get [Symbol.toStringTag](): "Uint8Array" {
        return untyped("Float64Array");
      }
    }
    const array = mx.array(new Liar(untyped<ArrayBuffer>([1, 2, 3])));
    expect({ dtype: array.dtype, values: array.tolist() }).toEqual({ dtype: "uint8", values: [1, 2, 3] });
  });

  scoped("100 MB at once", () => {
    const source = new Float32Array(25_000_000);
    for (let i = 0; i < source.length; i += 1000) source[i] = i;
    const array = mx.array(source, { shape: [5000, 5000] });
    const copy = array.toTypedArray();
    expect(copy.length).toBe(source.length);
    expect(Buffer.compare(Buffer.from(copy.buffer), Buffer.from(source.buffer))).toBe(0);
  });
});

describe("the host's rounding is the native one", () => {
  const tricky = [
    1.00390625,
    1.01171875,
    3.3961775292304957e38,
    65519,
    65520,
    2 ** -25,
    2 ** -134,
    3 * 2 ** -134,
    0.1,
    -7.3,
  ];
  for (const dtype of ["float16", "bfloat16"] as const) {
    scoped(dtype, () => {
      const here = mx.array(tricky, { dtype });
      const there = mx.array(mx.array(tricky, { dtype: "float32" }), { dtype });
      expect(here.toTypedArray()).toEqual(there.toTypedArray());
    });
  }
});

describe("ragged lists name the path", () => {
  const cases: [value: unknown, message: string][] = [
    [[[1, 2], [3]], "value[1] should be a list of 2, and is a list of 1"],
    [[[1], [2, 3]], "value[1] should be a list of 1, and is a list of 2"],
    [[[1], 2], "value[1] should be a list of 1, and is 2"],
    [[[[1, 2]], [[3]]], "value[1][0] should be a list of 2, and is a list of 1"],
    [[[], [1]], "value[1] should be a list of 0, and is a list of 1"],
    [[[1], "x"], 'value[1] should be a list of 1, and is "x"'],
  ];
  test.each(cases)("%j", (value, message) => {
    const text = `TypeError: array: the nested lists are ragged: ${message}.`;
    expect(refusal(() => mx.array(untyped<mx.ArrayLiteral>(value)))).toBe(text);
  });

  test("a list where a number is due", () => {
    expect(refusal(() => mx.array(untyped<mx.ArrayLiteral>([1, [2]])))).toBe(
      "TypeError: array: value[1] must be a number, a bigint, a boolean or { re, im }, got [2]. The nested lists are ragged.",
    );
  });
});

describe("hostile lists", () => {
  const make = (value: unknown): mx.Array => mx.array(untyped<mx.ArrayLiteral>(value));

  test("holes are undefined", () => {
    expect(refusal(() => make([1, , 3]))).toContain("value[1] must be a number");
    expect(refusal(() => make(new Array(3)))).toContain("value[0] must be a number");
    expect(refusal(() => make([[1], , [2]]))).toContain("value[1] should be a list of 1, and is undefined");
  });

  test("a list that holds itself", () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    const text = "the lists are nested more than 256 deep, or one of them holds itself.";
    expect(refusal(() => make(cycle))).toBe(`TypeError: array: ${text}`);
    expect(refusal(() => newArrayFrom(cycle))).toBe(`TypeError: ${text}`);
    const late: unknown[] = [1];
    late.push(late);
    expect(refusal(() => make(late))).toStartWith("TypeError: array: ");
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(refusal(() => make(deep))).toBe(`TypeError: array: ${text}`);
  });

  scoped("as deep as MLX goes", () => {
    let deep: unknown = 7;
    for (let i = 0; i < 200; i++) deep = [deep];
    const array = make(deep);
    expect(array.ndim).toBe(200);
    expect(array.item()).toBe(7);
  });

  test("a trap or getter that throws comes out as it is, and nothing is left", () => {
    const mine = new Error("mine");
    const throws = (): never => {
      throw mine;
    };
    const before = functions.mlxts_live_handles();
    expect(() => make(new Proxy([1, 2], { get: throws }))).toThrow(mine);
    expect(() => make([1, new Proxy({}, { getOwnPropertyDescriptor: throws })])).toThrow(mine);
    expect(() => make(Object.defineProperty([1, 2], 1, { get: throws }))).toThrow(mine);
    expect(() => mx.array([1, 2], { shape: Object.defineProperty([2], 0, { get: throws }) })).toThrow(mine);
    const revoked = Proxy.revocable([], {});
    revoked.revoke();
    expect(() => make(revoked.proxy)).toThrow(TypeError);
    expect(functions.mlxts_live_handles()).toBe(before);
  });

  scoped("a list that changes while it is read, and a shape that does", () => {
    const shrinking: unknown[] = [1, 2, 3];
    let reads = 0;
    Object.defineProperty(shrinking, 0, {
      get() {
        // The elements are read last, after the search for Arrays and the shape.
        if (++reads === 3) shrinking.length = 2;
        return 1;
      },
    });
    expect(() => make(shrinking)).toThrow("value[2] must be a number");
    let asked = 0;
    const growing = Object.defineProperty([2], 0, { get: () => (asked++ === 0 ? 2 : 1_000_000_000) });
    expect(mx.array([1, 2], { shape: growing }).shape).toEqual([2]);
  });

  scoped("a list proxy that only forwards is a list", () => {
    expect(make(new Proxy([[1, 2]], {})).tolist()).toEqual([[1, 2]]);
  });
});

scoped("an array of lists as large as the ring of scratch memory, and larger", () => {
  for (const n of [8191, 8192, 16384, 70_000]) {
    const shape = mx.array(
      Array.from({ length: n }, (_, i) => i),
      "int32",
    );
    expect(shape.size).toBe(n);
    expect((shape.tolist() as number[])[n - 1]).toBe(n - 1);
  }
  expect(broadcast(mx.array(1), [3]).tolist()).toEqual([1, 1, 1]);
});
