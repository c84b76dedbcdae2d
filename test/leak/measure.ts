// What the leak tests share: cases that each run in a process of their own, and the figures they judge by.
import { readFileSync, writeFileSync } from "node:fs";
import * as mx from "../../src/index.ts";
import { functions } from "../../src/ffi.ts";

const MB = 1024 * 1024;

export interface Finding {
  ok: boolean;
  text: string;
}

type LeakCase = () => Finding[] | Promise<Finding[]>;

/**
 * Registers the cases of a file and runs the one that the command line names. `--list` prints the names. The last
 * line is `N passed, N failed`.
 */
export async function leakCases(cases: Readonly<Record<string, LeakCase>>): Promise<never> {
  const name = Bun.argv[2] ?? "--list";
  if (name === "--list") {
    console.log(Object.keys(cases).join("\n"));
    process.exit(0);
  }
  const run = cases[name];
  if (run === undefined) throw new Error(`no case is called "${name}"`);
  const findings = await run();
  for (const { ok, text } of findings) console.log(`${ok ? "ok  " : "FAIL"} ${name}: ${text}`);
  const failed = findings.filter(({ ok }) => !ok).length;
  console.log(`${findings.length - failed} passed, ${failed} failed`);
  process.exit(failed === 0 && findings.length > 0 ? 0 : 1);
}

/** Live handles as the library itself counts them, over every kind and thread of the process. */
export function nativeHandles(): number {
  const count = functions.mlxts_live_handles();
  if (count < 0) throw new Error("this build of libmlxc does not count its handles");
  return count;
}

/** Settles both heaps, so that what stays is really in use. */
export function settle(): void {
  Bun.gc(true);
  mx.collectForgotten();
  mx.clearCache();
}

/** Resident memory in bytes. */
export function rss(): number {
  return process.memoryUsage.rss();
}

/** Starts the peak of the resident memory anew; false where the system cannot. */
export function resetPeakRss(): boolean {
  if (process.platform !== "linux") return false;
  writeFileSync("/proc/self/clear_refs", "5");
  return true;
}

/** The peak of the resident memory since `resetPeakRss`, in bytes. */
export function peakRss(): number {
  const status = readFileSync("/proc/self/status", "utf8");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

interface Snapshot {
  ledger: number;
  native: number;
  rss: number;
  rescued: number;
}

function snapshot(): Snapshot {
  settle();
  const { liveHandles, rescued } = mx.memory();
  return { ledger: liveHandles, native: nativeHandles(), rss: rss(), rescued };
}

export interface Bounds {
  iterations: number;
  /** Iterations before the baseline: caches, pools and the compiler reach their size. */
  warm: number;
  /** Largest growth of the resident memory, in MB. */
  growth: number;
}

// What the steps close over is used up to the end, which the engine cannot know: forgotten earlier, it would be rescued.
const held: unknown[] = [];

/** Runs `step` many times and judges what is left: no handle, no rescue by the ledger, little memory. */
export function measureLoop(bounds: Bounds, step: (i: number) => void): Finding[] {
  held.push(step);
  for (let i = 0; i < bounds.warm; i++) step(i);
  const judge = begin(bounds);
  for (let i = 0; i < bounds.iterations; i++) step(i);
  return judge();
}

/** The same for steps that are awaited, one after the other. */
export async function measureAsyncLoop(bounds: Bounds, step: (i: number) => Promise<void>): Promise<Finding[]> {
  held.push(step);
  for (let i = 0; i < bounds.warm; i++) await step(i);
  const judge = begin(bounds);
  for (let i = 0; i < bounds.iterations; i++) await step(i);
  return judge();
}

/** Notes what there is; the function that it returns says what has been added. */
function begin({ iterations, growth }: Bounds): () => Finding[] {
  const before = snapshot();
  const start = performance.now();
  return () => {
    const ms = performance.now() - start;
    // Before `settle`: a loop that leaves arrays behind must not be tidied up by the measurement.
    const live = mx.memory().liveHandles - before.ledger;
    const native = nativeHandles() - before.native;
    const after = snapshot();
    const grown = (after.rss - before.rss) / MB;
    const rescued = after.rescued - before.rescued;
    return [
      { ok: live === 0, text: `${live} handles of the ledger left after ${iterations} iterations` },
      { ok: native === 0, text: `${native} native handles left` },
      { ok: rescued === 0, text: `${rescued} handles rescued by the ledger` },
      {
        ok: grown < growth,
        text: `resident memory grew ${grown.toFixed(1)} MB (limit ${growth}), ${((ms * 1000) / iterations).toFixed(2)} us an iteration`,
      },
    ];
  };
}

/** Counts the wrong values of a loop; one is too many. */
export function countWrong(iterations: number, isRight: (i: number) => boolean): Finding[] {
  let wrong = 0;
  let first = -1;
  for (let i = 0; i < iterations; i++) {
    if (isRight(i)) continue;
    if (wrong === 0) first = i;
    wrong++;
  }
  const where = wrong === 0 ? "" : `, the first at ${first}`;
  return [{ ok: wrong === 0, text: `${wrong} wrong values in ${iterations} iterations${where}` }];
}
