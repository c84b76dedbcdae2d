// Reports from users of MLX's bindings: errors inside transforms, state, traces, batching, gradients.
import { describe, expect } from "bun:test";
import * as mx from "../../src/index.ts";
import { caught, refusal, scoped, untyped } from "../helpers.ts";

const one = (): mx.Array => mx.array(1);
const double = (x: mx.Array): mx.Array => x.multiply(2);

describe("B27: a function that throws", () => {
  class Mine extends Error {}
  const mine = new Mine("on purpose");
  const throws = (): mx.Array => {
    throw mine;
  };
  const transforms: Record<string, (fn: (x: mx.Array) => mx.Array) => unknown> = {
    grad: (fn) => mx.grad(fn)(one()),
    valueAndGrad: (fn) => mx.valueAndGrad(fn)(one()),
    vmap: (fn) => mx.vmap(fn)(mx.ones([2])),
    vjp: (fn) => mx.vjp(fn, [one()], [one()]),
    jvp: (fn) => mx.jvp(fn, [one()], [one()]),
    compile: (fn) => mx.compile(fn)(one()),
    checkpoint: (fn) => mx.checkpoint(fn)(one()),
    customFunction: (fn) => mx.customFunction(fn, { vjp: (_, cotangent) => cotangent })(one()),
    "grad of compile of vmap": (fn) => mx.grad((x: mx.Array) => mx.compile(mx.vmap(fn))(x).sum())(mx.ones([2])),
  };
  for (const [name, run] of Object.entries(transforms)) {
    scoped(`inside ${name}: the very error object comes out, and ${name} works afterwards`, () => {
      expect(caught(() => run(throws))).toBe(mine);
      expect(() => mx.eval(run(double))).not.toThrow();
      expect(caught(() => run(throws))).toBe(mine);
    });
  }
  scoped("what is thrown may be no Error at all", () => {
    for (const thrown of [undefined, null, 0, "text", { code: 1 }]) {
      let found: unknown = "nothing";
      try {
        mx.grad((_: mx.Array) => {
          throw thrown;
        })(one());
      } catch (error) {
        found = error;
      }
      expect(found).toBe(thrown);
    }
  });
  scoped("at the first call of a compiled function: it is traced again", () => {
    let calls = 0;
    const compiled = mx.compile((x: mx.Array) => {
      if (++calls === 1) throw mine;
      return double(x);
    });
    expect(caught(() => compiled(one()))).toBe(mine);
    expect(compiled(one()).item()).toBe(2);
    expect(compiled(one()).item()).toBe(2);
    expect([calls, compiled.traceCount]).toEqual([2, 2]);
    compiled.dispose();
  });
  scoped("in the backward rule of a custom function", () => {
    let broken = true;
    const custom = mx.customFunction(double, {
      vjp: (_, cotangent) => {
        if (broken) throw mine;
        return cotangent.multiply(5);
      },
    });
    const gradient = mx.grad((x: mx.Array) => custom(x));
    expect(caught(() => gradient(one()))).toBe(mine);
    broken = false;
    expect(gradient(one()).item()).toBe(5);
    expect(custom(one()).item()).toBe(2);
  });
});

describe("B27: a function that returns no array:", () => {
  for (const [name, value] of [
    ["undefined", undefined],
    ["a number", 3],
    ["null", null],
  ] as const) {
    scoped(`${name} is a TypeError in grad and vmap`, () => {
      expect(refusal(() => mx.grad((_: mx.Array) => value)(one()))).toMatch(
        /^TypeError: grad: the function must return/,
      );
      expect(refusal(() => mx.vmap((_: mx.Array) => untyped<mx.Array>(value))(mx.ones([2])))).toMatch(
        /^(TypeError|RangeError): vmap: /,
      );
    });
  }
  scoped("a promise is a TypeError everywhere", () => {
    const later = untyped<(x: mx.Array) => mx.Array>(async (x: mx.Array) => x);
    for (const run of [
      () => mx.grad(later)(one()),
      () => mx.vmap(later)(mx.ones([2])),
      () => mx.compile(later)(one()),
      () => mx.checkpoint(later)(one()),
      () => mx.vjp(later, [one()], [one()]),
      () => mx.customFunction(later, { vjp: (_, cotangent) => cotangent })(one()),
    ]) {
      expect(refusal(run)).toMatch(/^TypeError: \w+: the function returned a promise/);
    }
  });
});

describe("B38: random numbers in a compiled function", () => {
  const draw = (): mx.Array => mx.random.uniform({ shape: [2] });
  const near = (found: unknown, expected: number[]): void => {
    expect((found as number[]).length).toBe(2);
    for (const [i, value] of expected.entries()) expect((found as number[])[i]).toBeCloseTo(value, 5);
  };
  scoped("advance when the random state is given, and start anew with a seed", () => {
    using compiled = mx.compile(draw, { state: mx.random.state });
    mx.random.seed(0);
    near(compiled().tolist(), [0.576551, 0.299172]);
    near(compiled().tolist(), [0.503474, 0.480505]);
    mx.random.seed(0);
    near(compiled().tolist(), [0.576551, 0.299172]);
    expect(compiled.traceCount).toBe(1);
  });
  scoped("are constants when it is not, as in Python", () => {
    using compiled = mx.compile(draw);
    mx.random.seed(0);
    const first = compiled().tolist();
    expect(compiled().tolist()).toEqual(first);
  });
});

describe("B39: a compiled function", () => {
  scoped("sees new shapes, shapeless or not", () => {
    for (const shapeless of [false, true]) {
      using compiled = mx.compile((x: mx.Array, i: mx.Array) => mx.take(x, i).sum(), { shapeless });
      const x = mx.array([10, 20, 30, 40]);
      expect([1, 2, 3, 4].map((n) => compiled(x, mx.arange(n)).item())).toEqual([10, 30, 60, 100]);
      expect(compiled.traceCount).toBe(shapeless ? 1 : 4);
    }
  });
  scoped("is traced once for each constant among its arguments", () => {
    using compiled = mx.compile((x: mx.Array, k: number) => x.multiply(k));
    expect([1, 2, 3, 2].map((k) => compiled(mx.array(2), k).item())).toEqual([2, 4, 6, 4]);
    expect(compiled.traceCount).toBe(3);
  });
  scoped("is traced once for each dtype", () => {
    using compiled = mx.compile((x: mx.Array) => x.add(1));
    const dtypes = ["int32", "float32", "int32"] as const;
    expect(dtypes.map((dtype) => compiled(mx.ones([2], { dtype })).dtype)).toEqual([...dtypes]);
    expect(compiled.traceCount).toBe(2);
  });
  scoped("keeps a captured array as it was, and follows one that is its state", () => {
    const holder = { c: one() };
    const fn = (x: mx.Array): mx.Array => x.add(holder.c);
    using constant = mx.compile(fn);
    using following = mx.compile(fn, { state: holder });
    const found = [constant(one()).item(), following(one()).item()];
    holder.c = mx.array(10);
    found.push(constant(one()).item(), following(one()).item());
    expect(found).toEqual([2, 2, 2, 11]);
  });
  scoped("refuses item() inside, and the next compile works", () => {
    using bad = mx.compile((x: mx.Array) => x.multiply(x.item() as number));
    expect(refusal(() => bad(one()))).toMatch(
      /^MlxError: item: \[eval\] Attempting to eval an array during function transformations/,
    );
    using good = mx.compile(double);
    expect(good(one()).item()).toBe(2);
  });
  scoped("shapeless, refuses a reshape to a fixed size", () => {
    using compiled = mx.compile((x: mx.Array) => x.reshape(2, 2), { shapeless: true });
    expect(compiled(mx.ones([4])).shape).toEqual([2, 2]);
    expect(refusal(() => compiled(mx.ones([2, 3])).tolist())).toMatch(/^MlxError: .*reshape/);
  });
});

describe("B40: vmap", () => {
  const six = (): mx.Array => mx.arange(6, { dtype: "float32" }).reshape(2, 3);
  scoped("counts negative axes from the end", () => {
    expect(
      mx
        .vmap((x: mx.Array) => x.sum(), { inAxes: -1 })(six())
        .tolist(),
    ).toEqual([3, 5, 7]);
    const back = mx.vmap(double, { inAxes: -2, outAxes: -2 });
    expect(back(six()).tolist()).toEqual([
      [0, 2, 4],
      [6, 8, 10],
    ]);
    expect(mx.vmap(double, { inAxes: -1, outAxes: -1 })(six()).tolist()).toEqual([
      [0, 2, 4],
      [6, 8, 10],
    ]);
  });
  scoped("leaves what null stands for as it is", () => {
    const scaled = mx.vmap((x: mx.Array, y: mx.Array) => x.multiply(y), { inAxes: [0, null] });
    expect(scaled(mx.arange(3, { dtype: "float32" }), mx.array(3)).tolist()).toEqual([0, 3, 6]);
  });
  scoped("refuses lengths that differ, and axes out of range", () => {
    const both = mx.vmap((x: mx.Array, y: mx.Array) => x.add(y));
    expect(refusal(() => both(mx.ones([3]), mx.ones([2])))).toMatch(/^RangeError: vmap: .*one length.* 3, 2/);
    for (const axis of [5, -2]) {
      expect(refusal(() => mx.vmap(double, { inAxes: axis })(mx.ones([3])))).toMatch(/^RangeError: vmap: inAxes has /);
      expect(refusal(() => mx.vmap(double, { outAxes: axis })(mx.ones([3])))).toMatch(
        /^RangeError: vmap: outAxes has /,
      );
    }
  });
});

describe("B42: grad", () => {
  scoped("of a vector says that a scalar is needed", () => {
    expect(refusal(() => mx.grad((x: mx.Array) => x.square())(mx.array([3])))).toMatch(/must return a scalar/);
  });
  scoped("refuses argnums that name no argument", () => {
    const options = untyped<{ argnums: 0 }>({ argnums: 1 });
    expect(refusal(() => mx.grad((x: mx.Array) => x, options)(one()))).toMatch(/^RangeError: grad: argnums has 1/);
  });
  const cases: Record<string, [(x: mx.Array) => mx.Array, () => mx.Array, mx.Dtype, unknown]> = {
    // The square root's own infinity times the zero that where gives: NaN, in Python too.
    "of where over a square root is NaN": [
      (x) => mx.where(x.greater(0), mx.sqrt(x), 0).sum(),
      () => mx.array([-1, 0, 4]),
      "float32",
      [NaN, NaN, 0.25],
    ],
    "of a maximum shares between equals": [(x) => mx.max(x), () => mx.array([2, 2, 1]), "float32", [0.5, 0.5, 0]],
    "of abs at 0 is 0": [(x) => mx.abs(x).sum(), () => mx.array([0, -1]), "float32", [0, -1]],
    "stops at stopGradient": [(x) => mx.stopGradient(x).multiply(x), () => mx.array(3), "float32", 3],
    "keeps bfloat16": [(x) => x.multiply(3).sum(), () => mx.array([1], { dtype: "bfloat16" }), "bfloat16", [3]],
    "of integers are integers": [(x) => x.square().sum(), () => mx.array([3, 4], { dtype: "int32" }), "int32", [6, 8]],
  };
  for (const [name, [fn, argument, dtype, expected]] of Object.entries(cases)) {
    scoped(name, () => {
      const gradient = mx.grad(fn)(argument());
      expect([gradient.dtype, gradient.tolist()]).toEqual([dtype, expected as number[]]);
    });
  }
});
