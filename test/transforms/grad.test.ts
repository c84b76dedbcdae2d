// grad and valueAndGrad: values against derivatives done by hand, trees, argnums, and what is refused.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { liveFunctions } from "../../src/core/callbacks.ts";
import { functions } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { refusal, scoped, untyped } from "../helpers.ts";

// What is made once and kept: the handle of the default stream, the closure and the seed of all gradients.
mx.tidy(() => void mx.grad((x: mx.Array) => mx.add(x, 1))(mx.array(1)));
const kept = liveFunctions();
let start = 0;

beforeEach(() => {
  start = functions.mlxts_live_handles();
});

afterEach(() => {
  expect(functions.mlxts_live_handles()).toBe(start);
  expect(liveFunctions()).toBe(kept);
});

describe("values", () => {
  const points = [-2, -0.5, 0.3, 1, 2.5];
  const cases: [name: string, f: (x: mx.Array) => mx.Array, derivative: (x: number) => number][] = [
    ["x^2", (x) => mx.square(x), (x) => 2 * x],
    ["3x^3 - x", (x) => mx.subtract(mx.multiply(mx.power(x, 3), 3), x), (x) => 9 * x * x - 1],
    ["exp(-x)", (x) => mx.exp(mx.negative(x)), (x) => -Math.exp(-x)],
    ["sin(x) cos(x)", (x) => mx.multiply(mx.sin(x), mx.cos(x)), (x) => Math.cos(2 * x)],
    ["tanh(x)", (x) => mx.tanh(x), (x) => 1 / Math.cosh(x) ** 2],
    ["sigmoid(x)", (x) => mx.sigmoid(x), (x) => Math.exp(-x) / (1 + Math.exp(-x)) ** 2],
    ["|x|", (x) => mx.abs(x), (x) => Math.sign(x)],
    ["a constant", () => mx.array(7), () => 0],
    ["x itself", (x) => x, () => 1],
  ];
  for (const [name, f, derivative] of cases) {
    scoped(name, () => {
      const derive = mx.grad(f);
      for (const point of points) {
        const gradient = derive(mx.array(point));
        expect(gradient.shape).toEqual([]);
        expect(gradient.item()).toBeCloseTo(derivative(point), 4);
      }
    });
  }

  scoped("a sum over a matrix, and a matrix product", () => {
    const x = mx.array([
      [1, 2],
      [3, 4],
    ]);
    expect(
      mx
        .grad((a: mx.Array) => mx.sum(mx.square(a)))(x)
        .tolist(),
    ).toEqual([
      [2, 4],
      [6, 8],
    ]);
    const [a, b] = [mx.array([[1, 2, 3]]), mx.array([[4], [5], [6]])];
    const product = (p: mx.Array, q: mx.Array): mx.Array => mx.sum(mx.matmul(p, q));
    expect(mx.grad(product)(a, b).tolist()).toEqual([[4, 5, 6]]);
    expect(mx.grad(product, { argnums: 1 })(a, b).tolist()).toEqual([[1], [2], [3]]);
  });

  scoped("second and third derivatives", () => {
    const cube = (x: mx.Array): mx.Array => mx.power(x, 3);
    const second = mx.grad((x: mx.Array) => mx.grad(cube)(x));
    const third = mx.grad((x: mx.Array) => second(x));
    expect(second(mx.array(2)).item()).toBeCloseTo(12, 4);
    expect(third(mx.array(2)).item()).toBeCloseTo(6, 3);
  });

  scoped("the value comes along, and is right", () => {
    const [value, gradient] = mx.valueAndGrad((x: mx.Array) => mx.sum(mx.square(x)))(mx.array([1, 2, 3]));
    expect(value.item()).toBe(14);
    expect(gradient.tolist()).toEqual([2, 4, 6]);
  });

  scoped("stopGradient stops", () => {
    expect(
      mx
        .grad((x: mx.Array) => mx.multiply(mx.stopGradient(x), x))(mx.array(3))
        .item(),
    ).toBe(3);
  });

  scoped("an array that is closed over is a constant", () => {
    const factor = mx.array([2, 3]);
    const gradient = mx.grad((x: mx.Array) => mx.sum(mx.multiply(x, factor)))(mx.array([1, 1]));
    expect(gradient.tolist()).toEqual([2, 3]);
    expect(factor.disposed).toBe(false);
  });
});

describe("trees", () => {
  scoped("of any form give gradients of the same form", () => {
    const parameters = {
      layers: [
        { weight: mx.array([1, 2]), bias: mx.array(3) },
        { weight: mx.array([4, 5]), bias: null },
      ],
      map: new Map([["scale", mx.array(10)]]),
      name: "model",
      frozen: undefined,
    };
    const loss = (p: typeof parameters): mx.Array => {
      expect(p.name).toBe("model");
      const [first, second] = [p.layers[0]!, p.layers[1]!];
      const sum = mx.add(mx.sum(mx.multiply(first.weight, second.weight)), first.bias as mx.Array);
      return mx.multiply(sum, p.map.get("scale")!);
    };
    const gradients = mx.grad(loss)(parameters);
    expect(Object.keys(gradients)).toEqual(["layers", "map", "name", "frozen"]);
    expect(gradients.layers[0]!.weight.tolist()).toEqual([40, 50]);
    expect((gradients.layers[0]!.bias as mx.Array).tolist()).toBe(10);
    expect(gradients.layers[1]!.weight.tolist()).toEqual([10, 20]);
    expect(gradients.layers[1]!.bias).toBeNull();
    expect(gradients.map.get("scale")!.tolist()).toBe(17);
    expect(gradients.name).toBe("model");
    expect(parameters.layers[0]!.weight.disposed).toBe(false);
  });

  scoped("an array or object that stands twice gets two gradients", () => {
    const shared = { w: mx.array(3) };
    const gradients = mx.grad((pair: { w: mx.Array }[]) => mx.multiply(pair[0]!.w, mx.square(pair[1]!.w)))([
      shared,
      shared,
    ]);
    expect(gradients.map(({ w }) => w.item())).toEqual([9, 18]);
    const twice = mx.array(3);
    const list = mx.grad((xs: mx.Array[]) => mx.multiply(xs[0]!, mx.square(xs[1]!)))([twice, twice]);
    expect(list.map((gradient) => gradient.item())).toEqual([9, 18]);
  });

  scoped("the value may be a tree that begins with the scalar", () => {
    const x = mx.array([1, 2]);
    const [value, gradient] = mx.valueAndGrad(
      (a: mx.Array) => [mx.sum(a), { doubled: mx.multiply(a, 2), count: 2 }] as const,
    )(x);
    expect(value[0].item()).toBe(3);
    expect(value[1].doubled.tolist()).toEqual([2, 4]);
    expect(value[1].count).toBe(2);
    expect(gradient.tolist()).toEqual([1, 1]);
  });

  scoped("other arguments pass through as they are", () => {
    const seen: unknown[] = [];
    const model = new (class Model {
      factor = mx.array(5);
    })();
    const f = (x: mx.Array, ...rest: unknown[]): mx.Array => {
      seen.push(...rest);
      return mx.multiply(x, (rest[0] as typeof model).factor);
    };
    expect(mx.grad(f)(mx.array(2), model, 7, "text", undefined).item()).toBe(5);
    expect(seen).toEqual([model, 7, "text", undefined]);
    expect(seen[0]).toBe(model);
    expect(model.factor.disposed).toBe(false);
  });
});

describe("argnums", () => {
  const f = (a: mx.Array, b: mx.Array, c: mx.Array): mx.Array =>
    mx.multiply(mx.multiply(a, mx.square(b)), mx.power(c, 3));
  const args = (): [mx.Array, mx.Array, mx.Array] => [mx.array(2), mx.array(3), mx.array(5)];

  scoped("a position, from either end", () => {
    expect(
      mx
        .grad(f, { argnums: 0 })(...args())
        .item(),
    ).toBe(1125);
    expect(
      mx
        .grad(f, { argnums: 1 })(...args())
        .item(),
    ).toBe(1500);
    expect(
      mx
        .grad(f, { argnums: 2 })(...args())
        .item(),
    ).toBe(1350);
    expect(
      mx
        .grad(f, { argnums: -1 })(...args())
        .item(),
    ).toBe(1350);
    expect(
      mx
        .grad(f, { argnums: -3 })(...args())
        .item(),
    ).toBe(1125);
    expect(
      mx
        .grad(
          f,
          {},
        )(...args())
        .item(),
    ).toBe(1125);
  });

  scoped("a list gives a list, in its order", () => {
    const items = (gradients: readonly mx.Array[]): unknown[] => gradients.map((gradient) => gradient.item());
    expect(items(mx.grad(f, { argnums: [2, 0] })(...args()))).toEqual([1350, 1125]);
    expect(items(mx.grad(f, { argnums: [1] })(...args()))).toEqual([1500]);
    expect(items(mx.grad(f, { argnums: [-1, 0, 1] })(...args()))).toEqual([1350, 1125, 1500]);
    const [value, gradients] = mx.valueAndGrad(f, { argnums: [0, 1] })(...args());
    expect(value.item()).toBe(2250);
    expect(items(gradients)).toEqual([1125, 1500]);
  });

  scoped("what names no argument is refused", () => {
    const refused = (argnums: unknown): string =>
      refusal(() => mx.grad(f, { argnums: untyped<0>(argnums) })(...args()));
    for (const [value, text] of [
      [3, "3"],
      [-4, "-4"],
      [0.5, "0.5"],
      [NaN, "NaN"],
      ["0", '"0"'],
      [null, "null"],
      [[0, 3], "3"],
      [[, 1], "undefined"],
    ] as const) {
      expect(refused(value)).toBe(
        `RangeError: grad: argnums has ${text}, but the function was called with 3 argument(s).`,
      );
    }
    expect(refused([])).toBe("RangeError: grad: argnums must name at least one argument.");
    expect(refused([0, 0])).toBe("RangeError: grad: argnums [0, 0] names an argument twice.");
    expect(refused([1, -2])).toBe("RangeError: grad: argnums [1, -2] names an argument twice.");
    expect(refusal(() => mx.grad(() => mx.array(1))())).toContain("called with 0 argument(s)");
  });
});

describe("what is refused", () => {
  const grad = (argument: unknown): string =>
    refusal(() => mx.grad(untyped<() => mx.Array>((x: mx.Array) => x))(...untyped<[]>([argument])));

  scoped("arguments without an Array, or with other things in their place", () => {
    expect(grad({})).toBe("TypeError: grad: the differentiated arguments hold no Array.");
    expect(grad(undefined)).toBe("TypeError: grad: the differentiated arguments hold no Array.");
    expect(grad(5)).toBe(
      "TypeError: grad: argument 0 holds 5, which has no gradient: make it an Array, or pass it beside.",
    );
    expect(grad([mx.array(1), { lr: 0.1 }])).toContain("argument 0 holds 0.1, which has no gradient");
    expect(grad([mx.array(1), 1n])).toContain("argument 0 holds 1n");
    expect(grad(mx.newStream("cpu"))).toBe("TypeError: grad: expected an Array made by mlx-ts, got a Stream.");
    expect(grad({ x: mx.array(1), device: new mx.Device("cpu") })).toContain("got a Device");
    class Model {
      weight = mx.array(1);
    }
    expect(grad(new Model())).toBe(
      "TypeError: grad: argument 0 holds Arrays inside of a Model: use lists, plain objects or Maps.",
    );
    expect(grad(new Set([mx.array(1)]))).toContain("inside of a Set");
    const cycle: unknown[] = [mx.array(1)];
    cycle.push(cycle);
    expect(grad(cycle)).toBe("TypeError: grad: argument 0 holds itself.");
    const gone = mx.array(1);
    gone.dispose();
    expect(grad([gone])).toStartWith("DisposedError: grad: this Array was already disposed.");
  });

  scoped("functions that return no scalar Array", () => {
    const returning = (value: () => unknown): string =>
      refusal(() => mx.valueAndGrad(untyped<(x: mx.Array) => mx.Array>(value))(mx.array(1)));
    for (const [value, text] of [
      [undefined, "undefined"],
      [null, "null"],
      [3, "3"],
      [[], "[]"],
      [{ loss: 3 }, "an object"],
      [[3, 4], "[3, 4]"],
    ] as const) {
      expect(returning(() => value)).toBe(
        `TypeError: valueAndGrad: the function must return a scalar Array, or a list that begins with one, got ${text}.`,
      );
    }
    expect(returning(async () => mx.array(1))).toStartWith("TypeError: valueAndGrad: the function returned a promise");
    expect(returning(() => mx.array([1, 2]))).toStartWith("MlxError: valueAndGrad: ");
    expect(returning(() => new Set([mx.array(1)]))).toContain(
      "valueAndGrad: the function's result holds Arrays inside of a Set",
    );
    expect(returning(() => mx.newStream("cpu"))).toContain("must return an Array");
  });

  test("what is no function, and unknown options", () => {
    for (const value of [undefined, null, 5, "f", {}]) {
      expect(refusal(() => mx.grad(untyped<() => mx.Array>(value)))).toStartWith(
        "TypeError: grad: expected a function, got",
      );
      expect(refusal(() => mx.valueAndGrad(untyped<() => mx.Array>(value)))).toStartWith(
        "TypeError: valueAndGrad: expected",
      );
    }
    const f = (x: mx.Array): mx.Array => x;
    expect(refusal(() => mx.grad(f, untyped<object>({ argNums: 0 })))).toContain(
      'unknown option "argNums". Did you mean "argnums"?',
    );
    expect(refusal(() => mx.grad(f, untyped<object>(0)))).toContain("must be an options object ({ argnums }), got 0");
  });
});
