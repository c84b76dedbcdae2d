// Transforms make closures, vectors and slots of their own: nothing of it stays.
import { liveFunctions } from "../../src/core/callbacks.ts";
import * as mx from "../../src/index.ts";
import { type Finding, leakCases, measureLoop } from "./measure.ts";

const bounds = { iterations: 10_000, warm: 2000, growth: 20 };
const w = mx.keep(mx.array([0.5, -1, 2]));
const x = mx.keep(mx.array([1, 2, 3]));
const loss = (weights: mx.Array): mx.Array => weights.multiply(x).square().sum();

function withFunctions(findings: Finding[], before: number): Finding[] {
  const left = liveFunctions() - before;
  return [...findings, { ok: left === 0, text: `${left} JavaScript functions still held by native code` }];
}

await leakCases({
  "grad, disposed by using": () => {
    const before = liveFunctions();
    const findings = measureLoop(bounds, (i) => {
      using gradient = mx.grad(loss)(w) as mx.Array;
      if (i % 10 === 0) mx.eval(gradient);
    });
    return withFunctions(findings, before);
  },
  "valueAndGrad of a tree, by tidy": () => {
    const before = liveFunctions();
    const findings = measureLoop(bounds, (i) => {
      mx.tidy(() => {
        const step = mx.valueAndGrad((tree: { w: mx.Array }) => loss(tree.w));
        const [value, gradients] = step({ w });
        if (i % 10 === 0) mx.eval(value, gradients);
      });
    });
    return withFunctions(findings, before);
  },
  "closures called by hand": () => {
    const before = liveFunctions();
    const findings = measureLoop({ ...bounds, iterations: 50_000 }, () => {
      using closure = new mx.Closure(([a]) => (a as mx.Array).add(1));
      using result = closure.apply([x])[0] as mx.Array;
      if (result.ndim !== 1) throw new Error("the closure returned something else");
    });
    return withFunctions(findings, before);
  },
});
