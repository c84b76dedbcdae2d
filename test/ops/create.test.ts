// Operations that make arrays. Values and dtypes as Python MLX 0.32.2 gives them, where it has them.
import { expect } from "bun:test";
import * as mx from "../../src/index.ts";
import { caught, refusal, scoped, untyped } from "../helpers.ts";

const shown = (x: mx.Array): [mx.Dtype, unknown] => [x.dtype, x.tolist()];

scoped("arange: the dtype follows the bounds", () => {
  expect(shown(mx.arange(3))).toEqual(["int32", [0, 1, 2]]);
  expect(shown(mx.arange(mx.float(3)))).toEqual(["float32", [0, 1, 2]]);
  expect(shown(mx.arange(0, 3, 0.5))).toEqual(["float32", [0, 0.5, 1, 1.5, 2, 2.5]]);
  expect(shown(mx.arange(0, 3, mx.float(1)))).toEqual(["float32", [0, 1, 2]]);
  expect(shown(mx.arange(5, 0, -2))).toEqual(["int32", [5, 3, 1]]);
  expect(shown(mx.arange(2 ** 31 - 1, 2 ** 31 + 1))).toEqual(["int64", [2147483647n, 2147483648n]]);
  expect(shown(mx.arange(-(2 ** 31) - 1, -(2 ** 31) + 1))).toEqual(["int64", [-2147483649n, -2147483648n]]);
  expect(shown(mx.arange(2n, 4n))).toEqual(["int32", [2, 3]]);
  expect(shown(mx.arange(3, { dtype: "float16" }))).toEqual(["float16", [0, 1, 2]]);
  expect(shown(mx.arange(0, 3, 1, "int8"))).toEqual(["int8", [0, 1, 2]]);
  expect(shown(mx.arange(3, { step: 2 }))).toEqual(["int32", [0, 2]]);
  expect(shown(mx.arange(1, 4, { step: 2, stream: "cpu" }))).toEqual(["int32", [1, 3]]);
  expect(mx.arange(0, -3).shape).toEqual([0]);
  expect(mx.arange(0, 10, -1).shape).toEqual([0]);
});

scoped("arange: bigint bounds past 2^53 are exact", () => {
  const far = 2n ** 62n;
  expect(shown(mx.arange(far, far + 3n))).toEqual(["int64", [far, far + 1n, far + 2n]]);
  expect(shown(mx.arange(far + 4n, far, -2n))).toEqual(["int64", [far + 4n, far + 2n]]);
  expect(shown(mx.arange(2n ** 63n, 2n ** 63n + 2n, { dtype: "uint64" }))).toEqual([
    "uint64",
    [2n ** 63n, 2n ** 63n + 1n],
  ]);
  expect(mx.arange(far, far).shape).toEqual([0]);
  expect(mx.arange(far + 1n, far).shape).toEqual([0]);
  expect(caught(() => mx.arange(0, far))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.arange(far, far + 2n, { dtype: "float32" }))).toBeInstanceOf(RangeError);
});

scoped("arange: what is refused", () => {
  expect(refusal(() => mx.arange(0, 1, 0))).toBe("RangeError: arange: step must not be zero.");
  expect(caught(() => mx.arange(untyped("3")))).toBeInstanceOf(TypeError);
  expect(caught(() => mx.arange(untyped(true)))).toBeInstanceOf(TypeError);
  expect(caught(() => mx.arange(untyped(undefined)))).toBeInstanceOf(TypeError);
  expect(caught(() => mx.arange(NaN))).toBeInstanceOf(Error);
  expect(caught(() => mx.arange(2 ** 31))).toBeInstanceOf(mx.MlxError);
  expect(caught(() => mx.arange(3, { dtype: "bool" }))).toBeInstanceOf(mx.MlxError);
  expect(caught(() => mx.arange(0, 1, untyped({ steps: 2 })))).toBeInstanceOf(TypeError);
  expect(caught(() => mx.arange(0, 1, 2, untyped({ step: 2 })))).toBeInstanceOf(TypeError);
});

scoped("full: a scalar by its type, an Array by its own dtype, a dtype weakly", () => {
  expect(shown(mx.full([2], 2))).toEqual(["float32", [2, 2]]);
  expect(shown(mx.full(2, 2n))).toEqual(["int64", [2n, 2n]]);
  expect(shown(mx.full([2], true))).toEqual(["bool", [true, true]]);
  expect(shown(mx.full([1], { re: 0, im: 1 }))).toEqual(["complex64", [{ re: 0, im: 1 }]]);
  expect(shown(mx.full([2], 3, "int8"))).toEqual(["int8", [3, 3]]);
  expect(shown(mx.full([2], 2.5, { dtype: "int32" }))).toEqual(["float32", [2.5, 2.5]]);
  expect(shown(mx.full([1], 3, { dtype: "bool" }))).toEqual(["int32", [3]]);
  expect(shown(mx.full([2, 2], mx.array([1, 2], "int32")))).toEqual([
    "int32",
    [
      [1, 2],
      [1, 2],
    ],
  ]);
  expect(shown(mx.full([1], mx.array([1], "float16"), "float32"))).toEqual(["float16", [1]]);
  expect(caught(() => mx.full([2], 300, "uint8"))).toBeInstanceOf(RangeError);
  expect(caught(() => mx.full([2, 2], mx.zeros([3])))).toBeInstanceOf(mx.MlxError);
});

scoped("fullLike, zerosLike, onesLike", () => {
  const x = mx.array([1, 2], "int32");
  expect(shown(mx.fullLike(x, 2.5))).toEqual(["int32", [2, 2]]);
  expect(shown(mx.fullLike(x, 2.5, "float16"))).toEqual(["float16", [2.5, 2.5]]);
  expect(shown(mx.zerosLike(x))).toEqual(["int32", [0, 0]]);
  expect(shown(mx.onesLike(x, { dtype: "float16" }))).toEqual(["float16", [1, 1]]);
  expect(caught(() => mx.fullLike(mx.zeros([1], "uint8"), 300))).toBeInstanceOf(RangeError);
});

scoped("zeros, ones, identity, eye, tri: sizes and defaults", () => {
  expect(shown(mx.zeros(2))).toEqual(["float32", [0, 0]]);
  expect(shown(mx.zeros([2], null))).toEqual(["float32", [0, 0]]);
  expect(mx.ones([2, 0]).shape).toEqual([2, 0]);
  expect(mx.ones([]).item()).toBe(1);
  expect(shown(mx.identity(2, "int32"))).toEqual([
    "int32",
    [
      [1, 0],
      [0, 1],
    ],
  ]);
  expect(mx.eye(2).tolist()).toEqual([
    [1, 0],
    [0, 1],
  ]);
  expect(mx.eye(2, 3, 1).tolist()).toEqual([
    [0, 1, 0],
    [0, 0, 1],
  ]);
  expect(mx.eye(2, { k: -1 }).tolist()).toEqual([
    [0, 0],
    [1, 0],
  ]);
  expect(mx.tri(2).tolist()).toEqual([
    [1, 0],
    [1, 1],
  ]);
  expect(mx.tri(2, 3, -1, "int32").tolist()).toEqual([
    [0, 0, 0],
    [1, 0, 0],
  ]);
  expect(mx.tril(mx.ones([2, 2]), 1).tolist()).toEqual([
    [1, 1],
    [1, 1],
  ]);
  expect(mx.triu(mx.ones([2, 2])).tolist()).toEqual([
    [1, 1],
    [0, 1],
  ]);
  expect(caught(() => mx.zeros([-1]))).toBeInstanceOf(mx.MlxError);
  expect(caught(() => mx.eye(-1))).toBeInstanceOf(mx.MlxError);
});

scoped("linspace and the windows", () => {
  expect(mx.linspace(0, 1, 5).tolist()).toEqual([0, 0.25, 0.5, 0.75, 1]);
  expect(mx.linspace(0, 1).shape).toEqual([50]);
  expect(mx.linspace(0, 1, 4, { endpoint: false }).tolist()).toEqual([0, 0.25, 0.5, 0.75]);
  expect(mx.linspace(0, 4, 5, true, "int32").tolist()).toEqual([0, 1, 2, 3, 4]);
  expect(mx.bartlett(3).tolist()).toEqual([0, 1, 0]);
  expect(mx.hanning(0).shape).toEqual([0]);
  expect(caught(() => mx.linspace(0, 1, -1))).toBeInstanceOf(mx.MlxError);
});

scoped("asarray", () => {
  expect(shown(mx.asarray([1, 2]))).toEqual(["float32", [1, 2]]);
  expect(shown(mx.asarray([1, 2], "int32"))).toEqual(["int32", [1, 2]]);
  expect(shown(mx.asarray(mx.array([1, 2]), { dtype: "float16", copy: true }))).toEqual(["float16", [1, 2]]);
  expect(refusal(() => mx.asarray([1], { copy: false }))).toContain("TypeError: asarray: copy: false is refused");
  expect(caught(() => mx.asarray([1], untyped({ type: "int32" })))).toBeInstanceOf(TypeError);
});

scoped("constants", () => {
  expect([mx.pi, mx.e, mx.inf, mx.newaxis]).toEqual([Math.PI, Math.E, Infinity, null]);
  expect(mx.nan).toBeNaN();
  expect(mx.eulerGamma).toBe(0.5772156649015329);
});
