// Reports from users of MLX's bindings: values that come back wrong, or not at all.
import { describe, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { said, scoped } from "../helpers.ts";

/** An array's logical values, read every way there is. */
function everyReadback(x: mx.Array): Record<string, unknown> {
  const elements: unknown[] = [];
  const walk = (part: mx.Array): void => {
    if (part.ndim === 0) elements.push(part.item());
    else for (const row of part) walk(row);
  };
  walk(x);
  const typed = x.toTypedArray();
  const bytes = new Uint8Array(typed.buffer, typed.byteOffset, typed.byteLength);
  // Safetensors end with the elements in row-major order. NumPy's files may say that theirs stand column by column.
  const file = mx.saveSafetensorsToBytes({ x });
  const npy = mx.loadFromBytes(mx.saveToBytes(x), { format: "npy" });
  return {
    typed: Array.from(typed as Float32Array),
    list: (x.tolist() as unknown[]).flat(9),
    bytes: Array.from(new Float32Array(bytes.slice().buffer)),
    elements,
    npy: (npy.tolist() as unknown[]).flat(9),
    safetensors: Array.from(new Float32Array(file.slice(-x.nbytes).buffer)),
    json: (JSON.parse(JSON.stringify(x)) as unknown[]).flat(9),
  };
}

describe("B01: strided readback is in logical order:", () => {
  const nine = (): mx.Array => mx.arange(9, { dtype: "float32" }).reshape(3, 3);
  const views: Record<string, [() => mx.Array, number[]]> = {
    transposed: [
      () =>
        mx.array([
          [1, 2, 3],
          [4, 5, 6],
        ]).T,
      [1, 4, 2, 5, 3, 6],
    ],
    "sliced columns": [() => nine().get(":", ":2"), [0, 1, 3, 4, 6, 7]],
    broadcast: [() => mx.broadcastTo(mx.array([1, 2]), [3, 2]), [1, 2, 1, 2, 1, 2]],
    reversed: [() => mx.arange(5, { dtype: "float32" }).get("::-1"), [4, 3, 2, 1, 0]],
    "a column of a transposed slice": [() => nine().T.get("1:", 1), [4, 5]],
    "a broadcast of a reversed row": [() => mx.broadcastTo(nine().get(0, "::-2"), [2, 2]), [2, 0, 2, 0]],
  };
  for (const [name, [make, expected]] of Object.entries(views)) {
    scoped(name, () => {
      const found = everyReadback(make());
      expect(found).toEqual(Object.fromEntries(Object.keys(found).map((way) => [way, expected])));
    });
  }
});

test("B02: lazy results are evaluated by reading, and describe themselves before", async () => {
  const lines = await said(`
    const c = mx.abs(mx.array([-1, 2]));
    say(c.shape, c.dtype, c.ndim, c.size, c.nbytes, c.itemsize);
    say(c.toTypedArray());
    say(mx.abs(mx.array([-1, 2])).tolist(), mx.abs(mx.array(-3)).item());
    say(mx.transpose(mx.abs(mx.array([[-1, 2]]))).toTypedArray());
  `);
  expect(lines.join("\n").replace(/\s+/g, " ")).toBe(
    "[ 2 ] float32 1 2 8 4 Float32Array(2) [ 1, 2 ] [ 1, 2 ] 3 Float32Array(2) [ 1, 2 ]",
  );
});

describe("B03: item converts by the dtype:", () => {
  const scalars: [mx.Dtype, mx.Scalar, unknown][] = [
    ["bool", true, true],
    ["uint8", 255, 255],
    ["uint16", 65535, 65535],
    ["uint32", 4294967295, 4294967295],
    ["uint64", 2n ** 64n - 1n, 2n ** 64n - 1n],
    ["int8", -128, -128],
    ["int16", -32768, -32768],
    ["int32", 7, 7],
    ["int64", -(2n ** 63n), -(2n ** 63n)],
    ["float16", 10.3125, 10.3125],
    ["bfloat16", 10.3125, 10.3125],
    ["float32", 10.3125, 10.3125],
    ["float64", 0.1, 0.1],
    ["complex64", { re: 1, im: 2 }, { re: 1, im: 2 }],
  ];
  for (const [dtype, value, expected] of scalars) {
    scoped(dtype, () => {
      const x = mx.array(value as number, { dtype });
      expect(x.dtype).toBe(dtype);
      expect(x.item()).toEqual(expected as number);
      // Of an element of a longer array too, whose buffer holds others beside it.
      const row = mx.stack([mx.zerosLike(x), x, mx.zerosLike(x)]);
      expect(row.get(1).item()).toEqual(expected as number);
    });
  }
});

describe("B20: half floats follow IEEE:", () => {
  const bits = (values: number[], dtype: "float16" | "bfloat16"): number[] => {
    const x = mx.array(values, { dtype });
    return Array.from(mx.view(x, "uint16").toTypedArray() as Uint16Array);
  };

  for (const way of ["astype", "creation"] as const) {
    const make = (values: number[], dtype: mx.Dtype): mx.Array =>
      way === "astype" ? mx.array(values, { dtype: "float32" }).astype(dtype) : mx.array(values, { dtype });
    scoped(`rounding to float16 by ${way}`, () => {
      const x = make([65504, 65519, 65520, 1e-8, 6e-8], "float16");
      expect(x.tolist()).toEqual([65504, 65504, Infinity, 0, 5.960464477539063e-8]);
      expect(Array.from(x.toTypedArray() as Float16Array)).toEqual([65504, 65504, Infinity, 0, 5.960464477539063e-8]);
    });
    scoped(`rounding to bfloat16 by ${way}`, () => {
      const values = make([1.00390625, 1.01171875, 3.4e38, NaN, -0], "bfloat16").tolist() as number[];
      expect(values).toEqual([1, 1.015625, Infinity, NaN, -0]);
      expect(Object.is(values[4], -0)).toBe(true);
    });
  }
  scoped("bits", () => {
    expect(bits([1, 10.3125, -2.5], "bfloat16")).toEqual([16256, 16677, 49184]);
    expect(bits([1, 10.3125, -2.5], "float16")).toEqual([15360, 18728, 49408]);
    expect(Array.from(mx.array([1, 10.3125, -2.5], { dtype: "bfloat16" }).toTypedArray() as Uint16Array)).toEqual([
      16256, 16677, 49184,
    ]);
  });
  scoped("nanToNum of float16", () => {
    const x = mx.array([NaN, Infinity, -Infinity, 1.5], { dtype: "float16" });
    expect(mx.nanToNum(x).tolist()).toEqual([0, 65504, -65504, 1.5]);
  });
  scoped("item keeps -0", () => {
    for (const dtype of ["float16", "bfloat16", "float32", "float64"] as const) {
      expect(Object.is(mx.array(-0, { dtype }).item(), -0)).toBe(true);
    }
  });
});
