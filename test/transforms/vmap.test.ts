// vmap: axes of every form, trees, nesting, what is refused, and what is left behind.
import { describe, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { caught, refusal, scoped, untyped } from "../helpers.ts";
import { watchHandles } from "./watch.ts";

watchHandles();

const matrix = (): mx.Array => mx.reshape(mx.arange(6, { dtype: "float32" }), [2, 3]);
const vector = (...values: number[]): mx.Array => mx.array(values);

describe("axes", () => {
  scoped("default 0, in and out", () => {
    const seen: number[][] = [];
    const f = mx.vmap((row: mx.Array) => {
      seen.push(row.shape);
      return mx.sum(row);
    });
    expect(f(matrix()).tolist()).toEqual([3, 12]);
    expect(seen).toEqual([[3]]);
  });

  scoped("one for all, one for each, null for none, from either end", () => {
    const x = matrix();
    expect(
      mx
        .vmap((c: mx.Array) => mx.sum(c), { inAxes: 1 })(x)
        .tolist(),
    ).toEqual([3, 5, 7]);
    expect(
      mx
        .vmap((c: mx.Array) => mx.sum(c), { inAxes: -1 })(x)
        .tolist(),
    ).toEqual([3, 5, 7]);
    const dot = (a: mx.Array, b: mx.Array): mx.Array => mx.sum(mx.multiply(a, b));
    expect(
      mx
        .vmap(dot, { inAxes: [0, null] })(x, vector(1, 10, 100))
        .tolist(),
    ).toEqual([210, 543]);
    expect(
      mx
        .vmap(dot, { inAxes: [null, -1] })(vector(1, 10), x)
        .tolist(),
    ).toEqual([30, 41, 52]);
    expect(
      mx
        .vmap(dot, { inAxes: [0, -1] })(x, x.T)
        .tolist(),
    ).toEqual([5, 50]);
  });

  scoped("of the results", () => {
    const x = matrix();
    const same = (row: mx.Array): mx.Array => row;
    expect(mx.vmap(same, { outAxes: 1 })(x).tolist()).toEqual(x.T.tolist());
    expect(mx.vmap(same, { outAxes: -1 })(x).tolist()).toEqual(x.T.tolist());
    expect(mx.vmap(same, { inAxes: 1, outAxes: 1 })(x).tolist()).toEqual(x.tolist());
    expect(mx.vmap(same, { inAxes: 1 })(x).tolist()).toEqual(x.T.tolist());
    const [rows, columns] = mx.vmap((row: mx.Array) => [row, mx.multiply(row, 2)], { outAxes: [0, 1] })(x);
    expect(rows!.shape).toEqual([2, 3]);
    expect(columns!.shape).toEqual([3, 2]);
  });

  scoped("trees of them, for arguments and results", () => {
    const x = matrix();
    const f = mx.vmap(
      (tree: { a: mx.Array; b: mx.Array; deep: [mx.Array] }, map: Map<string, mx.Array>) => ({
        s: mx.add(tree.a, tree.b),
        t: new Map([["t", mx.add(mx.sum(tree.deep[0]), map.get("m")!)]]),
      }),
      { inAxes: [{ a: 0, b: null, deep: [1] }, { m: 0 }], outAxes: { s: 1, t: { t: 0 } } },
    );
    const out = f({ a: x, b: vector(1, 1, 1), deep: [x.T] }, new Map([["m", vector(10, 20)]]));
    expect(out.s.tolist()).toEqual([
      [1, 4],
      [2, 5],
      [3, 6],
    ]);
    expect(out.t.get("t")!.tolist()).toEqual([13, 32]);
  });

  scoped("constants in trees pass through", () => {
    const f = mx.vmap((row: mx.Array, options: { scale: number; name: string }) => mx.multiply(row, options.scale));
    expect(f(vector(1, 2), { scale: 3, name: "n" }).tolist()).toEqual([3, 6]);
  });

  scoped("an item of no axes, and of many", () => {
    expect(mx.vmap((item: mx.Array) => mx.expandDims(item, 0))(vector(1, 2)).shape).toEqual([2, 1]);
    const seen: number[][] = [];
    mx.vmap((x: mx.Array) => (seen.push(x.shape), x), { inAxes: 2 })(mx.zeros([2, 3, 4, 5]));
    expect(seen).toEqual([[2, 3, 5]]);
    expect(mx.vmap((x: mx.Array) => mx.add(x, 1))(mx.zeros([0, 3])).shape).toEqual([0, 3]);
  });
});

describe("functions", () => {
  scoped("that do not depend on the input give the same for every item, as Python's", () => {
    expect(
      mx
        .vmap((_: mx.Array) => vector(5, 6))(matrix())
        .tolist(),
    ).toEqual([
      [5, 6],
      [5, 6],
    ]);
    const captured = vector(1, 2, 3);
    expect(mx.vmap((row: mx.Array) => [mx.add(row, captured), captured])(matrix())[1]!.shape).toEqual([2, 3]);
    const b = vector(7);
    expect(
      mx
        .vmap((_a: mx.Array, b: mx.Array) => b, { inAxes: [0, null] })(matrix(), b)
        .tolist(),
    ).toEqual([[7], [7]]);
  });

  scoped("nested, each over an axis of its own", () => {
    const multiply = (a: mx.Array, b: mx.Array): mx.Array => mx.multiply(a, b);
    const outer = mx.vmap(mx.vmap(multiply, { inAxes: [null, 0] }), { inAxes: [0, null] });
    expect(outer(vector(1, 2), vector(3, 4, 5)).tolist()).toEqual([
      [3, 4, 5],
      [6, 8, 10],
    ]);
    const three = mx.vmap(mx.vmap(mx.vmap((x: mx.Array) => mx.sum(x))));
    expect(three(mx.ones([2, 3, 4, 5])).tolist()).toEqual(mx.full([2, 3, 4], 5).tolist());
  });

  // The numbers of Python MLX 0.32.2.
  scoped("with a key for each item", () => {
    const draw = mx.vmap((key: mx.Array) => mx.random.normal([2], { key }));
    const out = (draw(mx.random.split(mx.random.key(0), 3)).tolist() as number[][]).flat();
    const want = [-0.094938, -0.090861, 1.26369, -0.0423022, 0.216357, -0.526785];
    for (const [i, value] of want.entries()) expect(out[i]).toBeCloseTo(value, 5);
  });

  scoped("that evaluate a placeholder are refused, and leave nothing", () => {
    expect(caught(() => mx.vmap((row: mx.Array) => (mx.eval(row), row))(matrix())).message).toContain(
      "Attempting to eval an array during function transformations like compile or vmap is not allowed",
    );
  });

  test("that throw: the same object comes out, also of two levels", () => {
    using x = mx.ones([2, 3]);
    for (const thrown of [new Error("mine"), undefined, 3]) {
      const f = mx.vmap((_: mx.Array): mx.Array => {
        throw thrown;
      });
      let got: unknown = "nothing";
      try {
        mx.vmap(f)(x);
      } catch (error) {
        got = error;
      }
      expect(got).toBe(thrown);
    }
  });

  test("that dispose what they were given", () => {
    const x = mx.ones([2, 3]);
    const f = mx.vmap((row: mx.Array) => {
      const out = mx.multiply(row, 2);
      row.dispose();
      x.dispose();
      return out;
    });
    using y = f(x);
    expect(y.tolist()).toEqual([
      [2, 2, 2],
      [2, 2, 2],
    ]);
  });
});

describe("what is refused", () => {
  const refused = (run: () => unknown): string => mx.tidy(() => refusal(run));
  const sum = (...arrays: mx.Array[]): mx.Array => mx.sum(arrays[0]!);

  test("different lengths", () => {
    expect(refused(() => mx.vmap(sum)(matrix(), matrix().T))).toBe(
      "RangeError: vmap: the mapped axes must have one length, and have 2, 3.",
    );
  });

  test("axes out of range, of another type or form", () => {
    expect(refused(() => mx.vmap(sum, { inAxes: 2 })(matrix()))).toBe(
      "RangeError: vmap: inAxes has 2, out of range for an array of 2 axes.",
    );
    expect(refused(() => mx.vmap(sum, { inAxes: -3 })(matrix()))).toStartWith("RangeError: vmap: inAxes has -3");
    expect(refused(() => mx.vmap(sum)(mx.array(1)))).toStartWith("RangeError: vmap: inAxes has 0, out of range");
    expect(refused(() => mx.vmap((x: mx.Array) => x, { outAxes: 2 })(matrix()))).toStartWith(
      "RangeError: vmap: outAxes has 2",
    );
    expect(refused(() => mx.vmap(sum, { inAxes: 0.5 })(matrix()))).toStartWith(
      "TypeError: vmap: inAxes must be integers",
    );
    expect(refused(() => mx.vmap(sum, { inAxes: untyped("0") })(matrix()))).toStartWith("TypeError: vmap: inAxes");
    expect(refused(() => mx.vmap(sum, { inAxes: [0] })(matrix(), matrix()))).toStartWith(
      "TypeError: vmap: inAxes must be a list of 2",
    );
    expect(refused(() => mx.vmap((t: { a: mx.Array }) => t.a, { inAxes: [{ b: 0 }] })({ a: matrix() }))).toBe(
      'TypeError: vmap: inAxes has nothing for "a".',
    );
    expect(refused(() => mx.vmap((x: mx.Array) => [x, x], { outAxes: [0] })(matrix()))).toStartWith(
      "TypeError: vmap: outAxes must be a list of 2",
    );
  });

  test("nothing to map, no Array, no function", () => {
    expect(refused(() => mx.vmap(sum, { inAxes: null })(matrix()))).toStartWith("RangeError: vmap: inAxes is null");
    expect(refused(() => mx.vmap(untyped<() => mx.Array>(() => 1))())).toBe(
      "TypeError: vmap: the arguments hold no Array.",
    );
    expect(refused(() => mx.vmap(untyped<(x: mx.Array) => mx.Array>(() => 1))(matrix()))).toStartWith(
      "TypeError: vmap: the function must return",
    );
    expect(refused(() => mx.vmap(untyped<() => mx.Array>("f")))).toStartWith("TypeError: vmap: expected a function");
    expect(refused(() => mx.vmap(sum, untyped({ in_axes: 0 })))).toStartWith(
      'TypeError: vmap: unknown option "in_axes"',
    );
    expect(refused(() => mx.vmap(async (x: mx.Array) => x)(matrix()))).toStartWith(
      "TypeError: vmap: the function returned a promise",
    );
  });
});

scoped("the gradient of a checkpoint cannot be batched: the error says what can", () => {
  const f = (x: mx.Array): mx.Array => mx.multiply(mx.sin(x), x);
  const xs = vector(1, 2, 3);
  const error = caught(() => mx.vmap(mx.grad(mx.checkpoint(f)))(xs)) as mx.MlxError;
  expect(error.reason).toBe("[Primitive::vmap] Not implemented for Depends.");
  expect(error.message).toContain("take mx.grad(mx.checkpoint((x) => mx.sum(mx.vmap(f)(x))))");
  const forwards = (): unknown => mx.jvp((x) => [mx.grad(mx.checkpoint(f))(x)], [mx.array(1)], [mx.array(1)]);
  expect(refusal(forwards)).toContain("or leave the checkpoint out");
  const batched = mx.grad(mx.checkpoint((x: mx.Array) => mx.sum(mx.vmap(f)(x))))(xs);
  expect(batched.tolist()).toEqual(mx.vmap(mx.grad(f))(xs).tolist());
});
