// The trailing options object: what counts as one, and what is said of a wrong name.
import { describe, expect, test } from "bun:test";
import { checkOptions, isOptions } from "../../src/core/options.ts";
import * as mx from "../../src/index.ts";
import { refusal, scoped, untyped } from "../helpers.ts";

describe("isOptions", () => {
  scoped("is true for plain objects only", () => {
    for (const value of [{}, { axis: 0 }, Object.create(null), { re: 1 }]) expect(isOptions(value)).toBe(true);
    const others = [
      null,
      undefined,
      1,
      "axis",
      true,
      [],
      [1],
      { re: 1, im: 2 },
      new Map(),
      new Float32Array(1),
      new (class Options {})(),
      mx.array(1),
      mx.float(2),
      new mx.Device("cpu"),
      (): void => undefined,
    ];
    for (const value of others) expect(isOptions(value)).toBe(false);
  });
});

describe("checkOptions", () => {
  const allowed = ["axis", "keepDims", "stream", "startAxis"];
  const check = (options: unknown): string => refusal(() => checkOptions(options, allowed, "sum"));

  test("takes known names, whatever their values", () => {
    checkOptions({}, allowed, "sum");
    checkOptions({ axis: 0, keepDims: undefined }, allowed, "sum");
    checkOptions(Object.assign(Object.create(null), { stream: null }), allowed, "sum");
    checkOptions({ [Symbol("mine")]: 1 }, allowed, "sum");
  });

  test.each([
    ["axes", "axis"],
    ["Axis", "axis"],
    ["axi", "axis"],
    ["keepdims", "keepDims"],
    ["keep_dims", "keepDims"],
    ["keepDim", "keepDims"],
    ["steam", "stream"],
    ["start_axis", "startAxis"],
  ])("%s: did you mean %s?", (wrong, right) => {
    expect(check({ [wrong]: 1 })).toBe(
      `TypeError: sum: unknown option "${wrong}". Did you mean "${right}"? The options are axis, keepDims, stream, startAxis.`,
    );
  });

  test.each(["dtype", "x", "completelyDifferent", ""])("%p is near to nothing", (wrong) => {
    expect(check({ [wrong]: 1 })).toBe(
      `TypeError: sum: unknown option "${wrong}". The options are axis, keepDims, stream, startAxis.`,
    );
  });

  test("inherited names count, since reading them would find them", () => {
    expect(check(Object.create(Object.create(null, { axes: { value: 1, enumerable: true } })))).toStartWith(
      "TypeError: sum: the last argument must be an options object",
    );
  });

  test("refuses anything but an options object", () => {
    for (const [value, text] of [
      [5, "5"],
      ["axis", '"axis"'],
      [[0], "[0]"],
      [null, "null"],
      [true, "true"],
    ] as const) {
      expect(check(value)).toBe(
        `TypeError: sum: the last argument must be an options object ({ axis, keepDims, stream, startAxis }), got ${text}.`,
      );
    }
  });
});

describe("an operation", () => {
  scoped("refuses unknown options and frees what it had prepared", () => {
    const x = mx.array([1, 2]);
    expect(refusal(() => mx.sum(x, untyped({ dim: 0 })))).toStartWith('TypeError: sum: unknown option "dim".');
    expect(refusal(() => mx.add(1, 2, untyped({ strem: "cpu" })))).toContain('Did you mean "stream"?');
    expect(refusal(() => mx.add(x, 1, untyped("cpu")))).toStartWith("TypeError: add: ");
  });

  scoped("passes on the error of a getter", () => {
    const mine = new Error("mine");
    const options = {
      get axis(): never {
        throw mine;
      },
    };
    expect(() => mx.sum(mx.array([1]), options)).toThrow(mine);
    expect(mx.sum(mx.array([1, 2])).item()).toBe(3);
  });
});
