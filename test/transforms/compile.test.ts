// compile: what is traced again and what is not, constants, results of any form, shapeless.
import { describe, expect } from "bun:test";
import * as mx from "../../src/index.ts";
import { caught, scoped } from "../helpers.ts";
import { watchHandles } from "./watch.ts";

watchHandles();

const vector = (...values: number[]): mx.Array => mx.array(values);

describe("tracing", () => {
  scoped("once for each shape and dtype", () => {
    using f = mx.compile((x: mx.Array) => mx.add(mx.multiply(x, 2), 1));
    expect(f(vector(1, 2)).tolist()).toEqual([3, 5]);
    expect(f(vector(3, 4)).tolist()).toEqual([7, 9]);
    expect(f.traceCount).toBe(1);
    expect(f(vector(1)).tolist()).toEqual([3]);
    expect(f.traceCount).toBe(2);
    expect(f(mx.array([1, 2], { dtype: "int32" })).dtype).toBe("int32");
    expect(f(mx.array(5)).item()).toBe(11);
    expect(f.traceCount).toBe(4);
    expect(f(vector(5, 6)).tolist()).toEqual([11, 13]);
    expect(f(vector(7)).tolist()).toEqual([15]);
    expect(f.traceCount).toBe(4);
  });

  scoped("once for each value of a constant, of any kind and depth", () => {
    const seen: unknown[] = [];
    using f = mx.compile((x: mx.Array, constant: unknown) => {
      seen.push(constant);
      return [x, seen.length] as const;
    });
    const constants = [
      1,
      1.5,
      -0,
      0,
      NaN,
      Infinity,
      "1",
      "",
      "a,b",
      true,
      false,
      null,
      undefined,
      1n,
      10n,
      [],
      [1],
      [[1]],
      [1, 1],
      [null],
      [undefined],
      {},
      { a: 1 },
      { b: 1 },
      { a: 1, b: 1 },
      { b: 1, a: 1 },
      { a: { a: 1 } },
      { "a:1": 1 },
      { a: "1" },
      ["a", "b"],
      new Map([["a", 1]]),
      new Map<unknown, unknown>([[1, 1]]),
      new Map(),
      "A",
      "n1",
      { __proto__: null, c: 1 },
    ];
    for (let round = 0; round < 2; round++) {
      for (const [i, constant] of constants.entries()) expect(f(vector(0), constant)[1]).toBe(i + 1);
    }
    expect(f.traceCount).toBe(constants.length);
    expect(seen).toEqual(constants);
    // Equal forms made anew are the same form.
    expect(f(vector(0), { a: { a: 1 } })[1]).toBe(constants.findIndex((c) => Bun.deepEquals(c, { a: { a: 1 } })) + 1);
    expect(f.traceCount).toBe(constants.length);
  });

  scoped("tells where the arrays stand", () => {
    using f = mx.compile((tree: unknown) => {
      const list = Array.isArray(tree)
        ? tree
        : tree instanceof Map
          ? [...tree.values()]
          : Object.values(tree as object);
      return mx.add(list[0] as mx.Array, mx.multiply((list[1] as mx.Array | null) ?? 0, 10));
    });
    const [a, b] = [vector(1), vector(2)];
    expect(f([a, b]).item()).toBe(21);
    expect(f([b, a]).item()).toBe(12);
    expect(f({ a, b }).item()).toBe(21);
    expect(f({ b, a }).item()).toBe(12);
    expect(
      f(
        new Map([
          ["a", a],
          ["b", b],
        ]),
      ).item(),
    ).toBe(21);
    expect(f([a, null]).item()).toBe(1);
    expect(f([a, a]).item()).toBe(11);
    expect(f.traceCount).toBe(5);
  });

  scoped("sees placeholders: neither reading nor evaluating them works", () => {
    const use = (name: string, run: (x: mx.Array) => unknown): void => {
      using f = mx.compile((x: mx.Array) => {
        run(x);
        return x;
      });
      expect([name, caught(() => f(vector(1, 2))).message]).toEqual([
        name,
        expect.stringContaining("during function transformations like compile or vmap is not allowed"),
      ]);
    };
    use("item", (x) => mx.sum(x).item());
    use("tolist", (x) => x.tolist());
    use("eval", (x) => mx.eval(mx.add(x, 1)));
    use("text", (x) => `${x}`);
    use("typed array", (x) => x.toTypedArray());
  });

  scoped("an array that it closes over is a constant, whatever becomes of it", () => {
    let w = vector(10, 20);
    using f = mx.compile((x: mx.Array) => mx.multiply(x, w));
    expect(f(vector(1, 2)).tolist()).toEqual([10, 40]);
    w.dispose();
    w = vector(0, 0);
    expect(f(vector(1, 2)).tolist()).toEqual([10, 40]);
    expect(f(vector(3)).tolist()).toEqual([0, 0]);
    expect(f.traceCount).toBe(2);
  });

  scoped("another stream is another graph", () => {
    using stream = mx.newStream("cpu");
    using f = mx.compile((x: mx.Array) => mx.add(x, 1));
    f(vector(1));
    expect(mx.withStream(stream, () => f(vector(1))).item()).toBe(2);
    expect(f.traceCount).toBe(2);
    expect(mx.withStream(stream, () => f(vector(2))).item()).toBe(3);
    expect(f(vector(3)).item()).toBe(4);
    expect(f.traceCount).toBe(2);
  });
});

describe("results", () => {
  scoped("are trees of any form, with constants", () => {
    using f = mx.compile((x: mx.Array, n: number) => ({
      list: [mx.add(x, n), null, "text"],
      map: new Map<string, unknown>([
        ["x", x],
        ["n", n],
      ]),
      nested: { again: [x, x] },
    }));
    for (const n of [1, 2, 1]) {
      const { list, map, nested } = f(vector(5), n);
      expect((list[0] as mx.Array).item()).toBe(5 + n);
      expect(list.slice(1)).toEqual([null, "text"]);
      expect((map.get("x") as mx.Array).item()).toBe(5);
      expect(map.get("n")).toBe(n);
      expect(nested.again.map((array) => array.item())).toEqual([5, 5]);
    }
    expect(f.traceCount).toBe(2);
  });

  scoped("may differ in form or constants by shape", () => {
    using f = mx.compile((x: mx.Array): unknown =>
      x.ndim === 0 ? x : x.size > 2 ? [x, x.size, mx.sum(x)] : [x, x.size],
    );
    for (let round = 0; round < 3; round++) {
      expect((f(mx.array(7)) as mx.Array).item()).toBe(7);
      expect((f(vector(1, 2)) as unknown[])[1]).toBe(2);
      expect((f(vector(4)) as unknown[])[1]).toBe(1);
      const [, size, sum] = f(vector(1, 2, 3)) as [mx.Array, number, mx.Array];
      expect([size, sum.item()]).toEqual([3, 6]);
    }
    expect(f.traceCount).toBe(4);
  });

  scoped("an array and a constant null in turn are told apart", () => {
    using f = mx.compile((x: mx.Array): [mx.Array | null, mx.Array | null] => (x.size === 1 ? [x, null] : [null, x]));
    for (let round = 0; round < 2; round++) {
      expect(f(vector(1)).map((item) => item === null)).toEqual([false, true]);
      expect(f(vector(1, 2)).map((item) => item === null)).toEqual([true, false]);
    }
  });

  scoped("may hold no array, and arguments neither", () => {
    using constant = mx.compile(() => 3);
    using nothing = mx.compile((_x: mx.Array) => undefined);
    using made = mx.compile(() => mx.arange(3));
    for (let i = 0; i < 2; i++) {
      expect(constant()).toBe(3);
      expect(nothing(vector(1))).toBeUndefined();
      expect(made().tolist()).toEqual([0, 1, 2]);
    }
    expect([constant.traceCount, nothing.traceCount, made.traceCount]).toEqual([1, 1, 1]);
  });

  scoped("an argument that is returned is an array of its own", () => {
    using f = mx.compile((x: mx.Array) => [x, x]);
    const x = vector(1, 2);
    const [a, b] = f(x) as [mx.Array, mx.Array];
    x.dispose();
    a.dispose();
    expect(b.tolist()).toEqual([1, 2]);
  });

  scoped("inputs that are freed before the evaluation do not matter", () => {
    using f = mx.compile((a: mx.Array, b: mx.Array) => mx.add(mx.multiply(a, b), mx.exp(mx.multiply(a, 0))));
    const outs = [1, 2, 3].map((n) => {
      using a = mx.add(vector(n, n), 0);
      using b = vector(n, 1);
      return f(a, b);
    });
    expect(outs.map((out) => out.tolist())).toEqual([
      [2, 2],
      [5, 3],
      [10, 4],
    ]);
  });
});

describe("shapeless", () => {
  scoped("traces once for all lengths, and again for another number of axes or dtype", () => {
    using f = mx.compile((x: mx.Array) => mx.sum(mx.multiply(x, 2), { axis: 0 }), { shapeless: true });
    expect(f(vector(1, 2)).item()).toBe(6);
    expect(f(vector(1, 2, 3, 4)).item()).toBe(20);
    expect(f.traceCount).toBe(1);
    expect(f(mx.ones([2, 3])).tolist()).toEqual([4, 4, 4]);
    expect(f(mx.ones([3, 2])).tolist()).toEqual([6, 6]);
    expect(f(mx.array([1, 2], { dtype: "int32" })).dtype).toBe("int32");
    expect(f.traceCount).toBe(3);
  });

  // The results of Python MLX 0.32.2.
  scoped("refuses what cannot tell its shape", () => {
    using f = mx.compile((x: mx.Array) => x.get("0:1"), { shapeless: true });
    // The first call uses the shapes of the trace in other builds; here it asks at once.
    expect(caught(() => f(mx.ones([4, 3]))).message).toBe(
      "compile: [Primitive::output_shapes] Slice cannot infer output shapes.",
    );
    using g = mx.compile((x: mx.Array) => mx.reshape(x, [3, 2]), { shapeless: true });
    expect(g(mx.ones([2, 3])).shape).toEqual([3, 2]);
    expect(caught(() => g(mx.ones([4, 3]))).message).toContain("Cannot reshape array of size 12 into shape (3,2)");
    expect(g(mx.ones([2, 3])).shape).toEqual([3, 2]);
  });
});
