/** Our side of bench/transforms.ts. Prints one JSON line of nanoseconds. */

import * as mx from "../../src/index.ts";

const STEPS = 100;
type Params = Record<string, mx.Array>;
type Layers = readonly (readonly [weight: string, bias: string])[];

const layers: Layers = [
  ["w1", "b1"],
  ["w2", "b2"],
  ["w3", "b3"],
];

function parameters(width: number): Params {
  const sizes = [16, width, width, 1];
  mx.random.seed(0);
  const params: Params = {};
  for (const [i, [weight, bias]] of layers.entries()) {
    const [from, to] = [sizes[i]!, sizes[i + 1]!];
    params[weight] = mx.tidy(() => mx.random.normal([from, to]).multiply(Math.sqrt(2 / from)));
    params[bias] = mx.zeros([to]);
  }
  return params;
}

const x = mx.random.normal([32, 16], { key: mx.random.key(1) });
const y = mx.tidy(() => x.sum({ axis: 1, keepDims: true }).multiply(0.1));
mx.eval(x, y);

function loss(params: Params, input: mx.Array, target: mx.Array): mx.Array {
  let h = input;
  for (const [i, [weight, bias]] of layers.entries()) {
    h = mx.add(mx.matmul(h, params[weight]!), params[bias]!);
    if (i < 2) h = mx.maximum(h, 0);
  }
  return mx.mean(mx.square(mx.subtract(h, target)));
}

const lossAndGrad = mx.valueAndGrad(loss);
const small = parameters(32);
mx.eval(small);

function gradBuild(n: number): void {
  for (let i = 0; i < n; i++) {
    using _result = lossAndGrad(small, x, y);
  }
}

const forward = mx.compile((params: Params, input: mx.Array) => {
  let h = input;
  for (const [weight, bias] of layers) h = mx.tanh(mx.add(mx.matmul(h, params[weight]!), params[bias]!));
  return h;
});

function compiledCall(n: number): void {
  for (let i = 0; i < n; i++) {
    using _out = forward(small, x);
  }
}

const mapped = mx.vmap((row: mx.Array, scale: mx.Array) => mx.sum(mx.multiply(mx.exp(row), scale)), {
  inAxes: [0, null],
});
const scale = mx.ones([16]);

function vmapBuild(n: number): void {
  for (let i = 0; i < n; i++) {
    using _out = mapped(x, scale);
  }
}

const [rate, beta1, beta2, epsilon] = [1e-2, 0.9, 0.999, 1e-8];

interface Training {
  params: Params;
  m: Params;
  v: Params;
}

function newTraining(width: number): Training {
  const params = parameters(width);
  const zeros = (): Params =>
    Object.fromEntries(Object.entries(params).map(([name, value]) => [name, mx.zeros(value.shape)]));
  return { params, m: zeros(), v: zeros() };
}

/** One step of Adam: new arrays in place of all old ones. */
function step(state: Training): mx.Array {
  const [value, grads] = lossAndGrad(state.params, x, y);
  for (const name of Object.keys(grads)) {
    const g = grads[name]!;
    const m = mx.add(mx.multiply(state.m[name]!, beta1), mx.multiply(g, 1 - beta1));
    const v = mx.add(mx.multiply(state.v[name]!, beta2), mx.multiply(mx.square(g), 1 - beta2));
    const change = mx.divide(mx.multiply(m, rate), mx.add(mx.sqrt(v), epsilon));
    state.params[name] = mx.subtract(state.params[name]!, change);
    state.m[name] = m;
    state.v[name] = v;
  }
  return value;
}

function train(width: number): () => void {
  return () => {
    let state = newTraining(width);
    mx.eval(state);
    for (let i = 0; i < STEPS; i++) {
      const next: Training = { params: { ...state.params }, m: { ...state.m }, v: { ...state.v } };
      using value = mx.tidy(() => {
        const made = step(next);
        mx.keep(next);
        return made;
      });
      // Before the evaluation, which can then write into the old arrays' memory.
      mx.dispose(state);
      state = next;
      mx.eval(value, state);
    }
    mx.dispose(state);
  };
}

function trainCompiled(width: number): () => void {
  return () => {
    const state = newTraining(width);
    mx.eval(state);
    using compiled = mx.compile(() => step(state), { state });
    for (let i = 0; i < STEPS; i++) {
      const old = [state.params, state.m, state.v].flatMap((tree) => Object.values(tree));
      using value = compiled();
      mx.dispose(old);
      mx.eval(value, state);
    }
    mx.dispose(state);
  };
}

/** The best and the middle of some runs, in ns. */
function measure(name: string, work: (n: number) => unknown, n: number, rounds: number): Record<string, number> {
  work(n);
  const times: number[] = [];
  for (let r = 0; r < rounds; r++) {
    const start = Bun.nanoseconds();
    work(n);
    times.push((Bun.nanoseconds() - start) / n);
  }
  times.sort((a, b) => a - b);
  return { [name]: times[0]!, [`${name}Middle`]: times[rounds >> 1]! };
}

console.log(
  JSON.stringify({
    ...measure("grad", gradBuild, 100, 300),
    ...measure("compiled", compiledCall, 200, 600),
    ...measure("vmap", vmapBuild, 200, 600),
    ...measure("train", train(32), 1, 40),
    ...measure("trainWide", train(256), 1, 20),
    ...measure("trainCompiled", trainCompiled(32), 1, 120),
  }),
);
