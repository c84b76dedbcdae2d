/**
 * The backward pass of long-context attention, in planned ranges of query rows.
 *
 *   bun examples/plan-attention.ts [--n 2048] [--heads 8] [--kv-heads 2] [--dim 64] [--full] [--budget 0.5]
 *                                  [--window 2] [--rate MACS_PER_SECOND] [--no-check]
 *
 * dK and dV are sums over query rows: each range adds its share. dQ has rows of its own: each range makes its piece.
 * `mlx-ts/planner` cuts the rows so that no range is projected to take longer than the budget (seconds), and says how
 * much memory the run needs; `mx.runPlanned` runs the ranges and keeps to it. The result is compared with the gradient
 * of the attention in one piece, unless `--no-check` says that this would not fit. `--full` is without the causal mask.
 */

import { parseArgs } from "node:util";
import * as mx from "mlx-ts";
import { attentionWork, type Plan, planRanges } from "mlx-ts/planner";

const usage = `usage: bun examples/plan-attention.ts [options]
  --n N, --heads N, --kv-heads N, --dim N   the shape (default: 2048, 8, 2, 64)
  --full                                    without the causal mask
  --budget SECONDS                          what a range may take (default: 0.5)
  --window N                                ranges alive at once (default: 2)
  --rate NUMBER                             multiply-accumulates a second (default: measured)
  --no-check                                without the gradient in one piece`;

const options = {
  n: { type: "string", default: "2048" },
  heads: { type: "string", default: "8" },
  "kv-heads": { type: "string", default: "2" },
  dim: { type: "string", default: "64" },
  full: { type: "boolean", default: false },
  budget: { type: "string", default: "0.5" },
  window: { type: "string", default: "2" },
  rate: { type: "string" },
  "no-check": { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

/** Ends the program with what a user can act on, without a stack. */
function refuse(error: unknown): never {
  console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}

function readFlags(): ReturnType<typeof parseArgs<{ options: typeof options }>>["values"] {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return refuse(error);
  }
}

const flags = readFlags();
if (flags.help) {
  console.log(usage);
  process.exit(0);
}

/** A flag that counts something. */
function count(name: "n" | "heads" | "kv-heads" | "dim"): number {
  const value = Number(flags[name]);
  if (Number.isSafeInteger(value) && value > 0) return value;
  return refuse(`--${name}: expected an integer of at least 1, not "${flags[name]}"`);
}

const [n, hq, hkv, d] = [count("n"), count("heads"), count("kv-heads"), count("dim")];
if (hq % hkv !== 0) refuse(`--heads: ${hq} is no multiple of the ${hkv} of --kv-heads`);
const causal = !flags.full;
const b = 1;
/** A dK and a dV. */
const pairBytes = 2 * 4 * b * hkv * n * d;
type Pass = "dkv" | "dq";

const inputs = mx.tidy(() => {
  const key = mx.random.split(mx.random.key(0), 4);
  const normal = (i: number, h: number): mx.Array => mx.random.normal([b, h, n, d], { key: key.get(i) });
  return { q: normal(0, hq), k: normal(1, hkv), v: normal(2, hkv), dO: normal(3, hq) };
});
mx.eval(inputs);

/** Rows [r0, r1) of every head. */
const rows = (x: mx.Array, r0: number, r1: number): mx.Array => x.get("...", `${r0}:${r1}`, ":");

/** Fewer queries than keys stand at the end of the keys: the causal mask of rows [r0, r1) over the keys [0, r1). */
const attention = (q: mx.Array, k: mx.Array, v: mx.Array): mx.Array =>
  mx.fast.scaledDotProductAttention(q, k, v, { scale: d ** -0.5, mask: causal ? "causal" : null });

/** The keys that rows [r0, r1) look at. */
const keysOf = (r1: number): number => (causal ? r1 : n);

interface KeyGradients {
  dK: mx.Array;
  dV: mx.Array;
}

/** What rows [r0, r1) give to dK and dV, at full length: zeros where no row looks. */
function keyGradients(r0: number, r1: number): KeyGradients {
  const { q, k, v, dO } = inputs;
  const fn = (k: mx.Array, v: mx.Array): mx.Array =>
    attention(rows(q, r0, r1), rows(k, 0, keysOf(r1)), rows(v, 0, keysOf(r1)));
  const [, [dK, dV]] = mx.vjp(fn, [k, v], [rows(dO, r0, r1)]);
  return { dK: dK!, dV: dV! };
}

/** Rows [r0, r1) of dQ. */
function queryGradient(r0: number, r1: number): mx.Array {
  const { q, k, v, dO } = inputs;
  const fn = (q: mx.Array): mx.Array => attention(q, rows(k, 0, keysOf(r1)), rows(v, 0, keysOf(r1)));
  return mx.vjp(fn, [rows(q, r0, r1)], [rows(dO, r0, r1)])[1][0]!;
}

/**
 * Bytes that a range needs while it runs, beside what it hands on. MLX's attention backward holds three matrices of the
 * scores' shape at once and the scaled queries; with the causal mask, its comparison and its bits; for dK and dV, a pair
 * for each query head, before the sum over the heads that share a key head, and with the causal mask that sum, before it
 * is put between zeros.
 */
function workspaceBytes(pass: Pass, r0: number, r1: number): number {
  const [w, keys] = [r1 - r0, keysOf(r1)];
  const scores = 4 * b * hq * w * keys;
  const mask = causal ? 5 * w * keys : 0;
  const perHead = pass === "dkv" ? 2 * 4 * b * (causal ? hq + hkv : hq) * keys * d : 0;
  return 3 * scores + 4 * b * hq * w * d + mask + perHead;
}

/** Multiply-accumulates a second, from one range in the middle. */
function measureRate(): number {
  const [r0, r1] = [n >> 1, Math.min((n >> 1) + 128, n)];
  const { pairCost } = attentionWork({ pass: "dkv", n, d, hq, hkv, b, causal });
  let best = 0;
  // The first run warms up.
  for (let i = 0; i < 3; i++) {
    const start = performance.now();
    mx.tidy(() => mx.eval(keyGradients(r0, r1)));
    best = Math.max(best, ((r1 - r0) * keysOf(r1) * pairCost) / ((performance.now() - start) / 1000));
  }
  return best;
}

function plan(pass: Pass, rate: number): Plan<"explicit"> {
  const work = attentionWork({ pass, n, d, hq, hkv, b, causal, itemsize: 4 });
  return planRanges({
    ...work,
    rate,
    budgetSeconds: Number(flags.budget),
    memory: {
      ...work.memory,
      // With its share, a range in flight holds the total that it makes: the one before is still being read.
      ...(pass === "dkv" ? { rangeBytes: 2 * pairBytes } : {}),
      window: Number(flags.window),
      workspaceBytes: (r0, r1) => workspaceBytes(pass, r0, r1),
    },
  });
}

const MiB = 2 ** 20;
const inMiB = (bytes: number): string => `${(bytes / MiB).toFixed(1)} MiB`;

/** The peak of the memory while `run` runs, above what was alive before. */
async function peakOf<T>(run: () => T | Promise<T>): Promise<{ value: T; peak: number; seconds: number }> {
  mx.synchronize();
  const before = mx.activeMemory();
  mx.resetPeakMemory();
  const start = performance.now();
  const value = await run();
  return { value, peak: mx.peakMemory() - before, seconds: (performance.now() - start) / 1000 };
}

const progress = ({ r0, r1, done, total, inFlight }: mx.RangeProgress): void =>
  console.log(`  ${done}/${total}: rows ${r0} to ${r1}, ${inFlight} in flight, ${inMiB(mx.activeMemory())} in use`);

let right = true;

/** Bytes for single numbers and the like, which no estimate counts: of a plan of a few rows they are most. */
const SMALL = 2 ** 16;

/** Runs a plan, prints what was planned and what was, and keeps the estimate honest. */
async function planned<T>(name: string, ranges: Plan<"explicit">, run: () => Promise<T>): Promise<T> {
  const { window, bytesPerRange, resultBytes, peakBytes } = ranges.memory;
  console.log(`${name}: ${ranges.count} ranges, at most ${window} alive`);
  const { value, peak, seconds } = await peakOf(run);
  console.log(
    `  peak ${inMiB(peak)} of ${inMiB(peakBytes)} estimated (${inMiB(resultBytes)} + ${window} x ${inMiB(bytesPerRange)}), ${seconds.toFixed(2)} s`,
  );
  right &&= peak <= 1.2 * peakBytes + SMALL;
  return value;
}

/** The largest difference, relative to the largest value: of what is zero everywhere, the difference itself. */
const difference = (a: mx.Array, b: mx.Array): number =>
  mx.tidy(() => {
    const [off, largest] = [mx.max(mx.abs(a.subtract(b))), mx.max(mx.abs(b))].map((x) => Number(x.item()));
    return off! / (largest! || 1);
  });

async function main(): Promise<void> {
  const rate = flags.rate === undefined ? measureRate() : Number(flags.rate);
  console.log(
    `attention backward, ${causal ? "causal" : "full"}: ${n} rows, ${hq} query heads over ${hkv} key heads of ${d}, float32`,
  );
  console.log(`${(rate / 1e9).toFixed(2)} GMAC/s ${flags.rate === undefined ? "measured" : "given"}`);

  const forKeys = plan("dkv", rate);
  const { dK, dV } = await planned("dK, dV", forKeys, () =>
    mx.runPlanned(forKeys, keyGradients, {
      combine: (total, part) => ({ dK: total.dK.add(part.dK), dV: total.dV.add(part.dV) }),
      progress,
    }),
  );

  const forQueries = plan("dq", rate);
  const pieces = await planned("dQ", forQueries, () => mx.runPlanned(forQueries, queryGradient, { progress }));
  const dQ = mx.concatenate(pieces, -2);
  mx.eval(dQ);
  mx.dispose(pieces);

  if (!flags["no-check"]) {
    const { q, k, v, dO } = inputs;
    const loss = (q: mx.Array, k: mx.Array, v: mx.Array): mx.Array => mx.sum(mx.multiply(attention(q, k, v), dO));
    const whole = await peakOf(() => {
      const gradients = mx.grad(loss, { argnums: [0, 1, 2] })(q, k, v);
      mx.eval(gradients);
      return gradients;
    });
    console.log(`in one piece: peak ${inMiB(whole.peak)}, ${whole.seconds.toFixed(2)} s`);
    for (const [name, ours, theirs] of [
      ["dQ", dQ, whole.value[0]],
      ["dK", dK, whole.value[1]],
      ["dV", dV, whole.value[2]],
    ] as const) {
      const off = difference(ours, theirs);
      right &&= off <= 1e-4;
      console.log(`  ${name} differs by ${off.toExponential(1)}`);
    }
    mx.dispose(whole.value);
  }
  mx.dispose([inputs, dQ, dK, dV]);
  console.log(right ? "equal, within the estimate" : "NOT as planned");
  process.exitCode = right ? 0 : 1;
}

await main().catch(refuse);
