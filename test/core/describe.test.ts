// Short words for values in error messages: never long, never an error of their own.
import { describe as group, expect, test } from "bun:test";
import { describe } from "../../src/core/describe.ts";
import * as mx from "../../src/index.ts";
import { scoped } from "../helpers.ts";

group("describe", () => {
  const cases: [value: unknown, text: string][] = [
    [undefined, "undefined"],
    [null, "null"],
    [true, "true"],
    [1.5, "1.5"],
    [NaN, "NaN"],
    [-0, "0"],
    [12n, "12n"],
    ["text", '"text"'],
    ['with "quotes"\n', '"with \\"quotes\\"\\n"'],
    ["x".repeat(41), `"${"x".repeat(40)}..."`],
    [Symbol("secret"), "a symbol"],
    [(): void => undefined, "a function"],
    [class Mine {}, "a function"],
    [{}, "an object"],
    [Object.create(null), "an object"],
    [new Date(0), "a Date"],
    [new Error("x"), "an Error"],
    [new Int8Array(2), "an Int8Array"],
    [new Uint8Array(2), "a Uint8Array"],
    [new Map(), "a Map"],
    [new (class Mine {})(), "a Mine"],
    [new (class {})(), "an object"],
    [[], "[]"],
    [[1, "a", null], '[1, "a", null]'],
    [[1, 2, 3, 4, 5, 6, 7], "a list of 7"],
    [[[1, 2], [3]], "[[1, 2], [3]]"],
    [[[[1]]], "[[a list of 1]]"],
    [[, 1], "[undefined, 1]"],
    [{ constructor: 5 }, "an object"],
  ];
  test.each(cases)("case %#", (value, text) => expect(describe(value)).toBe(text));

  scoped("values of mlx-ts by their public names", () => {
    expect(describe(mx.array(1))).toBe("an Array");
    expect(describe(mx.newStream("cpu"))).toBe("a Stream");
    expect(describe(new mx.Device("cpu"))).toBe("a Device");
    expect(describe(mx.float(1))).toBe("a WeakFloat");
    expect(describe([mx.array(1)])).toBe("[an Array]");
  });

  test("lists that hold themselves, and names that are none", () => {
    const cycle: unknown[] = [];
    cycle.push(cycle, cycle);
    expect(describe(cycle)).toBe("[[a list of 2, a list of 2], [a list of 2, a list of 2]]");
    class Odd {
      static readonly name: string = Symbol("odd") as unknown as string;
    }
    expect(describe(new Odd())).toBe("an object");
  });
});
