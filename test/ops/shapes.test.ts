// Operations on shapes and the picking of elements, with what their hand-written bodies add to MLX.
import { expect } from "bun:test";
import * as mx from "../../src/index.ts";
import { caught, refusal, scoped, untyped } from "../helpers.ts";

const grid = (): mx.Array => mx.arange(12).reshape(3, 4);
const i32 = (values: readonly unknown[]): mx.Array => mx.array(values as number[], { dtype: "int32" });

scoped("take: plain integers, lists, arrays", () => {
  const x = grid();
  expect(mx.take(x, 5).tolist()).toBe(5);
  expect(mx.take(x, [0, -1]).tolist()).toEqual([0, 11]);
  expect(
    mx.take(
      x,
      [
        [0, 1],
        [2, 0],
      ],
      0,
    ).shape,
  ).toEqual([2, 2, 4]);
  expect(mx.take(x, -1, { axis: 1 }).tolist()).toEqual([3, 7, 11]);
  expect(mx.take(x, i32([2, 0]), 0).tolist()).toEqual([
    [8, 9, 10, 11],
    [0, 1, 2, 3],
  ]);
  expect(x.take([1], 0).tolist()).toEqual([[4, 5, 6, 7]]);
});

scoped("take: a plain index out of range is a RangeError, a fraction too", () => {
  const x = grid();
  expect(refusal(() => mx.take(x, 12))).toBe("RangeError: take: indices is 12, out of range for an axis of length 12.");
  expect(refusal(() => mx.take(x, [0, -4], 0))).toContain(
    "take: indices[1] is -4, out of range for an axis of length 3",
  );
  expect(caught(() => mx.take(x, 1n << 40n, 0))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.take(x, 0.5))).toBeInstanceOf(RangeError);
  expect(refusal(() => mx.take(x, 0, 2))).toBe("RangeError: take: axis 2 is out of range for an array of 2 axes.");
  expect(caught(() => mx.take(mx.zeros([0]), 0))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.take(x, mx.array([0.5])))).toBeInstanceOf(mx.MlxError);
  expect(caught(() => mx.take(x, untyped("0")))).toBeInstanceOf(TypeError);
});

scoped("takeAlongAxis and putAlongAxis, along an axis and flat", () => {
  const x = grid();
  expect(mx.takeAlongAxis(x, [[0], [1], [2]], 1).tolist()).toEqual([[0], [5], [10]]);
  expect(mx.takeAlongAxis(x, [11, 0]).tolist()).toEqual([11, 0]);
  expect(mx.putAlongAxis(x, [[0], [1], [2]], 9, 1).tolist()).toEqual([
    [9, 1, 2, 3],
    [4, 9, 6, 7],
    [8, 9, 9, 11],
  ]);
  expect(mx.putAlongAxis(x, [0, 11], i32([7, 8])).tolist()).toEqual([
    [7, 1, 2, 3],
    [4, 5, 6, 7],
    [8, 9, 10, 8],
  ]);
  expect(mx.putAlongAxis(x, [[0], [0], [0]], mx.array(9.5), 1).dtype).toBe("int32");
  expect(caught(() => mx.takeAlongAxis(x, [[4]], 1))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.putAlongAxis(x, [12], 1))).toBeInstanceOf(RangeError);
});

scoped("pad: four forms of the width", () => {
  const x = i32([1, 2, 3]);
  const padded = (width: Parameters<typeof mx.pad>[1], mode?: "edge" | "reflect" | "symmetric"): unknown =>
    mx.pad(x, width, mode).tolist();
  expect(padded(1)).toEqual([0, 1, 2, 3, 0]);
  expect(padded([1])).toEqual([0, 1, 2, 3, 0]);
  expect(padded([1, 2])).toEqual([0, 1, 2, 3, 0, 0]);
  expect(padded([[1, 2]])).toEqual([0, 1, 2, 3, 0, 0]);
  expect(padded(1, "edge")).toEqual([1, 1, 2, 3, 3]);
  expect(padded(1, "reflect")).toEqual([2, 1, 2, 3, 2]);
  expect(padded(1, "symmetric")).toEqual([1, 1, 2, 3, 3]);
  expect(mx.pad(x, 1, { constantValues: 2.5 }).tolist()).toEqual([2, 1, 2, 3, 2]);
  const y = grid();
  expect(mx.pad(y, [1, 2]).shape).toEqual([6, 7]);
  expect(mx.pad(y, [[1, 2]]).shape).toEqual([6, 7]);
  expect(
    mx.pad(y, [
      [1, 2],
      [0, 0],
    ]).shape,
  ).toEqual([6, 4]);
});

scoped("pad: what is refused", () => {
  const y = grid();
  expect(
    refusal(() =>
      mx.pad(y, [
        [1, 1],
        [0, 0],
        [1, 1],
      ]),
    ),
  ).toBe("RangeError: pad: padWidth has 3 pairs for an array of 2 axes.");
  for (const width of [[1, 2, 3], [[1], [2]], [], [[1, 2, 3]], "1", null, [[1, "2"]]]) {
    expect(caught(() => mx.pad(y, untyped(width)))).toBeInstanceOf(TypeError);
  }
  expect(caught(() => mx.pad(y, -1))).toBeInstanceOf(mx.MlxError);
  expect(caught(() => mx.pad(y, 1, untyped("mirror")))).toBeInstanceOf(mx.MlxError);
  expect(caught(() => mx.pad(mx.zeros([1], "uint8"), 1, { constantValues: 300 }))).toBeInstanceOf(RangeError);
});

scoped("roll: every mixture of shift and axis", () => {
  const x = grid();
  const first = (rolled: mx.Array): unknown => (rolled.tolist() as number[][])[0];
  expect(mx.roll(i32([1, 2, 3]), 1).tolist()).toEqual([3, 1, 2]);
  expect(first(mx.roll(x, 1, 0))).toEqual([8, 9, 10, 11]);
  expect(first(mx.roll(x, [1, 2], [0, 1]))).toEqual([10, 11, 8, 9]);
  expect(first(mx.roll(x, 1, [0, 1]))).toEqual([11, 8, 9, 10]);
  expect(first(mx.roll(x, [1, 2], 0))).toEqual([0, 1, 2, 3]);
  expect(first(mx.roll(x, [1, 2]))).toEqual([9, 10, 11, 0]);
  expect(first(x.roll(1, { axis: 0 }))).toEqual([8, 9, 10, 11]);
  expect(caught(() => mx.roll(x, 1, 5))).toBeInstanceOf(mx.MlxError);
  expect(caught(() => mx.roll(x, 0.5))).toBeInstanceOf(Error);
});

scoped("split by number and by indices, unstack, concatenate, stack", () => {
  const x = grid();
  expect(mx.split(x, 3).map((part) => part.shape)).toEqual([
    [1, 4],
    [1, 4],
    [1, 4],
  ]);
  expect(mx.split(x, [1, 3], 1).map((part) => part.shape)).toEqual([
    [3, 1],
    [3, 2],
    [3, 1],
  ]);
  expect(mx.split(x, { indicesOrSections: 2, axis: 1 }).length).toBe(2);
  expect(caught(() => mx.split(x, 5))).toBeInstanceOf(mx.MlxError);
  expect(mx.unstack(x, { axis: 1 }).map((part) => part.tolist())[1]).toEqual([1, 5, 9]);
  expect(mx.concatenate([x, 2.5 as unknown as mx.Array].slice(0, 1), null).shape).toEqual([12]);
  expect(mx.concatenate([x, x], 1).shape).toEqual([3, 8]);
  expect(mx.stack([x, x], { axis: -1 }).shape).toEqual([3, 4, 2]);
  expect(mx.stack([1, 2]).tolist()).toEqual([1, 2]);
  expect(refusal(() => mx.concatenate([x], 5))).toBe(
    "RangeError: concatenate: axis 5 is out of range for an array of 2 axes.",
  );
  expect(caught(() => mx.concatenate([]))).toBeInstanceOf(mx.MlxError);
  expect(caught(() => mx.concatenate(untyped(x)))).toBeInstanceOf(TypeError);
});

scoped("diagonal, diag and trace; a diagonal outside of the array is empty", () => {
  const x = grid();
  expect(mx.diagonal(x, 1).tolist()).toEqual([1, 6, 11]);
  expect(mx.diag(mx.array([1, 2]), 1).shape).toEqual([3, 3]);
  expect(mx.trace(x).item()).toBe(15);
  expect(mx.trace(x, { offset: 1, dtype: "float16" }).dtype).toBe("float16");
  expect(mx.trace(x.astype("uint8")).dtype).toBe("uint32");
  expect(mx.trace(x.astype("bool")).dtype).toBe("int32");
  const cube = mx.ones([2, 3, 3]);
  expect(mx.diagonal(cube, 64).shape).toEqual([3, 0]);
  expect(mx.diagonal(cube, -4, -1, 0).shape).toEqual([3, 0]);
  expect(mx.trace(cube, 64).tolist()).toEqual([0, 0, 0]);
  expect(mx.trace(cube, -4).tolist()).toEqual([0, 0, 0]);
  expect(mx.trace(mx.zeros([0, 0])).item()).toBe(0);
  expect(caught(() => mx.trace(mx.array([1])))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.diagonal(x, 0, 0, 2))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.diagonal(x, 9, 1, -1))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.diagonal(x, 0, 1, 1))).toBeInstanceOf(mx.MlxError);
});

scoped("asStrided: defaults, and a view that would leave the array", () => {
  const x = grid();
  expect(mx.asStrided(x).shape).toEqual([3, 4]);
  expect(mx.asStrided(x, [2, 2], [1, 1], 3).tolist()).toEqual([
    [3, 4],
    [4, 5],
  ]);
  expect(mx.asStrided(x, { shape: [2], strides: [-1], offset: 5 }).tolist()).toEqual([5, 4]);
  expect(mx.asStrided(x.T, [2], [1]).tolist()).toEqual([0, 4]);
  expect(mx.asStrided(x, [0], [100], 11).shape).toEqual([0]);
  expect(refusal(() => mx.asStrided(x, [2], [12]))).toBe(
    "RangeError: asStrided: the view reaches elements 0 to 12 of an array that has 12 elements.",
  );
  expect(caught(() => mx.asStrided(x, [2], [-1], 0))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.asStrided(x, [2, 2], [1]))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.asStrided(x, [-2], [1]))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.asStrided(x, [2], [1], -1))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.asStrided(x, [2], [1], untyped("1")))).toBeInstanceOf(TypeError);
  expect(caught(() => mx.asStrided(x, [2 ** 30, 2 ** 30], [2 ** 40, 2 ** 40]))).toBeInstanceOf(RangeError);
});

scoped("slice and sliceUpdate: starts as numbers, lists and arrays", () => {
  const x = grid();
  expect(mx.slice(x, 1, [0], [1, 4]).tolist()).toEqual([[4, 5, 6, 7]]);
  expect(mx.slice(x, [0, 1], [0, 1], [2, 2]).tolist()).toEqual([
    [1, 2],
    [5, 6],
  ]);
  expect(mx.slice(x, i32([1]), [0], [1, 4]).tolist()).toEqual([[4, 5, 6, 7]]);
  expect(mx.sliceUpdate(x, mx.zeros([2, 2], "int32"), [1, 1], [0, 1]).tolist()).toEqual([
    [0, 1, 2, 3],
    [4, 0, 0, 7],
    [8, 0, 0, 11],
  ]);
  expect(mx.sliceUpdate(x, 7, i32([2]), [0]).tolist()).toEqual([
    [0, 1, 2, 3],
    [4, 5, 6, 7],
    [7, 7, 7, 7],
  ]);
});

scoped("slice and sliceUpdate: a start that would leave the array", () => {
  const x = grid();
  expect(refusal(() => mx.slice(x, 3, [0], [1, 4]))).toContain("RangeError: slice: startIndices[0] is 3");
  expect(caught(() => mx.slice(x, -1, [0], [1, 4]))).toBeInstanceOf(RangeError);
  expect(mx.slice(x, i32([-5]), [0], [1, 4]).tolist()).toEqual([[0, 1, 2, 3]]);
  expect(mx.slice(x, i32([100]), [0], [1, 4]).tolist()).toEqual([[8, 9, 10, 11]]);
  expect(mx.sliceUpdate(x, mx.zeros([1, 4], "int32"), i32([100]), [0]).tolist()).toEqual([
    [0, 1, 2, 3],
    [4, 5, 6, 7],
    [0, 0, 0, 0],
  ]);
  expect(caught(() => mx.slice(x, 0, [0], [5, 4]))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.slice(x, 0, [7], [1, 4]))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.slice(x, i32([0, 0]), [0], [1, 4]))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.sliceUpdate(x, mx.zeros([4, 4]), 0, [0]))).toBeInstanceOf(RangeError);
});

scoped("any number of arrays: meshgrid, broadcastArrays, atleast", () => {
  const [x, y] = mx.meshgrid(mx.arange(2), mx.arange(3)) as [mx.Array, mx.Array];
  expect([x.shape, y.tolist()]).toEqual([
    [3, 2],
    [
      [0, 0],
      [1, 1],
      [2, 2],
    ],
  ]);
  expect(mx.meshgrid(mx.arange(2), mx.arange(3), { indexing: "ij", sparse: true }).map((g) => g.shape)).toEqual([
    [2, 1],
    [1, 3],
  ]);
  expect(mx.meshgrid()).toEqual([]);
  expect(caught(() => mx.meshgrid(mx.arange(2), untyped<mx.MeshgridOptions>({ index: "ij" })))).toBeInstanceOf(
    TypeError,
  );
  expect(mx.broadcastArrays(mx.zeros([2, 1]), mx.zeros([3]), 5).map((a) => a.shape)).toEqual([
    [2, 3],
    [2, 3],
    [2, 3],
  ]);
  expect(mx.atleast1d(5).shape).toEqual([1]);
  expect(mx.atleast2d(mx.arange(3), { stream: "cpu" }).shape).toEqual([1, 3]);
  expect(mx.atleast3d(mx.arange(3), grid()).map((a) => a.shape)).toEqual([
    [1, 3, 1],
    [3, 4, 1],
  ]);
  expect(mx.atleast1d()).toEqual([]);
  expect(caught(() => mx.atleast1d(untyped([mx.array([1])])))).toBeInstanceOf(TypeError);
});

scoped("depends keeps the form of what it gets", () => {
  const x = mx.array([1]);
  const y = mx.array([2]);
  expect((mx.depends(x, y) as mx.Array).tolist()).toEqual([1]);
  expect((mx.depends([x, y], x) as mx.Array[]).map((a) => a.tolist())).toEqual([[1], [2]]);
  expect(mx.depends([], [x])).toEqual([]);
});

scoped("where and clip: scalars are weak", () => {
  const half = mx.array([1, 2, 3], "float16");
  const small = mx.array([1, 2, 3], "uint8");
  expect(mx.where(mx.array([true, false, true]), half, 2).dtype).toBe("float16");
  expect(mx.where(true, 1, 0).dtype).toBe("int32");
  expect(mx.where(true, mx.float(1), 0).dtype).toBe("float32");
  expect(mx.where(0, 1, 2).item()).toBe(2);
  expect(mx.clip(half, 0, 2).tolist()).toEqual([1, 2, 2]);
  expect(mx.clip(half, 0, 2).dtype).toBe("float16");
  expect(mx.clip(small, null, 2).tolist()).toEqual([1, 2, 2]);
  expect(mx.clip(small, 1.5, null).dtype).toBe("float32");
  expect(refusal(() => mx.clip(small, null, null))).toBe("TypeError: clip: one of aMin and aMax must be given.");
  expect(caught(() => mx.clip(small, 0, 300))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.where(true, small, 300))).toBeInstanceOf(RangeError);
  expect(refusal(() => mx.where(true, 1, untyped("2")))).toContain("TypeError: where: y must be an Array or a scalar");
});
