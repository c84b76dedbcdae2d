// customFunction, checkpoint, vjp and jvp: which rule runs when, what rules may return, and what is left behind.
import { describe, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { caught, refusal, scoped, untyped } from "../helpers.ts";
import { watchHandles } from "./watch.ts";

watchHandles();

const vector = (...values: number[]): mx.Array => mx.array(values);
const sum = (x: mx.Array): mx.Array => mx.sum(x);

describe("customFunction", () => {
  scoped("has the function's own values", () => {
    const f = mx.customFunction((x: mx.Array, y: mx.Array) => [mx.add(x, y), { d: mx.subtract(x, y) }] as const, {
      vjp: (primals) => primals,
    });
    const [s, { d }] = f(vector(5), vector(3));
    expect([s.item(), d.item()]).toEqual([8, 2]);
  });

  scoped("vjp gets the arguments, the cotangents and the outputs in their forms", () => {
    const f = mx.customFunction(
      (tree: { a: mx.Array }, b: mx.Array) => ({ product: mx.multiply(tree.a, b), sum: mx.add(tree.a, b) }),
      {
        vjp: ([tree, b], cotangents, outputs) => {
          expect([tree.a.tolist(), b.tolist()]).toEqual([
            [2, 3],
            [4, 5],
          ]);
          expect(outputs.product.tolist()).toEqual([8, 15]);
          expect(cotangents.sum.tolist()).toEqual([0, 0]);
          return [{ a: mx.multiply(cotangents.product, 10) }, mx.multiply(outputs.sum, 100)];
        },
      },
    );
    const gradient = mx.grad((t: { a: mx.Array }, b: mx.Array) => sum(f(t, b).product), { argnums: [0, 1] });
    const [dt, db] = gradient({ a: vector(2, 3) }, vector(4, 5));
    expect(dt.a.tolist()).toEqual([10, 10]);
    expect(db.tolist()).toEqual([600, 800]);
  });

  scoped("jvp gets null for an argument that is not differentiated", () => {
    const seen: unknown[] = [];
    const f = mx.customFunction((x: mx.Array, y: mx.Array) => mx.multiply(x, y), {
      jvp: ([x, y], [dx, dy]) => {
        seen.push(dx === null, dy === null);
        return mx.add(mx.multiply(dx ?? mx.zeros(x.shape), 100), mx.multiply(dy ?? mx.zeros(y.shape), 1000));
      },
    });
    const y = vector(3);
    expect(mx.jvp((x) => f(x, y), [vector(2)], [vector(1)])[1][0]!.item()).toBe(100);
    expect(mx.jvp((x, y) => f(x, y), [vector(2), y], [vector(1), vector(1)])[1][0]!.item()).toBe(1100);
    expect(seen).toEqual([false, true, false, false]);
  });

  scoped("vmap gets the axes, null for an argument that is not mapped, and gives those of the results", () => {
    const seen: unknown[] = [];
    const f = mx.customFunction((x: mx.Array, y: mx.Array) => mx.multiply(x, y), {
      vmap: ([x, y], axes) => {
        seen.push(axes);
        return [mx.add(mx.multiply(x, mx.expandDims(y, 0)), 1000).T, 1];
      },
    });
    const out = mx.vmap(f, { inAxes: [0, null] })(mx.ones([2, 3]), vector(1, 2, 3));
    expect(out.tolist()).toEqual([
      [1001, 1002, 1003],
      [1001, 1002, 1003],
    ]);
    expect(seen).toEqual([[0, null]]);
  });

  scoped("what has no rule is derived from the function", () => {
    const f = mx.customFunction((x: mx.Array) => mx.square(x), { vjp: (_, cotangent) => mx.multiply(cotangent, 7) });
    expect(
      mx
        .grad((x: mx.Array) => sum(f(x)))(vector(3))
        .item(),
    ).toBe(7);
    expect(mx.jvp((x) => f(x), [vector(3)], [vector(1)])[1][0]!.item()).toBe(6);
    expect(mx.vmap(f)(vector(2, 3)).tolist()).toEqual([4, 9]);
  });

  scoped("without rules, gradients reach what the function closes over; with one, they do not", () => {
    const inner = (rules: mx.CustomRules<[mx.Array], mx.Array>): number => {
      const g = (w: mx.Array): mx.Array => mx.customFunction((x: mx.Array) => mx.multiply(x, w), rules)(vector(5));
      return mx
        .grad((w: mx.Array) => sum(g(w)))(vector(2))
        .item() as number;
    };
    expect(inner({})).toBe(5);
    expect(inner({ vjp: (x) => x })).toBe(0);
  });

  scoped("rules that return too few, too many, the wrong shape or nothing are errors", () => {
    type Rules = mx.CustomRules<[mx.Array, mx.Array], mx.Array>;
    const make = (rules: Rules) => mx.customFunction((x: mx.Array, y: mx.Array) => mx.multiply(x, y), rules);
    const x = mx.ones([2, 3]);
    const vjp = (rule: (cotangent: mx.Array) => unknown): string => {
      const f = make({ vjp: (_, cotangent) => rule(cotangent) });
      return refusal(() => mx.grad((a: mx.Array, b: mx.Array) => sum(f(a, b)), { argnums: [0, 1] })(x, x));
    };
    const few = "TypeError: customFunction: vjp must return one Array for each of the 2 arguments";
    for (const wrong of [
      (c: mx.Array) => c,
      (c: mx.Array) => [c],
      (c: mx.Array) => [c, null],
      (c: mx.Array) => [c, c, c],
    ]) {
      expect(vjp(wrong)).toStartWith(few);
    }
    for (const wrong of [() => undefined, () => null, () => 5, () => []]) expect(vjp(wrong)).toStartWith(few);
    expect(vjp((c) => [c, mx.ones([5])])).toBe(
      "RangeError: customFunction: vjp returned the shape [5] for argument 1, whose shape is [2, 3].",
    );
    expect(vjp((c) => [mx.array(1), c])).toContain("returned the shape [] for argument 0");
    expect(vjp(async (c) => [c, c])).toStartWith("TypeError: customFunction: vjp");

    const jvp = (rule: () => unknown): string => {
      const f = make({ jvp: rule });
      return refusal(() => mx.jvp((a, b) => f(a, b), [x, x], [x, x]));
    };
    expect(jvp(() => [x, x])).toStartWith(
      "TypeError: customFunction: jvp must return one Array for each of the 1 results",
    );
    expect(jvp(() => mx.array(7))).toContain("jvp returned the shape [] for result 0, whose shape is [2, 3]");

    const vmap = (rule: () => unknown): string => {
      const f = make({ vmap: untyped(rule) });
      return refusal(() => mx.vmap(f)(x, x));
    };
    expect(vmap(() => x)).toStartWith("TypeError: customFunction: vmap must return [outputs, axes]");
    expect(vmap(() => [x, 5])).toStartWith("RangeError: customFunction: the axes of vmap's result has 5");
    expect(
      vmap(() => [
        [x, x],
        [0, 0],
      ]),
    ).toStartWith("TypeError: customFunction: vmap must return one Array for each of the 1");
    expect(vmap(() => [mx.ones([2, 4]), 0])).toContain("vmap, without its axis, returned the shape [4] for result 0");
  });

  test("what a rule throws comes out as the same object", () => {
    using x = vector(1, 2);
    const error = new Error("of a rule");
    const throws = (): never => {
      throw error;
    };
    const f = mx.customFunction((a: mx.Array) => mx.square(a), { vjp: throws, jvp: throws, vmap: throws });
    expect(caught(() => mx.grad((a: mx.Array) => sum(f(a)))(x))).toBe(error);
    expect(caught(() => mx.jvp((a) => f(a), [x], [x]))).toBe(error);
    expect(caught(() => mx.vmap(f)(x))).toBe(error);
    using y = f(x);
    expect(y.tolist()).toEqual([1, 4]);
  });

  test("a rule may dispose what it was given", () => {
    using x = vector(1, 2);
    const f = mx.customFunction((a: mx.Array) => mx.square(a), {
      vjp: (a, cotangent, output) => {
        const out = mx.multiply(cotangent, 3);
        mx.dispose([a, cotangent, output]);
        return out;
      },
    });
    using gradient = mx.grad((a: mx.Array) => sum(f(a)))(x);
    expect(gradient.tolist()).toEqual([3, 3]);
  });

  scoped("bad rules and functions are refused at once", () => {
    expect(refusal(() => mx.customFunction(untyped<() => mx.Array>(1), {}))).toStartWith(
      "TypeError: customFunction: expected a function",
    );
    expect(refusal(() => mx.customFunction(() => vector(1), untyped({ grad: 1 })))).toContain('unknown option "grad"');
    expect(refusal(() => mx.customFunction(() => vector(1), { vjp: untyped(1) }))).toStartWith(
      "TypeError: customFunction: expected a function",
    );
    const nothing = mx.customFunction(
      untyped<(x: mx.Array) => mx.Array>(() => 1),
      { vjp: (x) => x },
    );
    expect(refusal(() => nothing(vector(1)))).toStartWith(
      "TypeError: customFunction: the function must return an Array",
    );
  });

  scoped("the rules of a lazy result outlive the call", () => {
    const f = mx.customFunction((a: mx.Array) => mx.square(a), { vjp: (_, c) => mx.multiply(c, 11) });
    const g = mx.grad((a: mx.Array) => sum(mx.multiply(f(a), f(mx.add(a, 1)))));
    expect(g(vector(2)).item()).toBe(11 * 9 + 11 * 4);
  });
});

describe("checkpoint", () => {
  scoped("has the values and gradients of the function, which runs again for them", () => {
    let runs = 0;
    const f = (tree: { x: mx.Array }, n: number): { y: mx.Array } => {
      runs++;
      return { y: mx.multiply(mx.sin(tree.x), n) };
    };
    const g = mx.checkpoint(f);
    expect(g({ x: mx.array(0) }, 2).y.item()).toBe(0);
    expect(runs).toBe(1);
    const [value, gradient] = mx.valueAndGrad((tree: { x: mx.Array }) => g(tree, 2).y)({ x: mx.array(0) });
    expect([value.item(), gradient.x.item(), runs]).toEqual([0, 2, 3]);
    // Of the second derivative, MLX derives what the checkpoint runs again.
    const second = mx.grad((x: mx.Array) => mx.grad((y: mx.Array) => g({ x: y }, 2).y)(x))(mx.array(1));
    expect(second.item()).toBeCloseTo(-2 * Math.sin(1), 5);
  });

  test("what the second run throws comes out as the same object", () => {
    using x = mx.array(1);
    const error = new Error("again");
    let runs = 0;
    const g = mx.checkpoint((a: mx.Array) => {
      if (++runs === 2) throw error;
      return mx.sin(a);
    });
    expect(caught(() => mx.grad((a: mx.Array) => g(a))(x))).toBe(error);
    using gradient = mx.grad((a: mx.Array) => g(a))(x);
    expect(gradient.item()).toBeCloseTo(Math.cos(1), 5);
  });

  scoped("a second run of another form is an error", () => {
    let runs = 0;
    const g = mx.checkpoint((a: mx.Array): mx.Array[] => (++runs % 2 === 1 ? [mx.sin(a)] : [mx.expandDims(a, 0)]));
    expect(caught(() => mx.grad((a: mx.Array) => g(a)[0]!)(mx.array(1)))).toBeInstanceOf(mx.MlxError);
  });
});

describe("vjp and jvp", () => {
  const f = (x: mx.Array, y: mx.Array): mx.Array[] => [mx.multiply(x, y), mx.sin(x)];

  scoped("give the outputs and the products", () => {
    const primals = [vector(1, 2), vector(3, 4)];
    const [outputs, products] = mx.vjp(f, primals, [vector(1, 1), vector(0, 0)]);
    expect(outputs.map((out) => out.shape)).toEqual([[2], [2]]);
    expect(products.map((product) => product.tolist())).toEqual([
      [3, 4],
      [1, 2],
    ]);
    const [values, tangents] = mx.jvp((x, y) => mx.multiply(x, y), primals, [vector(1, 0), vector(0, 1)]);
    expect(values[0]!.tolist()).toEqual([3, 8]);
    expect(tangents[0]!.tolist()).toEqual([3, 2]);
  });

  scoped("refuse lists of another length or shape", () => {
    const one = vector(1, 2);
    expect(refusal(() => mx.vjp(f, [one, one], [one]))).toContain("does not match number of cotangents (1)");
    expect(refusal(() => mx.vjp(f, [one, one], [one, one, one]))).toBe(
      "RangeError: vjp: got 3 cotangents for a function that returns 2 Array(s).",
    );
    expect(refusal(() => mx.vjp(f, [one, one], [one, mx.array(1)]))).toContain("does not match cotangent shape");
    expect(refusal(() => mx.jvp(f, [one, one], [one]))).toContain("does not match number of tangents");
    expect(refusal(() => mx.jvp(f, [one, one], [one, mx.array(1)]))).toContain("does not match shape of tangent");
    expect(refusal(() => mx.vjp(f, untyped(one), [one]))).toStartWith(
      "TypeError: vjp: primals must be a list of Arrays",
    );
    expect(refusal(() => mx.jvp(f, [one, one], untyped([one, 1])))).toStartWith(
      "TypeError: jvp: tangents must be a list",
    );
    expect(refusal(() => mx.jvp(untyped<() => mx.Array>(null), [one], [one]))).toStartWith(
      "TypeError: jvp: expected a function",
    );
  });

  scoped("a cotangent for what stopGradient gives is not asked for", () => {
    const g = (x: mx.Array): mx.Array[] => [mx.stopGradient(x), mx.square(x)];
    expect(mx.vjp(g, [vector(3)], [vector(1)])[1][0]!.item()).toBe(6);
  });
});
