// What Python MLX 0.32.2 says about gradients at the edges: integers, booleans, results of every form, objects.
import { expect } from "bun:test";
import * as mx from "../../src/index.ts";
import { refusal, scoped, untyped } from "../helpers.ts";

const vector = (...values: number[]): mx.Array => mx.array(values);

scoped("integers and booleans get gradients of their own dtype", () => {
  const float = (x: mx.Array): mx.Array => mx.sum(mx.astype(x, "float32"));
  const ints = mx.grad(float)(mx.array([1, 2], { dtype: "int32" }));
  expect([ints.dtype, ints.tolist()]).toEqual(["int32", [1, 1]]);
  const sum = mx.grad((x: mx.Array) => mx.sum(x))(mx.array([1, 2], { dtype: "int32" }));
  expect([sum.dtype, sum.tolist()]).toEqual(["int32", [1, 1]]);
  const bools = mx.grad(float)(mx.array([true]));
  expect([bools.dtype, bools.tolist()]).toEqual(["bool", [true]]);
  const cast = mx.grad((x: mx.Array) => mx.sum(mx.astype(x, "int32")))(vector(1, 2));
  expect([cast.dtype, cast.tolist()]).toEqual(["float32", [1, 1]]);
  const half = mx.grad((x: mx.Array) => mx.sum(mx.square(x)))(mx.array([3], { dtype: "bfloat16" }));
  expect([half.dtype, half.tolist()]).toEqual(["bfloat16", [6]]);
});

scoped("what does not depend on the argument gives zeros", () => {
  expect(
    mx
      .grad((_: mx.Array) => mx.array(3))(vector(1, 2))
      .tolist(),
  ).toEqual([0, 0]);
  expect(
    mx
      .grad((x: mx.Array) => mx.sum(mx.stopGradient(x)))(vector(1, 2))
      .tolist(),
  ).toEqual([0, 0]);
  expect(
    mx
      .grad((x: mx.Array) => mx.sum(mx.multiply(x, mx.stopGradient(x))))(vector(1, 2))
      .tolist(),
  ).toEqual([1, 2]);
  const [da, db] = mx.grad((a: mx.Array, _: mx.Array) => mx.sum(a), { argnums: [0, 1] })(vector(1), vector(2));
  expect([da.item(), db.item()]).toEqual([1, 0]);
});

scoped("what comes beside the loss is not differentiated, and may be anything", () => {
  const f = mx.valueAndGrad((x: mx.Array) => [mx.sum(x), { y: mx.square(x), n: 3 }, "text"] as const);
  const [[loss, aux, text], gradient] = f(vector(1, 2));
  expect([loss.item(), aux.y.tolist(), aux.n, text]).toEqual([3, [1, 4], 3, "text"]);
  expect(gradient.tolist()).toEqual([1, 1]);
  // Also for a derivative further out: the auxiliary value is a constant there.
  const outer = mx.grad((x: mx.Array) => mx.sum((f(x)[0][1] as { y: mx.Array }).y));
  expect(outer(vector(1, 2)).tolist()).toEqual([0, 0]);
});

scoped("the loss comes alone or first in a list", () => {
  const refused = (value: (x: mx.Array) => unknown): string => refusal(() => mx.valueAndGrad(value)(vector(1)));
  const words = "TypeError: valueAndGrad: the function must return a scalar Array, or a list that begins with one";
  for (const value of [
    (x: mx.Array) => ({ loss: mx.sum(x) }),
    (x: mx.Array) => [[mx.sum(x)]],
    (x: mx.Array) => [1, mx.sum(x)],
    (x: mx.Array) => new Map([["loss", mx.sum(x)]]),
    () => [],
    () => 1,
    () => undefined,
  ]) {
    expect(refused(value)).toStartWith(words);
  }
  const vectorValued = refusal(() => mx.grad((x: mx.Array) => x)(vector(1, 2)));
  expect(vectorValued).toContain("[vjp] Output shape (2) does not match cotangent shape ()");
  expect(vectorValued).toContain("let the function return a scalar, by mx.sum or mx.mean");
  // A cotangent that its caller gave says nothing about the function.
  const ofVjp = refusal(() => mx.vjp((x: mx.Array) => [x], [vector(1, 2)], [mx.array(1)]));
  expect(ofVjp).toContain("does not match cotangent shape ()");
  expect(ofVjp).not.toContain("let the function return a scalar");
});

scoped("objects with the state protocol are no trees of gradients, and the error says what is", () => {
  class Model {
    w = vector(1);
    get [mx.treeState](): { get(): unknown; set(value: unknown): void } {
      return { get: () => ({ w: this.w }), set: () => undefined };
    }
  }
  const model = new Model();
  expect(refusal(() => mx.grad((m: Model) => mx.sum(m.w))(model))).toBe(
    "TypeError: grad: argument 0 holds Arrays inside of a Model: use lists, plain objects or Maps.",
  );
  // As another argument it passes through.
  expect(
    mx
      .grad((x: mx.Array, m: Model) => mx.sum(mx.multiply(x, m.w)))(vector(2), model)
      .item(),
  ).toBe(1);
  expect(refusal(() => mx.grad(untyped<() => mx.Array>(1)))).toStartWith("TypeError: grad: expected a function");
});

scoped("third derivatives, and mixed ones", () => {
  const fourth = (x: mx.Array): mx.Array => mx.power(x, 4);
  expect(
    mx
      .grad(mx.grad(mx.grad(fourth)))(mx.array(2))
      .item(),
  ).toBe(48);
  const f = (x: mx.Array, y: mx.Array): mx.Array => mx.multiply(mx.square(x), mx.power(y, 3));
  const dxdy = mx.grad((x: mx.Array, y: mx.Array) => mx.grad(f)(x, y), { argnums: 1 });
  expect(dxdy(mx.array(3), mx.array(2)).item()).toBe(2 * 3 * 3 * 4);
});
