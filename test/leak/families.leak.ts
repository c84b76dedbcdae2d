// Ten families of operations, 100,000 times each by `using` and by `tidy`: the handles return to where they were and
// memory stays flat. Every tenth result is computed, the others stay lazy and are freed as graphs.
import * as mx from "../../src/index.ts";
import { type Finding, leakCases, measureLoop } from "./measure.ts";

const bounds = { iterations: 100_000, warm: 20_000, growth: 20 };

/** One step of a family: makes its arrays with `own`, which says who frees them, and returns the results. */
type Step = (own: <T>(value: T) => T, i: number) => mx.Array[];

const x = mx.keep(mx.random.normal([8, 16]));
const y = mx.keep(mx.random.normal([8, 16]));
const weight = mx.keep(mx.random.normal([16]));
const square = mx.keep(mx.random.normal([4, 4]));
const ids = mx.keep(mx.array([0, 3, 1], { dtype: "int32" }));
const spd = mx.keep(mx.tidy(() => square.matmul(square.T).add(mx.eye(4).multiply(4))));
const key = mx.keep(mx.random.key(7));
mx.eval(x, y, weight, square, ids, spd, key);

const families: Record<string, Step> = {
  unary: (own) => [own(mx.exp(own(mx.negative(x))))],
  "binary with arrays and scalars": (own, i) => [own(mx.add(own(mx.multiply(x, i % 7)), own(mx.subtract(y, 0.5))))],
  reduction: (own) => [own(mx.sum(own(mx.max(x, { axis: 1, keepDims: true }))))],
  matmul: (own) => [own(mx.matmul(x, own(mx.transpose(y))))],
  shape: (own) => [own(mx.reshape(own(mx.expandDims(x, 0)), [16, 8]))],
  creation: (own, i) => [own(mx.add(own(mx.array([i, 1, 2])), own(mx.arange(3))))],
  indexing: (own) => [own(mx.take(x, ids, { axis: 0 })), own(mx.take(y, [1, 2], { axis: 1 }))],
  "several outputs": (own) => own(mx.split(x, 4, { axis: 1 })),
  fast: (own) => [own(mx.fast.rmsNorm(x, weight, 1e-5)), own(mx.softmax(y, { axis: -1 }))],
  random: (own) => [own(mx.random.uniform({ shape: [8], key })), own(mx.random.normal([4]))],
  "linear algebra": (own) => [own(mx.linalg.cholesky(spd, { stream: "cpu" }))],
  fourier: (own) => [own(mx.fft.irfft(own(mx.fft.rfft(x))))],
};

function byUsing(step: Step): Finding[] {
  return measureLoop(bounds, (i) => {
    using stack = new DisposableStack();
    const own = <T>(value: T): T => {
      for (const one of Array.isArray(value) ? value : [value]) stack.use(one as Disposable);
      return value;
    };
    const results = step(own, i);
    if (i % 10 === 0) mx.eval(results);
  });
}

function byTidy(step: Step): Finding[] {
  return measureLoop(bounds, (i) => {
    mx.tidy(() => {
      const results = step((value) => value, i);
      if (i % 10 === 0) mx.eval(results);
    });
  });
}

const cases: Record<string, () => Finding[]> = {};
for (const [name, step] of Object.entries(families)) {
  cases[`${name} by using`] = () => byUsing(step);
  cases[`${name} by tidy`] = () => byTidy(step);
}
await leakCases(cases);
