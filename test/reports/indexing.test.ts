// Reports from users of MLX's bindings: slices with negative steps, updates at repeated places.
import { describe, expect } from "bun:test";
import * as mx from "../../src/index.ts";
import type { SliceText } from "../../src/index.ts";
import { refusal, scoped, untyped } from "../helpers.ts";

describe("B14: slices with negative steps:", () => {
  const slices: [number, SliceText, number[]][] = [
    [5, "::-1", [4, 3, 2, 1, 0]],
    [10, "8:1:-3", [8, 5, 2]],
    [5, "0:3:-1", []],
    [5, "-100:100", [0, 1, 2, 3, 4]],
    [5, "100:-100:-1", [4, 3, 2, 1, 0]],
    [5, "3::-1", [3, 2, 1, 0]],
    [5, ":-1:-1", []],
    [5, "4:0:-4", [4]],
    [0, "::-1", []],
    [1, "::-7", [0]],
  ];
  for (const [length, text, expected] of slices) {
    scoped(`arange(${length}).get("${text}")`, () => {
      const x = mx.arange(length);
      expect(x.get(text).tolist()).toEqual(expected);
      const written = x.at(text).set(-1).tolist() as number[];
      expect(written).toEqual(Array.from({ length }, (_, i) => (expected.includes(i) ? -1 : i)));
    });
  }
  scoped("in two axes", () => {
    const x = mx.arange(12).reshape(3, 4);
    expect(x.get("::-2", "::-1").tolist()).toEqual([
      [11, 10, 9, 8],
      [3, 2, 1, 0],
    ]);
  });
  scoped("a reversed place takes its values in its own order", () => {
    expect(
      mx
        .zeros([3])
        .at("::-1")
        .set(mx.array([10, 20, 30]))
        .tolist(),
    ).toEqual([30, 20, 10]);
    expect(
      mx
        .arange(4)
        .at("::-2")
        .add(mx.array([10, 20]))
        .tolist(),
    ).toEqual([0, 21, 2, 13]);
  });
  scoped("steps and bounds past any integer of C clamp", () => {
    const x = mx.arange(3);
    expect(x.get("::-2147483648").tolist()).toEqual([2]);
    expect(x.get("::2147483648").tolist()).toEqual([0]);
    expect(x.get("1::9999999999").tolist()).toEqual([1]);
    expect(x.get("::-9999999999999999999999").tolist()).toEqual([2]);
    expect(x.get(untyped("-99999999999999999999999:9999999999999999999999")).tolist()).toEqual([0, 1, 2]);
    expect(x.at("::9999999999").set(7).tolist()).toEqual([7, 1, 2]);
    expect(x.at("::-2147483649").add(7).tolist()).toEqual([0, 1, 9]);
  });
  scoped("a step of 0 is refused", () => {
    expect(refusal(() => mx.arange(5).get("::0"))).toMatch(/^RangeError: get: .*step/);
    expect(refusal(() => mx.arange(5).at("1:2:0").set(1))).toMatch(/^RangeError: at: .*step/);
  });
});

describe("B16: updates", () => {
  scoped("add counts every repeated index, set the last one", () => {
    expect(mx.zeros([3]).at([0, 0, 2]).add(1).tolist()).toEqual([2, 0, 1]);
    const ids = mx.array([0, 0, 2], { dtype: "int32" });
    expect(mx.zeros([3]).at(ids).add(1).tolist()).toEqual([2, 0, 1]);
    // Python's a[[0, 0, 2]] += 1: the places are read first, then written once each.
    const a = mx.zeros([3]);
    expect(a.at(ids).set(a.get(ids).add(1)).tolist()).toEqual([1, 0, 1]);
  });
  scoped("a value with a leading axis of 1 broadcasts into columns", () => {
    const a = mx.array([[0.1, 0.2, 0.3]]);
    expect(
      a
        .at(":", [0, 1])
        .set(mx.zeros([1, 2]))
        .tolist(),
    ).toEqual([[0, 0, Math.fround(0.3)]]);
    expect(
      mx
        .ones([2, 3])
        .at(":", [0, 1])
        .set(mx.zeros([1, 2]))
        .tolist(),
    ).toEqual([
      [0, 0, 1],
      [0, 0, 1],
    ]);
  });
  scoped("reading at repeated indices has a gradient that counts", () => {
    const gradient = mx.grad((x: mx.Array) => x.get([0, 0, 2]).sum())(mx.zeros([3]));
    expect(gradient.tolist()).toEqual([2, 0, 1]);
  });
});
