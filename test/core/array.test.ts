// The array as a JavaScript value: its properties, coercion, printing, and what cannot be done with it.
import { describe, expect, test } from "bun:test";
import { dtypeNames, dtypeSize } from "../../src/core/dtype.ts";
import * as mx from "../../src/index.ts";
import { broadcast, caught, refusal, scoped, untyped } from "../helpers.ts";

/** For operators that the type checker refuses. */
const loose = (array: mx.Array): number => untyped<number>(array);

describe("properties", () => {
  scoped("shape, ndim, size, dtype, itemsize, nbytes", () => {
    for (const dtype of dtypeNames) {
      const array = mx.array([[1], [0]], { dtype });
      expect({
        shape: array.shape,
        ndim: array.ndim,
        size: array.size,
        dtype: array.dtype,
        itemsize: array.itemsize,
        nbytes: array.nbytes,
      }).toEqual({ shape: [2, 1], ndim: 2, size: 2, dtype, itemsize: dtypeSize(dtype), nbytes: 2 * dtypeSize(dtype) });
    }
    expect(mx.array(1).shape).toEqual([]);
    expect(mx.array([], { shape: [3, 0] }).nbytes).toBe(0);
  });

  scoped("the shape is a copy", () => {
    const array = mx.array([1, 2]);
    array.shape[0] = 5;
    array.shape.push(7);
    expect(array.shape).toEqual([2]);
  });

  scoped("cannot be assigned", () => {
    const array = untyped<Record<string, unknown>>(mx.array([1]));
    for (const name of ["shape", "dtype", "ndim", "size", "T", "disposed"]) {
      expect(() => {
        array[name] = 1;
      }).toThrow(TypeError);
    }
  });
});

describe("operators are refused", () => {
  const message =
    "JavaScript operators do not work on arrays. Use the methods: a.add(b), a.subtract(b), a.multiply(b), a.divide(b), a.less(b), a.equal(b), or a.item() for the value of one element.";
  const uses: [name: string, use: (x: mx.Array) => unknown][] = [
    ["x + 1", (x) => loose(x) + 1],
    ["1 - x", (x) => 1 - loose(x)],
    ["x * x", (x) => loose(x) * loose(x)],
    ["x / 2", (x) => loose(x) / 2],
    ["x % 2", (x) => loose(x) % 2],
    ["x ** 2", (x) => loose(x) ** 2],
    ["-x", (x) => -loose(x)],
    ["+x", (x) => +loose(x)],
    ["~x", (x) => ~loose(x)],
    ["x | 0", (x) => loose(x) | 0],
    ["x << 1", (x) => loose(x) << 1],
    ["x < x", (x) => loose(x) < loose(x)],
    ["x >= 1", (x) => loose(x) >= 1],
    ["x == 1", (x) => untyped<number>(x) == 1],
    ['x != "a"', (x) => untyped<string>(x) != "a"],
    ['x + "text"', (x) => untyped<string>(x) + "text"],
    ["Number(x)", (x) => Number(x)],
    ["BigInt(x)", (x) => BigInt(loose(x))],
    ["Math.max(x, 1)", (x) => Math.max(loose(x), 1)],
    ["isNaN(x)", (x) => Number.isNaN(Number(x))],
    ["new Date(x)", (x) => new Date(loose(x))],
    ["[2, 1].indexOf at x", (x) => [2, 1].at(loose(x))],
  ];
  for (const [name, use] of uses) {
    scoped(name, () => expect(refusal(() => use(mx.array(1)))).toBe(`TypeError: ${message}`));
  }
});

describe("what works", () => {
  scoped("text in templates, String, join and console.log is MLX's", () => {
    const x = mx.array([
      [1, 2],
      [3, 4],
    ]);
    const text = "array([[1, 2],\n       [3, 4]], dtype=float32)";
    expect(`${x}`).toBe(text);
    expect(String(x)).toBe(text);
    expect(x.toString()).toBe(text);
    expect([x].join()).toBe(text);
    expect(Bun.inspect(x)).toBe(text);
    expect(Bun.inspect({ x: mx.array(1) })).toContain("x: array(1, dtype=float32)");
    expect(String(mx.add(x, 1))).toContain("[2, 3]");
  });

  scoped("identity, truth and typeof are JavaScript's own", () => {
    const x = mx.array(0);
    const y = x;
    expect([x === y, x === mx.array(0), x == y, !x, typeof x]).toEqual([true, false, true, false, "object"]);
    expect(new Set([x, y]).size).toBe(1);
    expect(x instanceof mx.Array).toBe(true);
    expect(Array.isArray(x)).toBe(false);
  });

  scoped("two arrays can be compared by a test runner without a crash", () => {
    expect(mx.array([1])).not.toBe(mx.array([1]));
    expect(() => expect(mx.array([1])).toEqual(mx.array([2]))).toThrow();
  });
});

describe("cannot be cloned", () => {
  scoped("nor sent to a Worker, young or old", () => {
    const x = mx.array([1]);
    expect(caught(() => structuredClone(x)).name).toBe("DataCloneError");
    const { port1, port2 } = new MessageChannel();
    expect(caught(() => port1.postMessage({ x })).name).toBe("DataCloneError");
    mx.collectForgotten();
    expect(caught(() => structuredClone([x])).name).toBe("DataCloneError");
    expect(caught(() => port1.postMessage(x)).name).toBe("DataCloneError");
    port1.close();
    port2.close();
    expect(x.item()).toBe(1);
  });
});

describe("cannot be made by hand", () => {
  test("new, with any argument, by a subclass, by Reflect", () => {
    const Any = untyped<new (...args: unknown[]) => object>(mx.Array);
    const text = 'TypeError: Array cannot be made with "new". Use mx.array(value).';
    expect(refusal(() => new Any())).toBe(text);
    expect(refusal(() => new Any([1, 2]))).toBe(text);
    expect(refusal(() => new Any(Symbol("mlx-ts.internal"), 12345))).toBe(text);
    class Mine extends Any {}
    expect(refusal(() => new Mine())).toBe(text);
    expect(refusal(() => Reflect.construct(Any, [], Object))).toBe(text);
    expect(() => untyped<() => void>(mx.Array)()).toThrow(TypeError);
  });
});

describe("a method on what is no Array", () => {
  const methods: [name: string, use: (value: unknown) => unknown][] = [
    ["item", (value) => mx.Array.prototype.item.call(untyped(value))],
    ["tolist", (value) => mx.Array.prototype.tolist.call(untyped(value))],
    ["toTypedArray", (value) => mx.Array.prototype.toTypedArray.call(untyped(value))],
    ["toString", (value) => mx.Array.prototype.toString.call(untyped(value))],
    ["add", (value) => untyped<(x: unknown) => unknown>(mx.Array.prototype.add).call(value, "x")],
    ["sum", (value) => untyped<() => unknown>(mx.Array.prototype.sum).call(value)],
  ];
  for (const getter of ["shape", "dtype", "ndim", "size", "itemsize", "nbytes", "isAvailable"]) {
    const { get } = Object.getOwnPropertyDescriptor(mx.Array.prototype, getter)!;
    methods.push([getter, (value) => get!.call(value)]);
  }
  const values: [name: string, value: () => unknown][] = [
    ["nothing", () => undefined],
    ["null", () => null],
    ["an object", () => ({})],
    ["a text", () => "text"],
    ["a forged entry", () => ({ entry: { handle: 12345, kind: { name: "Array" } } })],
    ["an heir", () => Object.create(mx.Array.prototype)],
    ["the prototype", () => mx.Array.prototype],
    ["a Stream", () => mx.defaultStream("cpu")],
    ["a Device", () => new mx.Device("cpu")],
    ["a Closure", () => new mx.Closure(([x]) => x!)],
  ];
  describe.each(methods)("%s", (name, use) => {
    for (const [what, value] of values) {
      scoped(`of ${what}`, () => expect(refusal(() => use(value()))).toStartWith(`TypeError: ${name}: `));
    }
  });

  scoped("an heir counts as disposed, and trees refuse it", () => {
    const heir = Object.create(mx.Array.prototype) as mx.Array;
    expect(heir.disposed).toBe(true);
    expect(refusal(() => mx.eval([heir]))).toStartWith("TypeError: eval: expected an Array made by mlx-ts");
    expect(refusal(() => mx.pad(heir, 1))).toContain("pad: ");
  });

  scoped("internal methods take no address from outside", () => {
    const array = untyped<{ readShape(what: unknown): unknown }>(mx.array([1, 2]));
    expect(array.readShape(12345)).toEqual([2]);
  });

  scoped("is named, when a method was torn off", () => {
    const { item, tolist } = mx.array(1);
    expect(refusal(() => item())).toBe("TypeError: item: expected an Array made by mlx-ts, got undefined.");
    expect(refusal(() => tolist())).toBe("TypeError: tolist: expected an Array made by mlx-ts, got undefined.");
  });
});

describe("printing never throws", () => {
  scoped("for prototypes, heirs and disposed values", () => {
    expect(Bun.inspect(mx.Array.prototype)).toBe("{}");
    expect(Bun.inspect(Object.create(mx.Array.prototype))).toBe("{}");
    const gone = mx.array(1);
    gone.dispose();
    expect(Bun.inspect([gone])).toContain("Array(disposed)");
    expect(refusal(() => String(gone))).toStartWith("DisposedError: toString: this Array was already disposed.");
    expect(Bun.inspect(mx)).toContain("array");
  });

  scoped("for arrays that no machine holds", () => {
    expect(Bun.inspect(broadcast(mx.array(1), [1 << 20, 1 << 20]))).toContain("...");
  });
});
