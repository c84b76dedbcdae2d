// Quantization in all modes, masked and segmented products, dynamic slices: values that Python MLX 0.32.2 printed for
// the same arrays.
import { describe, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { refusal, scoped } from "../helpers.ts";

const pattern = (rows: number, columns: number, modulus: number, shift: number, divisor: number): mx.Array =>
  mx.divide(
    mx.subtract(mx.remainder(mx.reshape(mx.arange(rows * columns), [rows, columns]).astype("float32"), modulus), shift),
    divisor,
  );

interface Summary {
  dtype?: mx.Dtype;
  shape?: readonly number[];
  first: readonly number[];
  sum: number;
}

/** Compares the first elements and the sum with the digits that Python printed. */
function expectSummary(array: mx.Array, wanted: Summary): void {
  if (wanted.dtype !== undefined) expect(array.dtype).toBe(wanted.dtype);
  if (wanted.shape !== undefined) expect(array.shape).toEqual([...wanted.shape]);
  const flat = mx.reshape(array, [-1]).astype("float32");
  for (const [i, value] of wanted.first.entries()) expect(flat.get(i).item()).toBeCloseTo(value, 4);
  const sum = mx.sum(flat).item() as number;
  expect(Math.abs(sum - wanted.sum)).toBeLessThan(1e-4 + 2e-7 * Math.abs(wanted.sum));
}

const modes = {
  affine: {
    product: { first: [0, -0.21484, -1.58203, 0.25391], sum: -0.8008 },
    weights: { dtype: "float32", first: [-0.54688, -0.46875, -0.39062, -0.23438], sum: 13.5156 },
    gathered: { first: [0, -0.42969, -3.16406, 0.50781], sum: 24.6289 },
  },
  mxfp4: {
    product: { first: [0.09375, -0.15625, -1.46875, 0.21875], sum: -0.5 },
    weights: { dtype: "bfloat16", first: [-0.5, -0.5, -0.375, -0.25], sum: -1 },
    gathered: { first: [0.1875, -0.3125, -2.9375, 0.4375], sum: -3.5 },
  },
  mxfp8: {
    product: { first: [0.03125, -0.125, -1.65625, 0.25], sum: -0.4688 },
    weights: { dtype: "bfloat16", first: [-0.625, -0.5, -0.375, -0.25], sum: -1.125 },
    gathered: { first: [0.0625, -0.25, -3.3125, 0.5], sum: -3.6562 },
  },
  nvfp4: {
    product: { first: [0, -0.20312, -1.54883, 0.17773], sum: -0.4062 },
    weights: { dtype: "bfloat16", first: [-0.60938, -0.40625, -0.40625, -0.20312], sum: -1.0156 },
    gathered: { first: [0, -0.40625, -3.09766, 0.35547], sum: -3.25 },
  },
} as const;

describe.each(Object.entries(modes))("mode %s", (name, wanted) => {
  const mode = name as mx.QuantizationMode;
  const quantized = (w: mx.Array): [mx.Array, mx.Array, mx.Array | undefined] => {
    const [packed, scales, biases] = mx.quantize(w, { mode }) as readonly mx.Array[];
    return [packed!, scales!, biases];
  };

  scoped("quantizedMatmul and dequantize", () => {
    const [x, w] = [pattern(2, 64, 7, 3, 4), pattern(32, 64, 11, 5, 8)];
    const [packed, scales, biases] = quantized(w);
    const product = mx.quantizedMatmul(x, packed, scales, biases ?? null, { mode });
    expectSummary(product, { dtype: "float32", shape: [2, 32], ...wanted.product });
    const weights = mx.dequantize(packed, scales, biases ?? null, { mode });
    expectSummary(weights, { shape: [32, 64], ...wanted.weights });
  });

  scoped("gatherQmm picks a matrix for each row block", () => {
    const [x, w] = [pattern(2, 64, 7, 3, 4), pattern(32, 64, 11, 5, 8)];
    const [packed, scales, biases] = quantized(mx.stack([w, mx.multiply(w, 2)]));
    const options = { lhsIndices: [0, 1], rhsIndices: [1, 0], mode };
    const result = mx.gatherQmm(mx.stack([x, mx.add(x, 1)]), packed, scales, biases ?? null, options);
    expectSummary(result, { dtype: "float32", shape: [2, 2, 32], ...wanted.gathered });
  });

  scoped("qqmm and gatherQqmm exist for GPUs only: an error, as in Python on a CPU", () => {
    const [x, w] = [pattern(2, 64, 7, 3, 4), pattern(32, 64, 11, 5, 8)];
    const [packed, scales] = quantized(w);
    const [many, manyScales] = quantized(mx.stack([w, w]));
    const pair = mx.stack([x, x]);
    // An array that takes part in a failed evaluation has no value afterwards.
    mx.eval(x, w, packed, scales, many, manyScales, pair);
    if (mode === "affine") {
      // On a GPU, MLX reads outside of the arrays: nothing computes in the process afterwards.
      const refused = 'mode must be "mxfp4", "mxfp8" or "nvfp4", got "affine".';
      expect(refusal(() => mx.qqmm(x, packed, scales, { mode }))).toBe(`RangeError: qqmm: ${refused}`);
      expect(refusal(() => mx.qqmm(x, w, { mode }))).toBe(`RangeError: qqmm: ${refused}`);
      const both = { lhsIndices: [0], rhsIndices: [1], mode };
      expect(refusal(() => mx.gatherQqmm(pair, many, manyScales, both))).toBe(`RangeError: gatherQqmm: ${refused}`);
      return;
    }
    expect(refusal(() => mx.qqmm(x, packed, mx.take(scales, [0], 0), { mode }))).toContain(
      "RangeError: qqmm: scales of shape",
    );
    expect(refusal(() => mx.eval(mx.qqmm(x, packed, scales, { mode })))).toContain("[QQMatmul] NYI");
    expect(refusal(() => mx.eval(mx.qqmm(x, w, { mode })))).toContain("[QQMatmul] NYI");
    const gather = { lhsIndices: [0], rhsIndices: [1], mode };
    expect(refusal(() => mx.eval(mx.gatherQqmm(pair, many, manyScales, gather)))).toContain("[GatherQQMM] NYI");
  });
});

describe("products of parts", () => {
  const square = (): mx.Array => mx.divide(mx.reshape(mx.arange(4096), [64, 64]).astype("float32"), 1000);

  scoped("blockMaskedMm with a mask of the result, and of both operands", () => {
    const a = square();
    const maskOut = mx.array([
      [true, false],
      [true, true],
    ]);
    const masked = mx.blockMaskedMm(a, a, 32, { maskOut });
    expectSummary(masked, {
      dtype: "float32",
      shape: [64, 64],
      first: [5.46202, 5.46403, 5.46605, 5.46806],
      sum: 964857,
    });
    expect(masked.get(0, 32).item()).toBe(0);
    const weights = mx.array([
      [1, 2],
      [0, 1],
    ]);
    const weighted = mx.blockMaskedMm(a, a, 32, { maskLhs: weights, maskRhs: weights });
    expectSummary(weighted, { first: [0.66662, 0.66712, 0.66762, 0.66811], sum: 625670.75 });
  });

  scoped("segmentedMm multiplies ranges of the inner axis", () => {
    const a = mx.reshape(mx.arange(6), [2, 3]).astype("float32");
    const b = mx.reshape(mx.arange(6), [3, 2]).astype("float32");
    const segments = [
      [0, 1],
      [1, 3],
    ];
    const result = mx.segmentedMm(a, b, segments);
    expectSummary(result, { dtype: "float32", shape: [2, 2, 2], first: [0, 0, 0, 3], sum: 91 });
  });

  scoped("slice and sliceUpdate begin where an array says", () => {
    const a = square();
    const start = mx.array([1, 2], { dtype: "int32" });
    expectSummary(mx.slice(a, start, [0, 1], [2, 2]), {
      first: [0.066, 0.067, 0.13, 0.131],
      sum: 0.394,
    });
    const updated = mx.sliceUpdate(a, mx.ones([2, 2]), start, [0, 1]);
    expect(updated.get("1:3", "2:4").tolist()).toEqual([
      [1, 1],
      [1, 1],
    ]);
    expectSummary(updated, { first: [0, 0.001, 0.002, 0.003], sum: 8390.165 });
  });
});

test("finfo and iinfo refuse the other kind", () => {
  expect(refusal(() => mx.finfo("int32"))).toBe('TypeError: finfo: dtype must be a floating-point dtype, got "int32".');
  expect(refusal(() => mx.iinfo("bool"))).toBe('TypeError: iinfo: dtype must be an integer dtype, got "bool".');
});

scoped("scales and biases have one row for each of w's: MLX would read on past their end", () => {
  const w = mx.zeros([4, 4], { dtype: "uint32" });
  const [few, right, x] = [mx.ones([1, 1]), mx.ones([4, 1]), mx.ones([1, 32])];
  const options = { groupSize: 32, bits: 4 };
  expect(refusal(() => mx.quantizedMatmul(x, w, few, few, options))).toBe(
    "RangeError: quantizedMatmul: scales of shape [1, 1] must have one row for each of w's, of shape [4, 4].",
  );
  expect(refusal(() => mx.quantizedMatmul(x, w, right, few, options))).toContain(
    "quantizedMatmul: biases of shape [1, 1]",
  );
  expect(mx.quantizedMatmul(x, w, right, right, options).tolist()).toEqual([[32, 32, 32, 32]]);
  const stacked = [mx.ones([1, 1, 32]), w.reshape([1, 4, 4]), mx.ones([1, 1, 1]), mx.ones([1, 1, 1])] as const;
  expect(refusal(() => mx.gatherQmm(...stacked, options))).toContain("gatherQmm: scales of shape [1, 1, 1]");
});
