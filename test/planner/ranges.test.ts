import { describe, expect, test } from "bun:test";
import {
  attentionWork,
  causalPairs,
  cudaLimits,
  formatPlan,
  metalLimits,
  type PlanOptions,
  PlannerError,
  type PlannerErrorCode,
  planRanges,
  rangeMacs,
  reportPlan,
} from "../../src/planner/index.ts";

const limits = metalLimits("applegpu_g13s");
const dkv = attentionWork({ pass: "dkv", n: 8192, d: 128, hq: 32, hkv: 8 });
const plain = { ...dkv, rate: 1.85794e12, limits } satisfies PlanOptions;

function refusal(options: Partial<PlanOptions>): [PlannerErrorCode, string] {
  try {
    planRanges({ ...plain, ...options } as PlanOptions);
  } catch (error) {
    if (error instanceof PlannerError) return [error.code, error.field];
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("bad input is refused, with the field named", () => {
  const nothing = undefined as never;
  const cases: [Partial<PlanOptions>, string][] = [
    ...[0, -1, 1.5, Number.NaN, 2 ** 40, nothing].map((queryRows) => [{ queryRows }, "queryRows"] as never),
    ...[0, -1, 0.5, 2 ** 60].map((pairCost) => [{ pairCost }, "pairCost"] as never),
    ...[0, -1, Number.NaN, Number.POSITIVE_INFINITY, nothing].map((rate) => [{ rate }, "rate"] as never),
    ...[0, -1, 2, Number.NaN].map((safetyFactor) => [{ safetyFactor }, "safetyFactor"] as never),
    ...[0, -1, Number.NaN, Number.POSITIVE_INFINITY].map(
      (budgetSeconds) => [{ budgetSeconds }, "budgetSeconds"] as never,
    ),
    ...[0, -32, 1.5, Number.NaN].map((blockAlign) => [{ blockAlign }, "blockAlign"] as never),
    ...[0, 1.5].map((opsPerRange) => [{ opsPerRange }, "opsPerRange"] as never),
    [{ limits: { maxOps: 0, maxMb: 50 } }, "limits.maxOps"],
    [{ limits: { maxOps: 50, maxMb: -1 } }, "limits.maxMb"],
    [{ limits: { maxOps: 1.5, maxMb: 50 } }, "limits.maxOps"],
    [{ mode: "packed", limits: nothing }, "limits"],
    [{ strategy: "published", limits: nothing }, "limits"],
    [{ mode: "eager" as never }, "mode"],
    [{ strategy: "greedy" as never }, "strategy"],
    [{ causal: 1 as never }, "causal"],
    [{ inputs: [{ bufferId: "a", dataSize: -1 }] }, "inputs[0].dataSize"],
    [{ inputs: 5 as never }, "inputs"],
    [{ outputElements: 5 as never }, "outputElements"],
    [{ mode: "packed", inputs: [], outputElements: () => -1 }, "outputElements"],
    [{ mode: "packed", inputs: [], outputElements: () => Number.NaN }, "outputElements"],
    [{ initial: { ops: -1 } }, "initial.ops"],
    [{ initial: { elements: 0.5 } }, "initial.elements"],
    [{ initial: { seconds: Number.NaN } }, "initial.seconds"],
    [{ memory: { inputBytes: -1 } }, "memory.inputBytes"],
    [{ memory: { rangeBytes: () => Number.NaN } }, "memory.rangeBytes"],
    [{ memory: { workspaceBytes: Number.POSITIVE_INFINITY } }, "memory.workspaceBytes"],
    [{ memory: { window: 0 } }, "memory.window"],
    [{ memory: { rangeBytes: null as never } }, "memory.rangeBytes"],
    ...[null, 5, "x", 1n, Symbol("x")].flatMap((none) =>
      ["initial", "limits", "memory"].map((field) => [{ [field]: none }, field] as never),
    ),
    ...["blockAlign", "opsPerRange", "budgetSeconds", "mode", "strategy", "causal", "safetyFactor"].map(
      (field) => [{ [field]: null }, field] as never,
    ),
    ...[5, "ids", {}, Symbol("x")].map((seen) => [{ initial: { seen } }, "initial.seen"] as never),
    [{ initial: { elements: 1n as never } }, "initial.elements"],
    [{ inputs: [null as never] }, "inputs[0]"],
    [{ inputs: [{ dataSize: 5 } as never] }, "inputs[0].bufferId"],
    [{ limits: { ...limits, sources: null as never } }, "limits.sources"],
    [{ limits: { ...limits, mlxVersion: nothing } }, "limits.mlxVersion"],
    [{ limits: { ...limits, backend: "vulkan" as never } }, "limits.backend"],
  ];
  test.each(cases)("%p", (options, field) => expect(refusal(options)).toEqual(["badInput", field]));

  test("shapes of attention", () => {
    const shape = { pass: "dkv", n: 8, d: 8, hq: 4, hkv: 2 } as const;
    for (const [field, value] of [
      ["n", 0],
      ["d", 1.5],
      ["hq", 0],
      ["hkv", 3],
      ["b", -1],
      ["pass", "bwd"],
    ] as const)
      expect(() => attentionWork({ ...shape, [field]: value })).toThrow(field);
    expect(() => attentionWork({ ...shape, hkv: 3 })).toThrow("no multiple");
    for (const none of [null, undefined, 5]) expect(() => attentionWork(none as never)).toThrow(PlannerError);
    expect(() => attentionWork({ ...shape, causal: "no" as never })).toThrow("causal");
    expect(() => attentionWork({ ...shape, bufferIds: null as never })).toThrow("bufferIds");
  });

  test("options that are none, rows and costs that are none", () => {
    for (const none of [null, undefined, 5, "x"]) expect(() => planRanges(none as never)).toThrow("options");
    for (const [r0, r1] of [
      [-1, 2],
      [3, 2],
      [0, 0.5],
      [0, 2 ** 40],
      [Number.NaN, 1],
    ] as const) {
      expect(() => causalPairs(r0, r1)).toThrow(PlannerError);
      expect(() => rangeMacs(r0, r1, 8, 1, true)).toThrow(PlannerError);
    }
    expect(() => rangeMacs(0, 9, 8, 1, true)).toThrow("r1");
    expect(() => rangeMacs(0, 1, 8, Number.NaN, true)).toThrow("pairCost");
    expect(() => rangeMacs(0, 1, 0, 1, true)).toThrow("n: ");
  });

  test("an error is a RangeError with a name", () => {
    const error = new PlannerError("badInput", "rate", "no");
    expect(error).toBeInstanceOf(RangeError);
    expect(`${error}`).toBe("PlannerError: planner: rate: no");
  });
});

describe("what is refused for the budget", () => {
  test("one block over it", () => {
    expect(refusal({ rate: 1e6 })).toEqual(["unitOverBudget", "budgetSeconds"]);
    expect(refusal({ rate: 1e6, mode: "packed" })).toEqual(["unitOverBudget", "budgetSeconds"]);
    expect(refusal({ rate: 1e6, causal: false })).toEqual(["unitOverBudget", "budgetSeconds"]);
  });

  test("packing that the limits do not end in time", () => {
    const tiny = { inputs: [], limits: { maxOps: 5000, maxMb: 5000 } };
    expect(refusal({ ...tiny, mode: "packed", rate: 2e10, blockAlign: 32 })).toEqual([
      "packedOverBudget",
      "budgetSeconds",
    ]);
    expect(refusal({ mode: "packed", initial: { seconds: 0.5 } })).toEqual(["packedOverBudget", "initial.seconds"]);
  });

  test("an explicit plan commits what is open first, when the two do not fit into one buffer", () => {
    const free = planRanges({ ...plain, initial: { seconds: 0.1 } });
    expect(free.commitFirst).toBe(false);
    expect(free.buffers[0]!.seconds).toBeGreaterThan(0.1);
    const full = planRanges({ ...plain, initial: { ops: 7, seconds: 0.5 } });
    expect(full.commitFirst).toBe(true);
    expect([...full]).toEqual([...planRanges(plain)]);
    expect(full.buffers[0]!.ops).toBe(1);
  });
});

describe("the first buffer", () => {
  const options = { ...plain, rate: 9.2897e11 * 0.02, blockAlign: 32, mode: "packed" } satisfies PlanOptions;

  test("counters that are past the limits are those of a buffer that is gone", () => {
    const closed = planRanges({ ...options, initial: { ops: 51, seconds: 0.4 } });
    expect(closed.buffers).toEqual(planRanges(options).buffers);
    const near = planRanges({ ...options, initial: { ops: 50, seconds: 0.4 } });
    expect(near.buffers[0]).toMatchObject({ ops: 51, reason: "ops", endRange: 1 });
    expect(near.buffers[0]!.seconds).toBeLessThanOrEqual(0.5);
  });

  test("inputs that were seen are not counted again; without ids, what is certain is", () => {
    const inputs = [{ bufferId: "a", dataSize: 30 * 2 ** 20 }];
    const units = (initial: PlanOptions["initial"]): number =>
      planRanges({ ...plain, inputs, initial: initial! }).buffers[0]!.units;
    expect(units({ elements: 2 ** 20, seen: ["a"] })).toBe(1);
    expect(units({ elements: 2 ** 20, seen: ["b"] })).toBe(31);
    expect(units({ elements: 2 ** 20 })).toBe(30);
    expect(units({ elements: 40 * 2 ** 20 })).toBe(40);
  });

  test("views of one buffer count once, by the first", () => {
    const shape = { pass: "forward", n: 8192, d: 128, hq: 32, hkv: 8 } as const;
    const { inputs, ...rest } = attentionWork({ ...shape, bufferIds: { q: "qkv", k: "qkv", v: "qkv" } });
    const plan = planRanges({ ...rest, inputs, rate: 1e13, limits });
    // 32 units of queries and 4,128 elements a row, where distinct buffers would have 48 and the same.
    expect(plan.buffers[0]!.elements).toBe(8192 * 32 * 128 + plan.range(0)[1] * 4128);
  });
});

test("plans at the edges: one row, an alignment past the rows, one pair", () => {
  expect([...planRanges({ queryRows: 1, pairCost: 1, rate: 1e9 })]).toEqual([[0, 1]]);
  expect([...planRanges({ ...plain, queryRows: 5, blockAlign: 4096 })]).toEqual([[0, 5]]);
  expect([...planRanges({ queryRows: 3, pairCost: 1, rate: 6, safetyFactor: 1, causal: false })]).toEqual([
    [0, 1],
    [1, 2],
    [2, 3],
  ]);
  expect(() => planRanges(plain).range(99)).toThrow("range: expected an integer from 0 to 1");
  // The last range alone may end within a block: 68 rows fit where the next multiple of 32 would not.
  const tail = planRanges({
    queryRows: 132,
    pairCost: 1,
    rate: 69 * 132,
    budgetSeconds: 1,
    safetyFactor: 1,
    causal: false,
    blockAlign: 32,
  });
  expect([...tail]).toEqual([
    [0, 64],
    [64, 132],
  ]);
});

test("work that takes exactly the budget fits, whatever its product with the rate rounds to", () => {
  // 0.29 * 100 is 28.999999999999996.
  const options = { pairCost: 29, rate: 100, safetyFactor: 1, budgetSeconds: 0.29 };
  expect(planRanges({ ...options, queryRows: 1 }).count).toBe(1);
  for (let hundredths = 1; hundredths < 300; hundredths++) {
    const exact = { queryRows: 1, pairCost: hundredths, rate: 100, safetyFactor: 1, budgetSeconds: hundredths / 100 };
    for (const causal of [true, false]) expect(planRanges({ ...exact, causal }).seconds(0)).toBe(hundredths / 100);
    expect(() => planRanges({ ...exact, pairCost: hundredths + 1 })).toThrow("more than");
    // A last bit less does not fit, although its product with the rate may round to the whole number.
    const bits = new Float64Array([hundredths / 100]);
    new BigUint64Array(bits.buffer)[0]!--;
    expect(() => planRanges({ ...exact, budgetSeconds: bits[0]! })).toThrow("more than");
  }
});

test("a plan stays as it was made when its limits are written to", () => {
  const own = { maxOps: 3, maxMb: 50 };
  const plan = planRanges({ queryRows: 1000, pairCost: 1, rate: 1e6, mode: "packed", limits: own });
  const before = planRanges({ queryRows: 1000, pairCost: 1, rate: 1e6, mode: "packed", limits: { ...own } }).buffers;
  own.maxOps = 0;
  expect(plan.buffers).toEqual(before);
  expect(plan.limits).toEqual({ maxOps: 3, maxMb: 50 });
});

test("more than a million ranges, and the plan after them", () => {
  const small = (): number[] => [...planRanges(plain).bounds];
  const before = small();
  const many = planRanges({ queryRows: 2 ** 21, pairCost: 1, rate: 2 ** 23, budgetSeconds: 0.5 });
  expect(many.count).toBeGreaterThan(2 ** 20);
  expect([many.bounds.length, many.bounds[0], many.bounds.at(-1)]).toEqual([many.count + 1, 0, 2 ** 21]);
  expect(many.bounds.every((row, i) => i === 0 || row > many.bounds[i - 1]!)).toBe(true);
  expect(small()).toEqual(before);
});

test("a buffer that is all but full, and limits that are never reached, end in time", () => {
  const rows = 94_906_264;
  const total = (rows * (rows + 1)) / 2;
  // What is left of the budget is far below what the sum of seconds can tell apart from it.
  const near = { queryRows: rows, pairCost: 1, rate: total * 1e11, safetyFactor: 1, budgetSeconds: 0.5 };
  const plan = planRanges({ ...near, initial: { seconds: 0.5 - 1e-11 } });
  expect(plan.bounds.at(-1)).toBe(rows);
  expect(plan.buffers.every(({ seconds }) => seconds <= 0.5)).toBe(true);
  const environment = { MLX_MAX_OPS_PER_BUFFER: "2147483647", MLX_MAX_MB_PER_BUFFER: "2147483647" };
  for (const raised of [metalLimits("x", { environment }), cudaLimits("9.0", { environment })])
    expect(refusal({ mode: "packed", rate: 2e10, limits: raised })).toEqual(["packedOverBudget", "budgetSeconds"]);
});

describe("memory", () => {
  const long = { ...attentionWork({ pass: "dkv", n: 131_072, d: 128, hq: 32, hkv: 8 }), rate: 1.85794e12, limits };

  test("a pair of float32 gradients a range, 1 GiB at 131,072 rows, and a window of two", () => {
    const plan = planRanges(long);
    expect(plan.memory).toMatchObject({ bytesPerRange: 2 ** 30, window: 2, peakBytes: 3 * 2 ** 30 });
  });

  test("packed: as many as MLX lets be active", () => {
    expect(planRanges({ ...long, mode: "packed" }).memory).toMatchObject({ window: 11, peakBytes: 12 * 2 ** 30 });
    const limited = { ...long.memory, limitBytes: 8 * 2 ** 30 };
    expect(() => planRanges({ ...long, mode: "packed", memory: limited })).toThrow("11 ranges");
    expect(planRanges({ ...long, memory: limited }).memory.window).toBe(4);
    expect(planRanges({ ...long, memory: { ...limited, window: 3 } }).memory.window).toBe(3);
  });

  test("packed, with sizes that differ: the most that eleven ranges in a row hold", () => {
    const rangeBytes = (_: number, r1: number): number => r1;
    const plan = planRanges({ ...long, mode: "packed", memory: { rangeBytes, limitBytes: 2 ** 40 } });
    const { bounds, memory, count } = plan;
    // Sizes that grow: each is its range's upper bound, and the last eleven are the most.
    const last = bounds.slice(count - 10).reduce((sum, row) => sum + row, 0);
    expect(count).toBeGreaterThan(20);
    expect(memory).toMatchObject({ window: 11, peakBytes: last });
    const limited = { rangeBytes, limitBytes: memory.peakBytes - 1 };
    expect(() => planRanges({ ...long, mode: "packed", memory: limited })).toThrow("11 ranges");
  });

  test("12 ranges of 12,288 rows at once: inputs and 13 pairs", () => {
    const { memory, ...work } = attentionWork({ pass: "dkv", n: 12_288, d: 128, hq: 32, hkv: 8 });
    const plan = planRanges({ ...work, rate: 2e12, limits, memory: { ...memory, window: 12 }, budgetSeconds: 0.11 });
    expect(plan.count).toBe(12);
    expect(plan.memory.inputBytes).toBe(254_803_968);
    expect(plan.memory.inputBytes + plan.memory.peakBytes).toBe(1_563_426_816);
  });

  test("a limit shortens ranges whose workspace grows with their rows", () => {
    const workspaceBytes = (r0: number, r1: number): number => 32 * (r1 - r0) * r1 * 4;
    const limitBytes = long.memory.inputBytes! + 2 * 2 ** 30 + 2 ** 32;
    const plan = planRanges({ ...long, blockAlign: 32, memory: { ...long.memory, workspaceBytes, limitBytes } });
    const widest = Math.max(...[...plan].map(([r0, r1]) => r1 - r0));
    expect(widest).toBe(256);
    expect(plan.memory.window).toBe(1);
    expect(plan.memory.inputBytes + plan.memory.peakBytes).toBeLessThanOrEqual(limitBytes);
    const refused = { ...long.memory, workspaceBytes, limitBytes: long.memory.inputBytes! };
    expect(refusal({ ...long, memory: refused })).toEqual(["memoryOverLimit", "memory.limitBytes"]);
  });

  test("a limit is held against ranges that begin at a block, not against rows that none takes", () => {
    // [0, 5) and [5, 9) hold 25 and 36 bytes; [4, 9), which begins within a block, would hold 45.
    const workspaceBytes = (r0: number, r1: number): number => (r1 - r0) * r1;
    const options = { queryRows: 9, pairCost: 1, rate: 1e6, blockAlign: 5 };
    const plan = planRanges({ ...options, memory: { workspaceBytes, limitBytes: 40 } });
    expect([...plan.bounds]).toEqual([0, 5, 9]);
    expect(() => planRanges({ ...options, memory: { workspaceBytes, limitBytes: 35 } })).toThrow(
      "rows 5 to 9 hold 36 bytes while inputs and result leave 35",
    );
    // Here the last range decides, shorter than the others: [8, 15) holds 23,625 and [4, 12) 13,824.
    const steep = (r0: number, r1: number): number => (r1 - r0) * r1 ** 3;
    const last = { queryRows: 15, pairCost: 1, rate: 1e6, blockAlign: 4 };
    const memory = { workspaceBytes: steep, limitBytes: 20_000 };
    expect([...planRanges({ ...last, memory }).bounds]).toEqual([0, 4, 8, 12, 15]);
  });
});

describe("the report", () => {
  const environment = { MLX_MAX_OPS_PER_BUFFER: "2000" };
  const resolved = metalLimits("applegpu_g13s", { environment, mlxVersion: "0.40.0" });
  const plan = planRanges({ ...plain, rate: 1.85794e11, limits: resolved });

  test("as data: version, architecture, limits and where each comes from", () => {
    const report = JSON.parse(JSON.stringify(reportPlan(plan)));
    expect(report.limits).toEqual({
      ...{ maxOps: 2000, maxMb: 50, maxOpsSource: "environment", maxMbSource: "architecture" },
      ...{ backend: "metal", mlxVersion: "0.40.0", architecture: "applegpu_g13s", architectureSource: "argument" },
    });
    expect(report.ranges).toEqual([...plan]);
    expect(report.buffers).toHaveLength(plan.count);
    expect(report.totalMacs).toBe(String((8192n * 8193n * 16384n) / 2n));
    const odd = planRanges({ queryRows: 2 ** 20 - 2, pairCost: 3 * 81 * 127, rate: 1e17 });
    const exact = (2n ** 20n - 2n) * (2n ** 20n - 1n) * 3n * 81n * 127n;
    expect(exact / 2n).toBeGreaterThan(2n ** 53n);
    expect(reportPlan(odd).totalMacs).toBe(String(exact / 2n));
    const rows = 94_906_263;
    expect(rangeMacs(1, rows, rows, 12_345, true)).toBe(((BigInt(rows) * BigInt(rows + 1)) / 2n - 1n) * 12_345n);
    expect(report.notes.some((note: string) => note.includes("0.40.0 was not looked at"))).toBe(true);
  });

  test("as text", () => {
    const lines = formatPlan(plan, { buffers: 1 }).split("\n");
    expect(lines).toContain("MLX:          0.40.0");
    expect(lines).toContain("architecture: applegpu_g13s (argument)");
    expect(lines).toContain("limits:       2000 ops (environment), 50 x 2^20 elements (architecture)");
    expect(lines.some((line) => line === `  ... ${plan.count - 2} more`)).toBe(true);
    const bare = formatPlan(planRanges({ queryRows: 10, pairCost: 1, rate: 1e9 }));
    expect(bare).toContain("none given: each range ends with an evaluation");
    const cuda = formatPlan(planRanges({ ...plain, limits: cudaLimits("9.0") }));
    expect(cuda).toContain("capability:   9.0 (argument)");
  });

  test("as text: any number of buffers, or all; refused where it is none", () => {
    const many = planRanges({ queryRows: 300_000, pairCost: 1, rate: 2 * 300_000, budgetSeconds: 1 });
    const lines = formatPlan(many, { buffers: Number.POSITIVE_INFINITY }).split("\n");
    expect(lines.filter((line) => line.endsWith("finalize"))).toHaveLength(many.count);
    expect(formatPlan(many, { buffers: 0 })).toContain(`... ${many.count} more`);
    for (const buffers of [-1, 0.5, Number.NaN, "5" as never, 1n as never])
      expect(() => formatPlan(plan, { buffers })).toThrow("buffers");
  });

  test("a published plan that breaks the budget says so", () => {
    const fused = attentionWork({
      pass: "forward",
      n: 8192,
      d: 128,
      hq: 32,
      hkv: 8,
      bufferIds: { q: "x", k: "x", v: "x" },
    });
    const options = {
      ...fused,
      rate: 137_455_730_688,
      safetyFactor: 1,
      limits,
      mode: "packed",
      strategy: "published",
    } as const;
    expect(reportPlan(planRanges(options)).notes.join()).toContain("Over the budget");
  });
});
