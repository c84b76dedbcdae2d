// Reports from users of MLX's bindings: arguments that reached native code and should not have.
import { describe, expect } from "bun:test";
import * as mx from "../../src/index.ts";
import { refusal, scoped, untyped } from "../helpers.ts";

describe("B11: axes", () => {
  const cube = (): mx.Array => mx.ones([2, 3, 4]);
  scoped("out of range are refused, by name", () => {
    const index = mx.zeros([2, 3, 4], { dtype: "int32" });
    expect(refusal(() => mx.sum(cube(), 5))).toMatch(/^MlxError: sum: .*axis 5 .*3 dimensions/);
    for (const axis of [-4, -100, 3]) {
      expect(refusal(() => mx.takeAlongAxis(cube(), index, axis))).toMatch(
        new RegExp(`^RangeError: takeAlongAxis: axis ${axis} is out of range for an array of 3 axes`),
      );
    }
    expect(refusal(() => mx.expandDims(mx.array(1), [-4, -3]))).toMatch(/^MlxError: expandDims: .*out of bounds/);
    expect(refusal(() => mx.transpose(mx.ones([2, 3]), [0, 0]))).toMatch(/^MlxError: transpose: .*Repeat/);
  });
  scoped("count from the end", () => {
    expect(mx.transpose(cube(), [-1, 0, 1]).shape).toEqual([4, 2, 3]);
    expect(mx.sum(cube(), -1).shape).toEqual([2, 3]);
    expect(mx.expandDims(mx.array(1), [-2, -1]).shape).toEqual([1, 1]);
  });
});

describe("B12: numbers for integer parameters are checked before the call:", () => {
  const x = (): mx.Array => mx.ones([2, 3]);
  const refused: Record<string, () => unknown> = {
    "sum(x, NaN)": () => mx.sum(x(), NaN),
    "sum(x, 1.5)": () => mx.sum(x(), 1.5),
    "sum(x, 2**32), which would wrap to axis 0": () => mx.sum(x(), 2 ** 32),
    'sum(x, "0")': () => mx.sum(x(), untyped("0")),
    "sum(x, [null])": () => mx.sum(x(), untyped([null])),
    "sum(x, 0n ** 40n-like bigint)": () => mx.sum(x(), untyped(2n ** 40n)),
    "reshape([2.5, 2])": () => mx.reshape(x(), [2.5, 2]),
    "reshape([2**32 + 2, 3])": () => mx.reshape(x(), [2 ** 32 + 2, 3]),
    "reshape(-Infinity)": () => x().reshape(-Infinity),
    "zeros([NaN])": () => mx.zeros([NaN]),
    "zeros([undefined])": () => mx.zeros(untyped([undefined])),
    "take by 1.5": () => mx.take(x(), 1.5),
    "get by 1.5": () => x().get(1.5),
    "at by NaN": () => x().at(NaN).set(1),
    "split at 1.5": () => mx.split(x(), [1.5]),
    "split into 2**32 + 1": () => mx.split(x(), 2 ** 32 + 1),
    "topk k NaN": () => mx.topk(x(), NaN),
    "repeat 2**32": () => mx.repeat(x(), 2 ** 32),
    "roll by 2**33": () => mx.roll(x(), 2 ** 33),
    "eye(2**31)": () => mx.eye(2 ** 31),
  };
  for (const [name, call] of Object.entries(refused)) {
    scoped(name, () => expect(refusal(call)).toMatch(/^(TypeError|RangeError): /));
  }
  // What MLX itself refuses, with its own words, is left to it.
  const refusedByMlx: Record<string, () => unknown> = {
    "split(x, 0)": () => mx.split(mx.arange(4), 0),
    "split(x, -1)": () => mx.split(mx.arange(4), -1),
    "topk, 5 of 3": () => mx.topk(mx.array([1, 2, 3]), 5),
    "repeat -1": () => mx.repeat(x(), -1),
    "zeros([-1])": () => mx.zeros([-1]),
  };
  for (const [name, call] of Object.entries(refusedByMlx)) {
    scoped(name, () => expect(refusal(call)).toMatch(/^(MlxError|RangeError): /));
  }
  // The report wants null refused here. It is Python's None, and mx.sum(mx.ones((2, 3)), None) is 6 in Python MLX.
  scoped("null for an axis is Python's None: all of them", () => {
    expect(mx.sum(x(), untyped(null)).item()).toBe(6);
  });
});

describe("B17: at", () => {
  scoped("with no index is refused", () => {
    const x = mx.array([1, 2, 3]);
    expect(refusal(() => x.at().add(4))).toBe(
      'TypeError: at: an index is missing: write at(0) and so on, or at("...") for the whole array.',
    );
    expect(refusal(() => x.at().set(4))).toMatch(/^TypeError: at: /);
    expect(x.at("...").add(4).tolist()).toEqual([5, 6, 7]);
    expect(mx.array(1).at("...").set(2).item()).toBe(2);
  });
  scoped("of the wrong rank is refused", () => {
    expect(refusal(() => mx.ones([2, 3]).at(0, 0, 0).set(1))).toMatch(/^RangeError: at: too many indices/);
    expect(refusal(() => mx.array(1).at(0).set(1))).toMatch(/^RangeError: at: too many indices/);
    expect(refusal(() => mx.ones([3]).at(untyped(undefined)).set(1))).toMatch(/^TypeError: at: index 0 /);
    expect(refusal(() => mx.ones([3]).at(0).set(untyped(undefined)))).toMatch(/^TypeError: at: value /);
  });
  scoped("of a disposed array is refused", () => {
    const x = mx.array([1, 2, 3]);
    const place = x.at(0);
    x.dispose();
    expect(refusal(() => place.set(1))).toMatch(/^DisposedError: /);
    expect(refusal(() => x.at(0))).toMatch(/^DisposedError: /);
  });
});

describe("B18: host indices are checked against their axis:", () => {
  const x = (): mx.Array => mx.arange(3);
  const refused: Record<string, () => unknown> = {
    "get(5)": () => x().get(5),
    "get(3)": () => x().get(3),
    "get(-4)": () => x().get(-4),
    "get([0, 5])": () => x().get([0, 5]),
    "get([[0], [-4]])": () => x().get([[0], [-4]]),
    "take(x, 5)": () => mx.take(x(), 5),
    "take(x, -4)": () => mx.take(x(), -4),
    "take(x, [0, 3])": () => mx.take(x(), [0, 3]),
    "take(x, 2, 0) of an axis of 2": () => mx.take(mx.ones([2, 3]), 2, 0),
    "takeAlongAxis(x, [5])": () => mx.takeAlongAxis(x(), untyped([5]), { axis: 0 }),
    "putAlongAxis(x, [5])": () => mx.putAlongAxis(x(), untyped([5]), 1, { axis: 0 }),
    "take(x, Array [0, 3])": () => mx.take(x(), mx.array([0, 3], { dtype: "int32" })),
    "at(Array [-4]).set": () =>
      x()
        .at(mx.array([-4], { dtype: "int32" }))
        .set(1),
    "at(3).set": () => x().at(3).set(1),
    "at([0, 3]).add": () => x().at([0, 3]).add(1),
  };
  for (const [name, call] of Object.entries(refused)) {
    scoped(name, () => expect(refusal(call)).toMatch(/^RangeError: .*out of range/));
  }
});
