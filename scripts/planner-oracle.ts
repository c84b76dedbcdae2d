// The published planner (mlx-train-perf, from PyPI) as a live oracle on 500 random shapes and 60 long ones.
//
//   bun run planner:oracle             asks it and compares with the recorded answers and with strategy "published"
//   bun run planner:oracle --record    writes the answers to test/planner/data/published.json
//
// Either way it then counts where "balanced" comes to another plan. docs/planner.md says why.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { publishedPin, publishedPlanner } from "../bench/planner/published.ts";
import { type AttentionPass, attentionWork, type Plan, planRanges, PlannerError } from "../src/planner/index.ts";

/** A shape as the published planner's functions take it. */
export interface Shape {
  readonly pass: AttentionPass;
  readonly n: number;
  readonly d: number;
  readonly b: number;
  readonly hq: number;
  readonly hkv: number;
  readonly rate: number;
  readonly causal: boolean;
  /** Only its dK/dV planner has blocks. */
  readonly block_align?: number;
}

export type Answer = { readonly error: string } | { readonly count: number; readonly sha256: string };

export interface Recorded {
  readonly planner: string;
  readonly cases: readonly Case[];
  readonly long: readonly Case[];
}

export interface Case {
  readonly shape: Shape;
  readonly answer: Answer;
}

export const recording: string = join(import.meta.dir, "../test/planner/data/published.json");

/** A small generator (mulberry32), so that the shapes are the same everywhere. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Random shapes of which most have a plan: the rate goes with the work. */
export function shapes(count: number, seed = 5): Shape[] {
  const random = generator(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  return Array.from({ length: count }, () => {
    const pass = pick(["forward", "dq", "dkv"] as const);
    const hkv = pick([2, 4, 8, 8]);
    const n = Math.round(2 ** (17 * random() ** 0.4));
    const shape = {
      ...{ pass, n, d: pick([64, 96, 128, 256]), b: pick([1, 1, 1, 2, 4]), hq: hkv * pick([1, 4, 4, 8]), hkv },
      causal: random() < 0.75,
    };
    const { pairCost } = attentionWork(shape);
    const parts = 2 ** (random() * 9 - 2);
    const rate = Math.max(1, Math.round((n * n * pairCost) / parts));
    return pass === "dkv" ? { ...shape, rate, block_align: pick([1, 1, 32, 64, 48]) } : { ...shape, rate };
  });
}

/** Shapes of about a million rows, whose work mostly is past what a number holds exactly. */
export function longShapes(count: number, seed = 7): Shape[] {
  const random = generator(seed);
  return Array.from({ length: count }, (_, i) => {
    const pass = (["dkv", "dq", "forward"] as const)[i % 3]!;
    const n = 2 ** 20 - (i % 2) * Math.floor(random() * 1000);
    const shape = {
      pass,
      n,
      d: 128 << (i % 2),
      b: 1 + (i % 4) * 2,
      hq: [64, 128, 32][i % 3]!,
      hkv: 8,
      causal: i % 5 > 0,
    };
    const { pairCost } = attentionWork(shape);
    const rate = (n * n * pairCost * (0.9 + random() * 0.2)) / 2 ** (1 + random() * 7);
    return pass === "dkv" ? { ...shape, rate, block_align: [1, 32, 48, 64][i % 4]! } : { ...shape, rate };
  });
}

const limits = { maxOps: 50, maxMb: 50 };

function plan(shape: Shape, strategy: "published" | "balanced", mode: "explicit" | "packed"): Plan | PlannerError {
  const { rate, block_align: blockAlign = 1 } = shape;
  try {
    return planRanges({ ...attentionWork(shape), rate, safetyFactor: 1, blockAlign, limits, strategy, mode });
  } catch (error) {
    if (error instanceof PlannerError) return error;
    throw error;
  }
}

/** What our strategy "published" answers. */
export function ours(shape: Shape): Answer {
  const made = plan(shape, "published", "explicit");
  if (made instanceof PlannerError) return { error: made.code };
  const sha256 = new Bun.CryptoHasher("sha256").update(JSON.stringify([...made])).digest("hex");
  return { count: made.count, sha256 };
}

/** Where "balanced" differs, counted. */
export function census(list: readonly Shape[], mode: "explicit" | "packed"): Record<string, number> {
  const counts: Record<string, number> = {};
  const count = (what: string): void => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  for (const shape of list) {
    const theirs = plan(shape, "published", mode);
    const balanced = plan(shape, "balanced", mode);
    if (balanced instanceof PlannerError) count(theirs instanceof PlannerError ? "both refuse" : "only ours refuses");
    else if (theirs instanceof PlannerError) count("only the published planner refuses");
    else if (Bun.deepEquals(theirs.bounds, balanced.bounds)) count("the same ranges");
    else if (balanced.count < theirs.count) count("fewer ranges");
    else if (balanced.count > theirs.count) count("more ranges");
    else count("as many ranges, more even");
  }
  return counts;
}

function ask(list: readonly Shape[]): Answer[] {
  const { python, env, script } = publishedPlanner();
  const result = Bun.spawnSync([python, script, "answer"], {
    stdin: Buffer.from(JSON.stringify(list)),
    env: { ...process.env, ...env },
    stderr: "pipe",
  });
  if (result.exitCode !== 0) throw new Error(`published.py: ${result.stderr.toString()}`);
  return JSON.parse(result.stdout.toString()) as Answer[];
}

if (import.meta.main) {
  const list = shapes(500);
  const answered = (of: readonly Shape[]): Case[] => {
    const answers = ask(of);
    return of.map((shape, i) => ({ shape, answer: answers[i]! }));
  };
  const planner = `mlx-train-perf ${publishedPin.version}`;
  const recorded: Recorded = { planner, cases: answered(list), long: answered(longShapes(60)) };
  if (process.argv.includes("--record")) {
    const lines = (of: readonly Case[]): string => of.map((one) => `    ${JSON.stringify(one)}`).join(",\n");
    const { cases, long } = recorded;
    writeFileSync(
      recording,
      `{\n  "planner": "${planner}",\n  "cases": [\n${lines(cases)}\n  ],\n  "long": [\n${lines(long)}\n  ]\n}\n`,
    );
    console.log(`${recording}: ${cases.length + long.length} answers of ${planner}`);
  } else {
    if (!Bun.deepEquals(await Bun.file(recording).json(), recorded))
      throw new Error("the answers are not those recorded");
    console.log(`${planner} answers as recorded`);
  }
  const all = [...recorded.cases, ...recorded.long];
  const wrong = all.filter(({ shape, answer }) => !Bun.deepEquals(ours(shape), answer));
  for (const { shape, answer } of wrong)
    console.log(`DIFFERS ${JSON.stringify(shape)}\n  ${JSON.stringify(answer)}\n  ${JSON.stringify(ours(shape))}`);
  console.log(`strategy "published": ${all.length - wrong.length} of ${all.length} equal`);
  for (const mode of ["packed", "explicit"] as const)
    console.log(`strategy "balanced", ${mode}: ${JSON.stringify(census(list, mode))}`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
