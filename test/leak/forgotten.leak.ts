// Arrays that nobody frees, in one synchronous function: the ledger keeps the resident memory near the budget.
import * as mx from "../../src/index.ts";
import { type Finding, leakCases, peakRss, resetPeakRss, rss, settle } from "./measure.ts";

const MB = 1024 * 1024;
const STEPS = 3000;
const SLACK = 60;

/** 3,000 arrays of 1 MB each, computed and forgotten. */
function leak(base: mx.Array, steps: number): number {
  let peak = 0;
  for (let i = 0; i < steps; i++) {
    const step = mx.add(base, i);
    mx.eval(step);
    if (i % 16 === 0) peak = Math.max(peak, rss());
  }
  return peak;
}

function judge(budget: number): Finding[] {
  const base = mx.zeros([256, 1024]);
  mx.eval(base);
  // Warm: the allocator, the compiler and one whole round of the ledger.
  leak(base, 100);
  settle();
  const before = rss();
  const exact = resetPeakRss();
  const sampled = leak(base, STEPS);
  const peak = (Math.max(sampled, exact ? peakRss() : 0) - before) / MB;
  const { collections, rescued, budget: used } = mx.memory();
  settle();
  const left = mx.memory().liveHandles;
  return [
    { ok: used === budget * MB, text: `budget ${used / MB} MB` },
    {
      ok: peak <= budget + SLACK,
      text: `peak ${peak.toFixed(1)} MB over a warm baseline (limit ${budget} + ${SLACK})`,
    },
    { ok: rescued > STEPS / 2, text: `${rescued} arrays rescued in ${collections} collections` },
    { ok: left <= 2, text: `${left} handles left after a last collection` },
  ];
}

await leakCases({
  "3,000 forgotten megabytes under mx.setMemoryBudget(100 MB)": () => {
    mx.setMemoryBudget(100 * MB);
    return judge(100);
  },
  "3,000 forgotten megabytes under MLX_TS_MEMORY_BUDGET=256M": () => {
    process.env.MLX_TS_MEMORY_BUDGET = "256M";
    return judge(256);
  },
  "forgotten inside a tidy that never ends": () => {
    mx.setMemoryBudget(100 * MB);
    // A scope holds no owner, so a long tidy does not stop the rescue.
    return mx.tidy(() => judge(100));
  },
});
