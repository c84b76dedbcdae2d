// What ends the process, hangs, or writes past an array in MLX itself: refused, or answered without asking it. Were one
// of these not caught, this file's process would die.
import { expect } from "bun:test";
import * as mx from "../../src/index.ts";
import { caught, scoped, untyped } from "../helpers.ts";

const ints = (values: readonly number[], dtype: mx.Dtype = "int32"): mx.Array =>
  mx.array(values as number[], { dtype });

scoped("integer division by zero gives 0, in every integer dtype and in bool", () => {
  const dtypes: readonly mx.Dtype[] = [
    "bool",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
  ];
  for (const dtype of dtypes) {
    const one = mx.ones([1], dtype);
    const zero = mx.zeros([1], dtype);
    for (const result of [mx.floorDivide(one, zero), mx.remainder(one, zero), ...mx.divmod(one, zero)]) {
      expect(Number((result.tolist() as unknown[])[0])).toBe(0);
      expect(result.dtype).toBe(dtype);
    }
  }
  expect(mx.floorDivide(5, 0).item()).toBe(0);
  expect(mx.remainder(ints([5]), false).tolist()).toEqual([0]);
});

scoped("the least integer divided by -1 wraps", () => {
  const least = ints([-2147483648, 7]);
  expect(mx.floorDivide(least, -1).tolist()).toEqual([-2147483648, -7]);
  expect(mx.remainder(least, ints([-1, -1])).tolist()).toEqual([0, 0]);
  expect(mx.divmod(least, -1).map((part) => part.tolist())).toEqual([
    [-2147483648, -7],
    [0, 0],
  ]);
  const wide = mx.array([-(2n ** 63n), 7n]);
  expect(mx.floorDivide(wide, -1).tolist()).toEqual([-(2n ** 63n), -7n]);
});

scoped("other divisions are MLX's own", () => {
  expect(mx.divmod(ints([7, -7]), 2).map((part) => part.tolist())).toEqual([
    [3, -4],
    [1, 1],
  ]);
  expect(mx.floorDivide(mx.array([5.5]), 0).tolist()).toEqual([Infinity]);
  expect(mx.remainder(mx.array([5.5]), 2).tolist()).toEqual([1.5]);
  expect(mx.floorDivide(ints([5]), 0.5).dtype).toBe("float32");
  expect(mx.floorDivide(ints([200], "uint8"), 7).tolist()).toEqual([28]);
  expect(
    ints([7])
      .remainder(ints([4]))
      .tolist(),
  ).toEqual([3]);
  expect(caught(() => mx.remainder({ re: 1, im: 1 }, 2))).toBeInstanceOf(mx.MlxError);
  expect(caught(() => mx.floorDivide(ints([1, 2]), ints([1, 2, 0])))).toBeInstanceOf(mx.MlxError);
});

scoped("scans and sorts of arrays without elements", () => {
  const flat = mx.zeros([0]);
  const tall = mx.zeros([2, 0]);
  for (const scan of [mx.cumsum, mx.cumprod, mx.cummax, mx.cummin, mx.logcumsumexp]) {
    expect(scan(flat).shape).toEqual([0]);
    expect(scan(tall).shape).toEqual([0]);
    expect(scan(tall, 1).shape).toEqual([2, 0]);
    expect(caught(() => scan(tall, 2))).toBeInstanceOf(RangeError);
  }
  expect(mx.cumsum(mx.zeros([0], "bool")).dtype).toBe("int32");
  expect(mx.cummax(mx.zeros([0], "bool")).dtype).toBe("bool");
  expect(mx.cumprod(flat, { dtype: "int8" }).dtype).toBe("int8");
  expect(mx.logcumsumexp(mx.zeros([0], "int32")).dtype).toBe("float32");
  for (const sort of [mx.sort, mx.argsort]) {
    expect(sort(tall).shape).toEqual([2, 0]);
    expect(sort(tall, null).shape).toEqual([0]);
    expect(sort(mx.zeros([0, 3]), { axis: 0 }).shape).toEqual([0, 3]);
    expect(caught(() => sort(tall, 5))).toBeInstanceOf(RangeError);
  }
  expect(mx.argsort(tall).dtype).toBe("uint32");
  expect(mx.random.permutation(0).shape).toEqual([0]);
  expect(mx.random.permutation(mx.zeros([0, 3])).shape).toEqual([0, 3]);
});

scoped("factorisations of arrays without elements", () => {
  const none = mx.zeros([0, 0]);
  const right = mx.zeros([0, 1]);
  const runs = [
    () => mx.linalg.lu(mx.zeros([0, 3])),
    () => mx.linalg.luFactor(none),
    () => mx.linalg.inv(none),
    () => mx.linalg.triInv(none),
    () => mx.linalg.choleskyInv(none),
    () => mx.linalg.solve(none, right),
    () => mx.linalg.solveTriangular(none, right),
  ];
  for (const run of runs) expect(caught(run).message).toContain("a has no elements");
});

scoped("shapes with negative lengths, or an open one beside a 0", () => {
  for (const run of [
    () => mx.reshape(mx.zeros([4]), [-2, -2]),
    () => mx.unflatten(mx.zeros([4]), 0, [-2, -2]),
    () => mx.unflatten(mx.zeros([0]), 0, [0, -1]),
    () => mx.reshape(mx.zeros([0]), [0, -1]),
  ]) {
    expect(caught(run)).toBeInstanceOf(RangeError);
  }
});

scoped("work without end", () => {
  expect(mx.diff(ints([1, 2, 3]), 2147483647).shape).toEqual([0]);
  expect(mx.diff(ints([1, 4, 9]), 2).tolist()).toEqual([2]);
  expect(caught(() => mx.diff(ints([1]), -1))).toBeInstanceOf(mx.MlxError);
  expect(caught(() => mx.diff(mx.array(1)))).toBeInstanceOf(RangeError);
  expect(mx.trace(mx.ones([2, 3, 3]), 64).tolist()).toEqual([0, 0, 0]);
});

scoped("lists whose lengths do not agree", () => {
  const x = mx.zeros([2, 3]);
  for (const run of [
    () =>
      mx.pad(
        x,
        untyped([
          [1, 1],
          [0, 0],
          [1, 1],
        ]),
      ),
    () => mx.asStrided(x, [2, 2], [1]),
    () => mx.roll(x, [1], [0, 1]),
    () => mx.transpose(x, [0]),
    () => mx.transpose(x, [0, 1, 2]),
    () => mx.slice(x, [0, 0], [0], [1, 3]),
    () => mx.slice(x, [0], [0], [1]),
    () => mx.fft.fftn(x, [2], [0, 1]),
    () => mx.convGeneral(mx.zeros([1, 4, 1]), mx.zeros([1, 2, 1]), [1, 2]),
    () => mx.expandDims(x, [0, 0]),
    () => mx.squeeze(x, [7]),
    () => mx.moveaxis(x, -3, 0),
    () => mx.tensordot(x, x, [[0], [5]]),
  ]) {
    expect(() => run()).toThrow();
  }
});
