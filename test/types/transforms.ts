// Checked by tsc, never run: what the types of the transforms say, and what they must refuse.
import * as mx from "../../src/index.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>): void => undefined;

interface Params {
  w: mx.Array;
  layers: mx.Array[];
}

declare const x: mx.Array;
declare const params: Params;
declare const loss: (p: Params, input: mx.Array, scale: number) => mx.Array;

export function accepted(): void {
  // A gradient has the type of its argument.
  same<ReturnType<ReturnType<typeof mx.grad<[Params, mx.Array, number]>>>, Params>(true);
  const first = mx.grad(loss)(params, x, 2);
  same<typeof first, Params>(true);
  const second = mx.grad(loss, { argnums: 1 })(params, x, 2);
  same<typeof second, mx.Array>(true);
  const both = mx.grad(loss, { argnums: [1, 0] })(params, x, 2);
  same<typeof both, [mx.Array, Params]>(true);
  const pair = mx.valueAndGrad(loss)(params, x, 2);
  same<(typeof pair)[0], mx.Array>(true);
  same<(typeof pair)[1], Params>(true);
  using owned = mx.valueAndGrad((a: mx.Array) => [mx.sum(a), { aux: a }] as const)(x);
  same<(typeof owned)[0][1], { readonly aux: mx.Array }>(true);

  // A transformed function takes and gives what the function does.
  const mapped = mx.vmap((a: mx.Array, p: Params) => [a, p] as const, {
    inAxes: [0, { w: null, layers: 1 }],
    outAxes: -1,
  });
  same<Parameters<typeof mapped>, [a: mx.Array, p: Params]>(true);
  same<ReturnType<typeof mapped>, readonly [mx.Array, Params]>(true);
  using compiled = mx.compile(loss, { state: [params, mx.random.state], shapeless: false });
  same<ReturnType<typeof compiled>, mx.Array>(true);
  same<typeof compiled.traceCount, number>(true);
  const recomputed = mx.checkpoint(loss);
  same<typeof recomputed, (p: Params, input: mx.Array, scale: number) => mx.Array>(true);

  // Rules see one argument as itself, several as a list.
  mx.customFunction((a: mx.Array) => ({ y: a }), {
    vjp: (primal, cotangent, output) => {
      same<typeof primal, mx.Array>(true);
      same<typeof output, { y: mx.Array }>(true);
      return cotangent.y;
    },
    vmap: (input, _axes) => [{ y: input }, 0],
  });
  mx.customFunction((a: mx.Array, b: Params) => [a, b] as const, {
    jvp: ([a, b]) => {
      same<typeof b, Params>(true);
      return a;
    },
  });
  const [outputs, products] = mx.vjp((a, b) => [a, b], [x, x], [x, x]);
  same<typeof outputs, mx.Array[]>(true);
  same<typeof products, mx.Array[]>(true);
  mx.grad(mx.grad((a: mx.Array) => a));
  mx.vmap(mx.compile(mx.grad((a: mx.Array) => mx.sum(a))));
}

export function refused(): void {
  // @ts-expect-error: a missing argument
  mx.grad(loss)(params, x);
  // @ts-expect-error: an argument of another type
  mx.grad(loss)(x, x, 2);
  // @ts-expect-error: a gradient of parameters is no Array
  mx.grad(loss)(params, x, 2).add(1);
  // @ts-expect-error: argnums is a position, not a name
  mx.grad(loss, { argnums: "w" });
  // @ts-expect-error: an option in Python's spelling
  mx.grad(loss, { argNums: 0 });
  // @ts-expect-error: a list of two positions gives two gradients
  const [_a, _b, _c] = mx.grad(loss, { argnums: [0, 1] })(params, x, 2);
  // @ts-expect-error: an option that only Python has
  mx.compile(loss, { inputs: params });
  // @ts-expect-error: shapeless is a boolean
  mx.compile(loss, { shapeless: "yes" });
  // @ts-expect-error: the number of traces is counted, not set
  mx.compile(loss).traceCount = 0;
  // @ts-expect-error: a compiled function takes what the function takes
  mx.compile(loss)(params);
  // @ts-expect-error: an axis is a number, null, or a tree of them
  mx.vmap((a: mx.Array) => a, { inAxes: "0" });
  // @ts-expect-error: an option in Python's spelling
  mx.vmap((a: mx.Array) => a, { in_axes: 0 });
  // @ts-expect-error: no such rule
  mx.customFunction((a: mx.Array) => a, { grad: () => x });
  // @ts-expect-error: the rule for vmap gives outputs and axes
  mx.customFunction((a: mx.Array) => a, { vmap: (a) => a });
  // @ts-expect-error: primals are a list
  mx.vjp((a) => a, x, [x]);
  // @ts-expect-error: a tangent for each primal, and all are Arrays
  mx.jvp((a) => a, [x], [1]);
  // @ts-expect-error: what is transformed is a function
  mx.checkpoint(x);
}
