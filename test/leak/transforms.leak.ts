// Every transform, 10,000 times: made, called and left. Handles, closures and what MLX has compiled are as before.
import { liveFunctions } from "../../src/core/callbacks.ts";
import * as mx from "../../src/index.ts";
import { countWrong, type Finding, leakCases, measureLoop } from "./measure.ts";

const bounds = { iterations: 10_000, warm: 2000, growth: 20 };
const x = mx.keep(mx.array([1, 2, 3]));
const w = mx.keep(mx.array([0.5, -1, 2]));
const f = (a: mx.Array): mx.Array => mx.sum(mx.multiply(mx.square(a), w));

const held = { n: mx.keep(mx.array(0)) };

/** Runs a step in a scope and evaluates what it gives now and then. */
function loop(step: (i: number) => unknown): () => Finding[] {
  return () => {
    const before = liveFunctions();
    const findings = measureLoop(bounds, (i) =>
      mx.tidy(() => {
        const result = step(i);
        // The counter too: it would grow by a node each time.
        if (i % 10 === 0) mx.eval(result, held.n);
      }),
    );
    const left = liveFunctions() - before;
    return [...findings, { ok: left === 0, text: `${left} JavaScript functions still held by native code` }];
  };
}

/** Errors are part of the work: each must leave as little as a result. */
function failing(step: () => unknown): () => Finding[] {
  return loop(() => {
    try {
      step();
    } catch {
      return [];
    }
    throw new Error("the step did not fail");
  });
}

const stop = (): never => {
  throw new Error("stop");
};
const custom = mx.customFunction((a: mx.Array) => mx.square(a), {
  vjp: (a, cotangent) => mx.multiply(mx.multiply(cotangent, a), 2),
  jvp: (a, tangent) => mx.multiply(mx.multiply(tangent, a), 2),
  vmap: (a, axis) => [mx.square(a), axis as number | null],
});
const total =
  (g: (a: mx.Array) => mx.Array) =>
  (a: mx.Array): mx.Array =>
    mx.sum(g(a));

const state = {
  get [mx.treeState](): { get(): unknown; set(value: unknown): void } {
    return {
      get: () => ({ ...held }),
      set: (value) => {
        const { n } = value as { n: mx.Array };
        if (n === held.n) return;
        held.n.dispose();
        held.n = mx.keep(n);
      },
    };
  },
};
const counter = (a: mx.Array): mx.Array => {
  const next = mx.add(held.n, 1);
  held.n.dispose();
  held.n = mx.keep(next);
  return mx.matmul(a, a);
};
const counting = mx.compile(counter, { state });
const plain = mx.compile((a: mx.Array, n: number) => [mx.matmul(a, w), n]);

await leakCases({
  grad: loop(() => mx.grad(f)(x)),
  "valueAndGrad with trees": loop(() =>
    mx.valueAndGrad((t: { a: mx.Array; b: mx.Array[] }) => [f(t.a), t.b] as const)({ a: x, b: [w] }),
  ),
  "grad of grad": loop(() => mx.grad(total(mx.grad(f)))(x)),
  vjp: loop(() => mx.vjp((a) => mx.square(a), [x], [w])),
  jvp: loop(() => mx.jvp((a) => mx.square(a), [x], [w])),
  vmap: loop(() => mx.vmap((a: mx.Array) => [mx.square(a), w])(x)),
  "vmap of vmap of grad": loop(() => mx.vmap(mx.vmap(mx.grad((a: mx.Array) => mx.square(a))))(mx.ones([2, 2]))),
  checkpoint: loop(() => mx.grad(mx.checkpoint(f))(x)),
  "customFunction, all rules": loop(() => [mx.grad(total(custom))(x), mx.jvp(custom, [x], [w])[1], mx.vmap(custom)(x)]),
  "compile, made and disposed": loop((i) => {
    using g = mx.compile((a: mx.Array) => mx.matmul(a, w));
    return [g(x), g(w), i];
  }),
  "compile, made with state and disposed": loop(() => {
    using g = mx.compile(counter, { state });
    return [g(x), g(w)];
  }),
  "compiled call": loop((i) => plain(x, i % 3)),
  "compiled call with state": loop(() => counting(x)),
  "compile of grad, grad of compile": loop(() => {
    using g = mx.compile(mx.grad((a: mx.Array) => mx.matmul(a, a)));
    using h = mx.compile((a: mx.Array) => mx.matmul(a, a));
    return [g(x), mx.grad(h)(x)];
  }),
  "grad that throws": failing(() => mx.grad((_: mx.Array) => stop())(x)),
  "vmap that throws": failing(() => mx.vmap((a: mx.Array) => (mx.square(a), stop()))(x)),
  "compile that throws, with state": failing(() => {
    using g = mx.compile((a: mx.Array) => (counter(a), stop()), { state });
    g(x);
  }),
  "one compiled function that throws": (() => {
    const g = mx.compile((a: mx.Array) => (counter(a), stop()), { state });
    return failing(() => g(x));
  })(),
  "a rule that throws": failing(() =>
    mx.grad(total(mx.customFunction((a: mx.Array) => mx.square(a), { vjp: stop })))(x),
  ),
  "a rule of the wrong shape": failing(() =>
    mx.grad(total(mx.customFunction((a: mx.Array) => mx.square(a), { vjp: (_) => mx.array(1) })))(x),
  ),
  "MLX's own refusals": failing(() => mx.grad((a: mx.Array) => mx.square(a))(x)),
  // The slots for results are used again: a stale one would give another call's arrays.
  "values of nested calls stay right": () =>
    countWrong(50_000, (i) =>
      mx.tidy(() => {
        const outer = mx.grad((a: mx.Array) => {
          const inner = mx.vjp((b) => mx.multiply(b, i), [a], [mx.ones([])])[1][0]!;
          return mx.multiply(mx.multiply(a, a), inner);
        })(mx.array(1));
        return i % 50 !== 0 || outer.item() === 2 * i;
      }),
    ),
});
