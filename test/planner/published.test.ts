// The published planner's own answers, recorded from it by `bun run planner:oracle --record`.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { census, longShapes, ours, type Recorded, recording, shapes } from "../../scripts/planner-oracle.ts";
import {
  attentionWork,
  metalLimits,
  planRanges,
  type PlanOptions,
  rangeMacs,
  simulate,
} from "../../src/planner/index.ts";

const { cases, long, planner } = JSON.parse(readFileSync(recording, "utf8")) as Recorded;

test("the recording is of 500 random shapes, with plans long and short and both refusals", () => {
  expect(planner).toBe("mlx-train-perf 0.9.1");
  expect(cases.map(({ shape }) => shape)).toEqual(shapes(500));
  const counts = cases.flatMap(({ answer }) => ("count" in answer ? [answer.count] : []));
  expect(counts.length).toBeGreaterThan(250);
  expect(counts.filter((count) => count > 10).length).toBeGreaterThan(50);
  expect(new Set(cases.map(({ answer }) => ("error" in answer ? answer.error : "plan"))).size).toBe(3);
});

test("and of 60 long ones, the work of most of them past 2^53", () => {
  expect(long.map(({ shape }) => shape)).toEqual(longShapes(60));
  const past = long.filter(({ shape }) => {
    const { pairCost } = attentionWork(shape);
    return rangeMacs(0, shape.n, shape.n, pairCost, shape.causal) > 2n ** 53n;
  });
  expect(past.length).toBeGreaterThan(40);
});

test('strategy "published" answers as the published planner does, to the last row', () => {
  for (const { shape, answer } of [...cases, ...long])
    expect({ shape, answer: ours(shape) }).toEqual({ shape, answer });
});

test('"balanced" has never more ranges, and refuses nothing that the published planner plans', () => {
  const list = cases.map(({ shape }) => shape);
  // The numbers that docs/planner.md quotes.
  expect(census(list, "explicit")).toEqual({
    "the same ranges": 126,
    "as many ranges, more even": 185,
    "only the published planner refuses": 157,
    "both refuse": 32,
  });
  expect(census(list, "packed")).toEqual({
    "the same ranges": 126,
    "as many ranges, more even": 185,
    "only the published planner refuses": 69,
    "both refuse": 120,
  });
});

const limits = metalLimits("applegpu_g13s");

test("a forward pass of ranges under 763 rows: refused by the published planner, planned here in both modes", () => {
  // The rate at which 8,192 rows take 16 budgets: the first range has room for less than a quarter of them.
  const options = {
    ...attentionWork({ pass: "forward", n: 8192, d: 128, hq: 32, hkv: 8 }),
    ...{ rate: 34_363_932_672, safetyFactor: 1, limits },
  } satisfies PlanOptions;
  expect(() => planRanges({ ...options, strategy: "published" })).toThrow("do not fit");
  const explicit = planRanges(options);
  expect(explicit.count).toBe(17);
  expect(explicit.seconds(16)).toBeGreaterThan(0.46);
  const packed = planRanges({ ...options, mode: "packed" });
  expect(packed.buffers.map(({ reason }) => String(reason))).toEqual([
    ...["elements", "elements"],
    ...Array.from({ length: 14 }, () => "ops"),
    "finalize",
  ]);
  expect(Math.max(...packed.buffers.map(({ seconds }) => seconds))).toBeLessThanOrEqual(0.5);
});

test("a last range of one row becomes a quarter of the work", () => {
  const options = {
    ...attentionWork({ pass: "dkv", n: 8192, d: 128, hq: 32, hkv: 8 }),
    ...{ rate: 366_548_615_168, safetyFactor: 1, limits },
  } satisfies PlanOptions;
  expect([...planRanges({ ...options, strategy: "published" })].at(-1)).toEqual([8191, 8192]);
  const plan = planRanges(options);
  expect([...plan.bounds]).toEqual([0, 4096, 5793, 7095, 8192]);
  for (let i = 0; i < 4; i++) expect(plan.seconds(i)).toBeCloseTo(0.375, 3);
});

test("where limits are raised, the published ranges run into each other; balanced ones know", () => {
  const environment = { MLX_MAX_OPS_PER_BUFFER: "2000", MLX_MAX_MB_PER_BUFFER: "2000" };
  const raised = metalLimits("applegpu_g13s", { environment });
  const work = attentionWork({ pass: "dkv", n: 32_768, d: 128, hq: 32, hkv: 8 });
  const options = { ...work, rate: 9.2897e11, safetyFactor: 1, mode: "packed" } satisfies PlanOptions;
  const assumed = planRanges({ ...options, limits, strategy: "published" });
  expect(Math.max(...assumed.buffers.map(({ seconds }) => seconds))).toBeLessThanOrEqual(0.5);
  const ops = Array.from({ length: assumed.count }, (_, i) => ({
    ...{ dispatches: 1, reads: work.inputs, writes: [], seconds: assumed.seconds(i) },
  }));
  const [only, ...others] = simulate(ops, { limits: raised });
  expect(others).toEqual([]);
  expect(only!.seconds).toBeGreaterThan(9);
  expect(() => planRanges({ ...options, limits: raised })).toThrow('mode "explicit"');
  expect(planRanges({ ...options, mode: "explicit", limits: raised }).count).toBe(19);
});
