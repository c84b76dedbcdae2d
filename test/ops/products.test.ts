// Products, convolutions and quantized matrices, against constants of Python MLX 0.32.2.
import { expect } from "bun:test";
import * as mx from "../../src/index.ts";
import { caught, refusal, scoped, untyped } from "../helpers.ts";
import { expectNear } from "./near.ts";

const x4 = (): mx.Array => mx.array([1, 2, 3, 4]);

scoped("tensordot: a number of axes, or a list for each operand", () => {
  const a = mx.arange(12).reshape(3, 4).astype("float32");
  const v = x4();
  expect(mx.tensordot(a, v, 1).tolist()).toEqual([20, 60, 100]);
  expect(mx.tensordot(a, v, [[1], [0]]).tolist()).toEqual([20, 60, 100]);
  expect(mx.tensordot(a, a).item()).toBe(506);
  expect(mx.tensordot(a, a, { axes: 0 }).shape).toEqual([3, 4, 3, 4]);
  expect(refusal(() => mx.tensordot(a, v, untyped([1, 0])))).toBe(
    "TypeError: tensordot: axes must be an integer or two lists of axes, got [1, 0].",
  );
  expect(caught(() => mx.tensordot(a, v, -1))).toBeInstanceOf(mx.MlxError);
  expect(caught(() => mx.tensordot(a, v, [[0.5], [0]]))).toBeInstanceOf(RangeError);
});

scoped("einsum", () => {
  const a = mx.arange(12).reshape(3, 4).astype("float32");
  expect(mx.einsum("ij,j->i", a, x4()).tolist()).toEqual([20, 60, 100]);
  expect(mx.einsum("ij->ji", a, { stream: "cpu" }).shape).toEqual([4, 3]);
  expect(caught(() => mx.einsum("ij,j->i", a))).toBeInstanceOf(mx.MlxError);
  expect(caught(() => mx.einsum(untyped(a)))).toBeInstanceOf(TypeError);
  expect(refusal(() => mx.einsum("i\0", a))).toContain("NUL");
});

scoped("scalars beside arrays are weak in products too", () => {
  const half = mx.array([1, 2], "float16");
  expect(mx.outer(half, 2.5).dtype).toBe("float16");
  expect(mx.kron(2, half).tolist()).toEqual([2, 4]);
  expect(refusal(() => mx.arctan2(half, 1 as never))).toStartWith("TypeError: arctan2: b must be an Array, got 1.");
  expect(mx.arctan2(half, half).dtype).toBe("float16");
  expect(mx.isclose(half, 1).tolist()).toEqual([true, false]);
  expect(caught(() => mx.matmul(half, 2))).toBeInstanceOf(mx.MlxError);
});

scoped("convolve", () => {
  const x = x4();
  expect(mx.convolve(x, mx.array([1, 0, -1])).tolist()).toEqual([1, 2, 2, 2, -3, -4]);
  expect(mx.convolve(x, mx.array([1, 2]), "same").tolist()).toEqual([1, 4, 7, 10]);
  expect(mx.convolve(mx.array([1, 2]), x, { mode: "valid" }).tolist()).toEqual([4, 7, 10]);
  expect(mx.convolve(x.astype("float16"), mx.array([1])).dtype).toBe("float32");
  expect(refusal(() => mx.convolve(x, x, untyped("FULL")))).toContain(
    'mode must be "full", "same" or "valid", got "FULL"',
  );
  expect(refusal(() => mx.convolve(x, mx.zeros([0])))).toBe("RangeError: convolve: v is empty.");
  expect(caught(() => mx.convolve(mx.zeros([2, 2]), x))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.convolve(x, 2))).toBeInstanceOf(RangeError);
});

scoped("convolutions: one integer or one for each direction", () => {
  const x = x4().reshape(1, 4, 1);
  expect(mx.conv1d(x, mx.array([1, 2]).reshape(1, 2, 1)).tolist()).toEqual([[[5], [8], [11]]]);
  const image = mx.arange(9).reshape(1, 3, 3, 1).astype("float32");
  expect(
    mx
      .conv2d(image, mx.ones([1, 2, 2, 1]), [1, 2], 1)
      .reshape(-1)
      .tolist(),
  ).toEqual([0, 3, 3, 12, 9, 24, 6, 15]);
  expect(
    mx
      .convTranspose1d(x, mx.ones([1, 2, 1]), 2, { outputPadding: 1 })
      .reshape(-1)
      .tolist(),
  ).toEqual([1, 1, 2, 2, 3, 3, 4, 4, 0]);
  const w = mx.array([1, 2]).reshape(1, 2, 1);
  expect(
    mx
      .convGeneral(x, w, { padding: [[1], [0]], flip: true })
      .reshape(-1)
      .tolist(),
  ).toEqual([1, 4, 7, 10]);
  expect(mx.convGeneral(x, w, { padding: [1] }).shape).toEqual([1, 5, 1]);
  expect(refusal(() => mx.conv2d(image, mx.ones([1, 2, 2, 1]), untyped([1])))).toBe(
    "RangeError: conv2d: stride must be an integer or a list of 2 integers, got [1].",
  );
  expect(refusal(() => mx.conv1d(x, w, 1, 0, 1, 0))).toBe("RangeError: conv1d: groups must be 1 or more, got 0.");
  expect(refusal(() => mx.conv1d(mx.zeros([1, 4, 0]), mx.zeros([1, 2, 0])))).toBe(
    "RangeError: conv1d: weight has no elements.",
  );
  expect(caught(() => mx.convGeneral(x, w, { groups: 0 }))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.conv1d(x, w, 0))).toBeInstanceOf(mx.MlxError);
});

scoped("quantize gives as many arrays as the mode says", () => {
  const w = mx.remainder(mx.arange(128), 7).reshape(2, 64).astype("float32");
  const [wq, scales, biases] = mx.quantize(w, { groupSize: 64, bits: 4 });
  expectNear(scales, "float32", [[-0.4], [-0.4]]);
  expectNear(biases, "float32", [[6], [6]]);
  expect([wq.dtype, wq.shape, mx.take(wq, [0, 1], 1).tolist()]).toEqual([
    "uint32",
    [2, 8],
    [
      [4028992207, 3473037484],
      [3473037484, 2901419402],
    ],
  ]);
  const back = mx.dequantize(wq, scales, biases, 64, 4);
  expectNear(mx.take(mx.take(back, 0, 0), [0, 1, 2, 3, 4]), "float32", [0, 1.2, 2, 2.8, 4]);
  expectNear(mx.quantizedMatmul(mx.ones([1, 64]), wq, scales, biases), "float32", [[190.8, 192]]);
  expectNear(mx.quantizedMatmul(mx.ones([1, 64]), wq, { scales, biases, mode: "affine" }), "float32", [[190.8, 192]]);
  const [fq, fscales, ...none] = mx.quantize(w, { mode: "mxfp4" });
  expect([fq.shape, fscales.dtype, none]).toEqual([[2, 8], "uint8", []]);
  expect(mx.quantize(w, 32, 8, "affine").length).toBe(3);
  expect(mx.quantize(w, 32, { bits: 8 })[0].shape).toEqual([2, 16]);
});

scoped("quantized matrices: sizes that MLX would divide by", () => {
  const w = mx.ones([2, 64]);
  const [wq, scales, biases] = mx.quantize(w);
  expect(refusal(() => mx.quantize(w, 0))).toBe("RangeError: quantize: groupSize must be 1 or more, got 0.");
  expect(caught(() => mx.quantize(w, { bits: -4 }))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.dequantize(wq, scales, biases, 64, 0))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.quantizedMatmul(w, wq, scales, biases, true, 0))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.quantizedMatmul(mx.zeros([0, 64]), wq, scales, biases))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.quantize(w, 33))).toBeInstanceOf(mx.MlxError);
  expect(caught(() => mx.quantize(w, { mode: untyped("int4") }))).toBeInstanceOf(mx.MlxError);
  expect(caught(() => mx.quantize(w, untyped({ group_size: 64 })))).toBeInstanceOf(TypeError);
  expect(caught(() => mx.gatherQqmm(w, wq))).toBeInstanceOf(TypeError);
});

scoped("products with matrices picked by index", () => {
  const a = mx.arange(8).reshape(2, 2, 2).astype("float32");
  const b = mx.ones([2, 2, 2]);
  expect(mx.gatherMm(a, b, [1, 0], [0, 1]).tolist()).toEqual([
    [
      [9, 9],
      [13, 13],
    ],
    [
      [1, 1],
      [5, 5],
    ],
  ]);
  expect(mx.gatherMm(a, b, { rhsIndices: mx.array([0, 0], "uint32") }).shape).toEqual([2, 2, 2]);
  expect(refusal(() => mx.gatherMm(a, b, [2], [0]))).toBe(
    "RangeError: gatherMm: lhsIndices[0] is 2, and there are 2 to pick from.",
  );
  expect(caught(() => mx.gatherMm(a, b, [0], [-1]))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.gatherMm(mx.zeros([0, 2, 2]), b))).toBeInstanceOf(RangeError);
  const s = mx.arange(8).reshape(2, 4).astype("float32");
  expect(
    mx
      .segmentedMm(s, mx.ones([4, 2]), [
        [0, 2],
        [2, 4],
      ])
      .tolist(),
  ).toEqual([
    [
      [1, 1],
      [9, 9],
    ],
    [
      [5, 5],
      [13, 13],
    ],
  ]);
  expect(caught(() => mx.segmentedMm(s, mx.ones([4, 2]), [[0, 9]]))).toBeInstanceOf(RangeError);
});

scoped("addmm, blockMaskedMm, vecdot, hadamard", () => {
  expect(mx.addmm(1, mx.ones([2, 3]), mx.ones([3, 2]), 2, 3).tolist()).toEqual([
    [9, 9],
    [9, 9],
  ]);
  expect(mx.addmm(1, mx.ones([1, 1]), mx.ones([1, 1]), { beta: 0 }).item()).toBe(1);
  expect(
    mx
      .blockMaskedMm(mx.ones([32, 32]), mx.ones([32, 32]), 32, mx.zeros([1, 1]))
      .sum()
      .item(),
  ).toBe(0);
  expect(mx.vecdot(x4(), x4()).item()).toBe(30);
  expect(mx.hadamardTransform(x4()).tolist()).toEqual([5, -1, -2, 0]);
  expect(mx.hadamardTransform(x4(), { scale: 1 }).tolist()).toEqual([10, -2, -4, 0]);
});

scoped("8-bit floats", () => {
  const packed = mx.toFp8(mx.array([1, 2, 3]));
  expect([packed.dtype, packed.tolist()]).toEqual(["uint8", [56, 64, 68]]);
  expect([mx.fromFp8(packed).dtype, mx.fromFp8(packed, "float32").tolist()]).toEqual(["bfloat16", [1, 2, 3]]);
});
