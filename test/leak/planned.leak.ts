// runPlanned, 10,000 small runs in each of the ways that one can end.
import * as mx from "../../src/index.ts";
import type { Plan, PlanMode } from "../../src/planner/index.ts";
import { liveFunctions } from "../../src/core/callbacks.ts";
import { type Finding, leakCases, measureAsyncLoop, measureLoop } from "./measure.ts";

const bounds = { iterations: 10_000, warm: 2000, growth: 20 };
const rows = 8;
const x = mx.keep(mx.tidy(() => mx.add(mx.arange(rows), 0.5)));
const singular = mx.keep(mx.zeros([2, 2]));
mx.eval(x, singular);

function plan<M extends PlanMode>(mode: M, window: number): Plan<M> {
  return { mode, bounds: Int32Array.of(0, 3, 6, rows), count: 3, commitFirst: false, memory: { window } } as never;
}

const part = (r0: number, r1: number): mx.Array => mx.square(x.get(`${r0}:${r1}`));
const sum = (r0: number, r1: number): { s: mx.Array } => ({ s: mx.sum(part(r0, r1)) });
const add = (a: { s: mx.Array }, b: { s: mx.Array }): { s: mx.Array } => ({ s: a.s.add(b.s).multiply(1) });

/** Runs that succeed: `run` frees its result. */
const loop = (run: (i: number) => Promise<void>) => (): Promise<Finding[]> => measureAsyncLoop(bounds, run);

const mine = new Error("mine");
const stop = (): never => {
  throw mine;
};

/** Runs that fail as `expected`; what has been started is waited for, now and then. */
const failing = (
  run: (i: number) => Promise<unknown>,
  expected = (error: unknown): boolean => error === mine,
): (() => Promise<Finding[]>) =>
  loop(async (i) => {
    const error: unknown = await run(i).then(
      () => new Error("the run did not fail"),
      (reason: unknown) => reason,
    );
    if (!expected(error)) throw error;
    if (i % 100 === 0) mx.synchronize();
  });

await leakCases({
  "a list of results": loop(async (i) => mx.dispose(await mx.runPlanned(plan("explicit", 1 + (i % 3)), part))),
  "a sum": loop(async (i) => mx.dispose(await mx.runPlanned(plan("explicit", 1 + (i % 3)), sum, { combine: add }))),
  "a list that combine makes": loop(async () => {
    const pieces = await mx.runPlanned(plan("explicit", 2), part, {
      initial: [] as mx.Array[],
      combine: (list, piece) => [...list, piece],
      progress: () => undefined,
    });
    mx.dispose(pieces);
  }),
  "a signal between ranges": failing((i) => {
    const controller = new AbortController();
    const step = (r0: number, r1: number, index: number): { s: mx.Array } => {
      if (index === i % 3) controller.abort(mine);
      return sum(r0, r1);
    };
    return mx.runPlanned(plan("explicit", 2), step, { signal: controller.signal, combine: add });
  }),
  "a step that throws": failing((i) =>
    mx.runPlanned(plan("explicit", 2), (r0, r1, index) => (index === i % 3 ? (mx.exp(x), stop()) : sum(r0, r1)), {
      combine: add,
    }),
  ),
  "combine that throws": failing(() => mx.runPlanned(plan("explicit", 2), sum, { combine: stop })),
  "an evaluation that fails": failing(
    (i) =>
      mx.runPlanned(plan("explicit", 2), (r0, r1, index) =>
        index === i % 3 ? mx.linalg.inv(singular, { stream: "cpu" }) : part(r0, r1),
      ),
    (error) => error instanceof mx.MlxError,
  ),
  "packed, inside of grad": () => {
    const before = liveFunctions();
    const squares = (): mx.Array => mx.runPlanned(plan("packed", 1), sum, { combine: add }).s;
    const findings = measureLoop(bounds, (i) =>
      mx.tidy(() => {
        const gradient = mx.grad((a: mx.Array) => mx.multiply(squares(), mx.sum(a)))(x);
        if (i % 10 === 0) mx.eval(gradient);
      }),
    );
    const left = liveFunctions() - before;
    return [...findings, { ok: left === 0, text: `${left} JavaScript functions still held by native code` }];
  },
});
