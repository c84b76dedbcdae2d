// Packed plans beside every packing that there is, tried one by one on few rows.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { causalPairs, PlannerError, type PlanOptions } from "../../src/planner/index.ts";
import { planOf, runs } from "./arbitraries.ts";

interface Small {
  readonly n: number;
  readonly causal: boolean;
  readonly align: number;
  readonly maxOps: number;
  readonly maxMb: number;
  /** Elements of the inputs and of a row of output, in halves of a unit. */
  readonly base: number;
  readonly perRow: number;
  readonly opsPerRange: number;
  readonly ops: number;
  /** Pairs that a buffer has time for, and those that the open one has used up. */
  readonly budget: number;
  readonly used: number;
}

const half = 2 ** 19;

const small: fc.Arbitrary<Small> = fc
  .record({
    n: fc.integer({ min: 1, max: 30 }),
    causal: fc.boolean(),
    align: fc.constantFrom(1, 1, 2, 3),
    maxOps: fc.integer({ min: 1, max: 6 }),
    maxMb: fc.integer({ min: 1, max: 8 }),
    base: fc.integer({ min: 0, max: 12 }),
    perRow: fc.integer({ min: 0, max: 2 }),
    opsPerRange: fc.constantFrom(1, 1, 2),
    ops: fc.constantFrom(0, 0, 1),
    share: fc.integer({ min: 2, max: 60 }),
    usedShare: fc.constantFrom(0, 0, 0.3, 0.8),
  })
  .map(({ share, usedShare, ...rest }) => {
    const { n, causal } = rest;
    const budget = Math.max(1, Math.floor((share / 100) * (causal ? causalPairs(0, n) : n * n)));
    return { ...rest, budget, used: Math.floor(usedShare * budget) };
  });

function optionsOf(task: Small): PlanOptions {
  const { n, causal, align, maxOps, maxMb, base, perRow, opsPerRange, ops, budget, used } = task;
  return {
    ...{ queryRows: n, causal, blockAlign: align, opsPerRange, mode: "packed", limits: { maxOps, maxMb } },
    ...{ pairCost: 1, rate: 1, safetyFactor: 1, budgetSeconds: budget },
    inputs: [{ bufferId: "inputs", dataSize: base * half }],
    outputElements: (r0, r1) => perRow * half * (r1 - r0),
    initial: { ops, seconds: used, seen: [] },
  };
}

/** The fewest buffers of any packing within the budget; infinite when there is none. */
function fewestBuffers(task: Small): number {
  const { n, causal, align, maxOps, maxMb, base, perRow, opsPerRange, budget } = task;
  const pairs = (r0: number, r1: number): number => (causal ? causalPairs(r0, r1) : (r1 - r0) * n);
  const left = (r: number): number => (r === 0 ? budget - task.used : budget);
  // A buffer is closed by what its rows put out, in one range, or by the number of its ranges.
  const closes = (r0: number, r1: number): boolean => {
    const units = Math.floor((base + perRow * (r1 - r0)) / 2);
    const needed = Math.ceil((maxOps + 1 - (r0 === 0 ? task.ops : 0)) / opsPerRange);
    return units > maxMb || (r1 - r0) / align >= needed;
  };
  const fewest = new Map<number, number>([[0, 0]]);
  let best = Number.POSITIVE_INFINITY;
  for (let r = 0; r < n; r += align) {
    const before = fewest.get(r);
    if (before === undefined) continue;
    if (pairs(r, n) <= left(r)) best = Math.min(best, before + 1);
    for (let end = r + align; end < n && pairs(r, end) <= left(r); end += align)
      if (closes(r, end)) fewest.set(end, Math.min(fewest.get(end) ?? Number.POSITIVE_INFINITY, before + 1));
  }
  return best;
}

test("packed: a plan is made exactly when there is one, and takes the fewest buffers", () => {
  const seen = { planned: 0, refused: 0, several: 0 };
  fc.assert(
    fc.property(small, (task) => {
      const plan = planOf(optionsOf(task));
      const fewest = fewestBuffers(task);
      if (plan instanceof PlannerError) {
        seen.refused++;
        expect(fewest).toBe(Number.POSITIVE_INFINITY);
        return;
      }
      seen.planned++;
      if (plan.buffers.length > 1) seen.several++;
      const together = plan.buffers.length;
      if (fewest === Number.POSITIVE_INFINITY) throw new Error("there is no such packing");
      if (together !== fewest) throw new Error(`${together} buffers instead of ${fewest}`);
      for (const { seconds } of plan.buffers) expect(seconds).toBeLessThanOrEqual(task.budget);
    }),
    { numRuns: runs },
  );
  expect(seen.planned).toBeGreaterThan(2000);
  expect(seen.refused).toBeGreaterThan(1000);
  expect(seen.several).toBeGreaterThan(500);
}, 30_000);

test("explicit: as few ranges as there can be", () => {
  let several = 0;
  fc.assert(
    fc.property(small, (task) => {
      const { n, causal, align, budget } = task;
      const plan = planOf({ ...optionsOf(task), mode: "explicit", initial: {} });
      if (plan instanceof PlannerError) return;
      const pairs = (r0: number, r1: number): number => (causal ? causalPairs(r0, r1) : (r1 - r0) * n);
      const fewest = new Map<number, number>([[0, 0]]);
      for (let r = 0; r < n; r += align)
        for (
          let end = Math.min(n, r + align);
          end <= n && pairs(r, end) <= budget;
          end = end === n ? n + 1 : Math.min(n, end + align)
        )
          fewest.set(
            end,
            Math.min(fewest.get(end) ?? Number.POSITIVE_INFINITY, (fewest.get(r) ?? Number.POSITIVE_INFINITY) + 1),
          );
      if (plan.count !== fewest.get(n)) throw new Error(`${plan.count} ranges instead of ${fewest.get(n)}`);
      if (plan.count > 1) several++;
    }),
    { numRuns: runs },
  );
  expect(several).toBeGreaterThan(2000);
}, 30_000);
