// What bench/trace.ts builds twice: with the hook's test in the call funnel, and without it.
import * as mx from "../../src/index.ts";
import * as trace from "../../src/trace/index.ts";

const a = mx.array(1);
const b = mx.array(2);
mx.eval(a, b);

/** Nanoseconds of building and disposing one sum of two scalars. */
export function add(n: number): number {
  const start = Bun.nanoseconds();
  for (let i = 0; i < n; i++) {
    using _c = mx.add(a, b);
  }
  return (Bun.nanoseconds() - start) / n;
}

/** The same while it is recorded. */
export function addRecorded(n: number): number {
  using _t = trace.record({ limit: 10_000 });
  return add(n);
}

/** Records a little and stops: from here on the code is that of a program that has been traced. */
export function recordOnce(): void {
  using _t = trace.record();
  add(1000);
}
