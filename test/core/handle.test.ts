// The base of all disposables: what it refuses, and how it prints.
import { describe, expect, test } from "bun:test";
import { Handle, handleOf, internal } from "../../src/core/handle.ts";
import type { Kind } from "../../src/core/ledger.ts";
import { kindOf, NativeHandle } from "../../src/core/kinds.ts";
import { isLeaf } from "../../src/core/tree.ts";
import { functions, VectorArray } from "../../src/ffi.ts";
import { handles } from "../../generated/handles.ts";
import * as mx from "../../src/index.ts";
import { refusal, scoped, untyped } from "../helpers.ts";

const freed: number[] = [];
const kind: Kind = { name: "Thing", free: (handle) => freed.push(handle) };

class Thing extends Handle {
  constructor(handle: number) {
    super(internal, handle, 0, kind);
  }
}

describe("handleOf", () => {
  test("gives the handle of a live value", () => {
    using thing = new Thing(41);
    expect(handleOf(thing, "op")).toBe(41);
    expect(handleOf(thing, "op", "Thing")).toBe(41);
  });

  test("refuses other kinds, what is none, and what pretends to be one", () => {
    using thing = new Thing(42);
    expect(refusal(() => handleOf(thing, "op", "Array"))).toBe(
      "TypeError: op: expected an Array made by mlx-ts, got a Thing.",
    );
    const heir = Object.create(Thing.prototype) as Thing;
    for (const value of [undefined, null, 5, "x", {}, { entry: null }, { entry: { handle: 1, kind } }, heir]) {
      expect(refusal(() => handleOf(untyped(value), "op"))).toStartWith(
        "TypeError: op: expected a value made by mlx-ts",
      );
      expect(refusal(() => handleOf(untyped(value), "op", "Stream"))).toStartWith("TypeError: op: expected a Stream");
    }
  });

  test("names the operation for a disposed one", () => {
    const thing = new Thing(43);
    thing.dispose();
    expect(refusal(() => handleOf(thing, "multiply"))).toStartWith("DisposedError: multiply: this Thing was already");
  });
});

test("dispose frees once", () => {
  freed.length = 0;
  const thing = new Thing(44);
  expect(thing.disposed).toBe(false);
  thing.dispose();
  thing.dispose();
  thing[Symbol.dispose]();
  expect(thing.disposed).toBe(true);
  expect(freed).toEqual([44]);
});

test("prints as its kind, and as disposed", () => {
  const thing = new Thing(45);
  expect([String(thing), Bun.inspect(thing), Bun.inspect([thing])]).toEqual(["Thing", "Thing", "[\n  Thing\n]"]);
  thing.dispose();
  expect(Bun.inspect({ thing })).toContain("Thing(disposed)");
  expect(Bun.inspect(Thing.prototype)).toBe("{}");
});

test("printing passes on what is no failure of MLX, and tells of one that is", () => {
  class Odd extends Thing {
    readonly #error: Error;
    constructor(error: Error) {
      super(46);
      this.#error = error;
    }
    override toString(): string {
      throw this.#error;
    }
  }
  using failing = new Odd(new mx.MlxError("toString", "it cannot"));
  expect(Bun.inspect(failing)).toBe("Thing(no value: it cannot)");
});

test("is a leaf of trees", () => {
  using thing = new Thing(47);
  expect(isLeaf(thing)).toBe(true);
  expect(Object.keys(thing)).toEqual(["entry"]);
});

test("new is refused without the key, for every class", () => {
  const classes: [name: string, value: unknown][] = [
    ["Array", mx.Array],
    ["Stream", mx.Stream],
    ["VectorArray", VectorArray],
  ];
  for (const [name, value] of classes) {
    const Any = untyped<new (...args: unknown[]) => unknown>(value);
    for (const key of [undefined, null, Symbol("mlx-ts.internal"), Symbol.for("mlx-ts.internal"), 12345]) {
      expect(refusal(() => new Any(key, 12345))).toStartWith(`TypeError: ${name} cannot be made with "new".`);
    }
  }
});

describe("kinds", () => {
  test("every kind of native handle has a name and a way to be freed", () => {
    const names = Object.keys(handles) as (keyof typeof handles)[];
    expect(names.length).toBeGreaterThan(25);
    for (const name of names) {
      const { name: className, free, reentrant } = kindOf(name);
      expect(className).toMatch(/^[A-Z][A-Za-z0-9]+$/);
      expect(typeof free).toBe("function");
      expect(reentrant ?? false).toBe(name.startsWith("closure"));
      expect(kindOf(name)).toBe(kindOf(name));
      expect(functions[handles[name].free as "mlx_array_free"]).toBeFunction();
    }
    expect(kindOf("vector_array").name).toBe("VectorArray");
    expect(kindOf("closure_value_and_grad").name).toBe("ClosureValueAndGrad");
  });

  scoped("a NativeHandle owns any of them", () => {
    mx.add(1, 1);
    const before = functions.mlxts_live_handles();
    {
      using list = new NativeHandle("vector_int", functions.mlx_vector_int_new());
      expect(functions.mlxts_live_handles()).toBe(before + 1);
      expect(String(list)).toBe("VectorInt");
    }
    expect(functions.mlxts_live_handles()).toBe(before);
  });
});
