// Properties of plans, 10,000 random tasks each.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { causalPairs, type Plan, type PlanOptions, PlannerError, rangeMacs } from "../../src/planner/index.ts";
import { planOf, runs, type TaskParts, tasks } from "./arbitraries.ts";

/** Checks plans in both modes; says how many there were, since a property of refusals alone proves nothing. */
function eachPlan(check: (plan: Plan, task: TaskParts) => void, more: Parameters<typeof tasks>[1] = {}): void {
  for (const mode of ["explicit", "packed"] as const) {
    let made = 0;
    fc.assert(
      fc.property(tasks(mode, more), (task) => {
        const plan = planOf(task.options);
        if (plan instanceof PlannerError) return;
        made++;
        check(plan, task);
      }),
      { numRuns: runs },
    );
    expect(made).toBeGreaterThan(mode === "explicit" ? runs / 2 : runs / 4);
  }
}

test("ranges tile the rows exactly, each begins at a multiple of the alignment", () => {
  eachPlan((plan, { options }) => {
    const { bounds, count, blockAlign } = plan;
    if (bounds.length !== count + 1 || bounds[0] !== 0 || bounds[count] !== options.queryRows) throw new Error("ends");
    for (let i = 0; i < count; i++) {
      if (bounds[i + 1]! <= bounds[i]!) throw new Error(`range ${i} is empty`);
      if (bounds[i]! % blockAlign !== 0) throw new Error(`range ${i} begins inside a block`);
    }
    let at = 0;
    for (const [r0, r1] of plan) {
      if (r0 !== at) throw new Error("the iterator skips rows");
      at = r1;
    }
    expect(at).toBe(options.queryRows);
  });
}, 30_000);

test("every modelled buffer keeps to the budget, and together they hold every range", () => {
  eachPlan(({ buffers, count, budgetSeconds }) => {
    let next = 0;
    for (const { firstRange, endRange, seconds } of buffers) {
      if (firstRange !== next || endRange <= firstRange) throw new Error("buffers do not follow each other");
      if (!(seconds <= budgetSeconds + 1e-9)) throw new Error(`${seconds} s`);
      next = endRange;
    }
    expect(next).toBe(count);
  });
}, 30_000);

/** Whether every range has a buffer of its own, the first included. */
function ownBuffers({ buffers }: Plan): boolean {
  return buffers.every(({ firstRange, endRange }) => endRange === firstRange + 1);
}

test("causal ranges that each have a buffer never get wider, but for the last", () => {
  let checked = 0;
  eachPlan(
    (plan) => {
      if (!plan.causal || !ownBuffers(plan)) return;
      checked++;
      const { bounds, count } = plan;
      for (let i = 1; i < count - 1; i++) {
        if (bounds[i + 1]! - bounds[i]! > bounds[i]! - bounds[i - 1]!) throw new Error(`range ${i} is wider`);
      }
    },
    { initial: false },
  );
  expect(checked).toBeGreaterThan(runs / 4);
}, 30_000);

test("the last range is no remainder: it has the work of the one before, within two blocks", () => {
  let checked = 0;
  fc.assert(
    fc.property(tasks("explicit", { initial: false }), ({ options }) => {
      const plan = planOf(options);
      if (plan instanceof PlannerError || plan.count < 2) return;
      checked++;
      const { bounds, count, queryRows: n, blockAlign, causal } = plan;
      const [a = 0, r = 0] = bounds.subarray(count - 2);
      const work = (r0: number, r1: number): number => (causal ? causalPairs(r0, r1) : r1 - r0);
      const blocks = 2 * (causal ? causalPairs(Math.max(0, n - blockAlign), n) : blockAlign);
      if (work(r, n) < work(a, r) - blocks) throw new Error(`${[...bounds.subarray(count - 2)]}`);
    }),
    { numRuns: runs },
  );
  expect(checked).toBeGreaterThan(runs / 3);
});

test("an explicit plan is refused exactly when one block alone is over the budget", () => {
  let refused = 0;
  fc.assert(
    fc.property(tasks("explicit"), ({ options }) => {
      const plan = planOf(options);
      const { queryRows: n, pairCost, causal = true, blockAlign = 1, budgetSeconds = 0.5 } = options;
      const last = Math.floor((n - 1) / blockAlign) * blockAlign;
      const rate = options.rate * options.safetyFactor!;
      const seconds = (r0: number, r1: number): number => Number(rangeMacs(r0, r1, n, pairCost, causal)) / rate;
      const longest = Math.max(seconds(last, n), last === 0 ? 0 : seconds(last - blockAlign, last));
      if (plan instanceof PlannerError) {
        refused++;
        if (plan.code !== "unitOverBudget" || longest <= budgetSeconds * (1 - 1e-12)) throw plan;
      } else expect(longest).toBeLessThanOrEqual(budgetSeconds * (1 + 1e-12));
    }),
    { numRuns: runs },
  );
  expect(refused).toBeGreaterThan(100);
});

/** What can be compared of an outcome. */
function outcome(options: PlanOptions): unknown {
  const plan = planOf(options);
  if (plan instanceof PlannerError) return { code: plan.code, field: plan.field, message: plan.message };
  const { bounds, buffers, commitFirst, memory } = plan;
  return { bounds, buffers, commitFirst, memory };
}

test.each(["explicit", "packed"] as const)(
  "%s: an alignment of 1 is the default; the same options give the same plan and stay as they are",
  (mode) => {
    fc.assert(
      fc.property(tasks(mode), ({ options }) => {
        const { blockAlign: _, ...plain } = options;
        const before = JSON.stringify(options);
        if (!Bun.deepEquals(outcome(plain), outcome({ ...plain, blockAlign: 1 }))) throw new Error("alignment 1");
        if (!Bun.deepEquals(outcome(options), outcome(options))) throw new Error("another outcome the second time");
        expect(JSON.stringify(options)).toBe(before);
      }),
      { numRuns: runs },
    );
  },
  30_000,
);
