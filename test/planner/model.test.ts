// The model behind the plans: sums of work in whole numbers, and buffers beside the simulator's.
import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  causalPairs,
  type Limits,
  type Plan,
  PlannerError,
  planRanges,
  rangeMacs,
  simulate,
  type SimulatedMarker,
  type SimulatedOp,
} from "../../src/planner/index.ts";
import { pairCosts, planOf, rows, runs, type TaskParts, tasks } from "./arbitraries.ts";

test("the work of all ranges is the work of the pass, to the last multiply-accumulate", () => {
  let past = 0;
  fc.assert(
    fc.property(rows, pairCosts, fc.boolean(), fc.integer({ min: 1, max: 150 }), (n, pairCost, causal, parts) => {
      const whole = causal ? (BigInt(n) * (BigInt(n) + 1n)) / 2n : BigInt(n) * BigInt(n);
      const total = whole * BigInt(pairCost);
      const plan = planOf({ queryRows: n, pairCost, causal, rate: Number(total) / parts, budgetSeconds: 2 });
      if (plan instanceof PlannerError) return;
      if (total > BigInt(Number.MAX_SAFE_INTEGER)) past++;
      let sum = 0n;
      for (let i = 0; i < plan.count; i++) sum += plan.macs(i);
      if (sum !== total) throw new Error(`${sum} instead of ${total}`);
    }),
    { numRuns: runs },
  );
  expect(past).toBeGreaterThan(100);
});

test("1,048,576 rows of 64 heads: past what a number holds, and still exact", () => {
  const n = 2 ** 20;
  const pairCost = 4 * 128 * 64;
  const plan = planRanges({ queryRows: n, pairCost, rate: 2e13, blockAlign: 32 });
  const sum = Array.from({ length: plan.count }, (_, i) => plan.macs(i)).reduce((a, b) => a + b, 0n);
  expect(sum).toBe((BigInt(n) * BigInt(n + 1) * BigInt(pairCost)) / 2n);
  expect(sum).toBeGreaterThan(2n ** 53n);
  expect(causalPairs(0, n)).toBe((n * (n + 1)) / 2);
});

/** The operations that the ranges of a plan stand for. */
function operations(plan: Plan, { options, perRow }: TaskParts): (SimulatedOp | SimulatedMarker)[] {
  return [...plan].flatMap(([r0, r1], i) => {
    const op = {
      dispatches: options.opsPerRange ?? 1,
      reads: options.inputs ?? [],
      writes: perRow > 0 ? [{ bufferId: `rows ${i}`, dataSize: perRow * (r1 - r0) }] : [],
    };
    const ends = plan.mode === "explicit" || i === plan.count - 1;
    return ends ? [op, { marker: "evalEnd" as const }] : [op];
  });
}

test("the modelled buffers are those of the simulator, replaying the ranges", () => {
  for (const mode of ["explicit", "packed"] as const) {
    let made = 0;
    fc.assert(
      fc.property(tasks(mode), (task) => {
        const plan = planOf(task.options);
        if (plan instanceof PlannerError) return;
        made++;
        const { limits, initial = {} } = task.options;
        const { ops = 0, elements = 0, seen = [] } = plan.commitFirst || initialIsClosed(task) ? {} : initial;
        const replayed = simulate(operations(plan, task), { limits: limits!, initial: { ops, elements, seen } })
          // An evaluation commits a buffer even when the limits have just emptied it.
          .filter((buffer) => buffer.ops > 0 || buffer.elements > 0)
          .map(({ ops, elements, units, reason }) => ({ ops, elements, units, reason }));
        const modelled = plan.buffers.map(({ ops, elements, units, reason }) => ({ ops, elements, units, reason }));
        if (!Bun.deepEquals(replayed, modelled)) expect(modelled).toEqual(replayed);
      }),
      { numRuns: runs },
    );
    expect(made).toBeGreaterThan(runs / 4);
  }
}, 30_000);

/** Whether what is open would have been committed already: counters that cannot be. */
function initialIsClosed({ options: { limits, initial = {} } }: TaskParts): boolean {
  const { ops = 0, elements = 0 } = initial;
  return ops > limits!.maxOps || (limits!.maxMb >= 0 && Math.floor(elements / 2 ** 20) > limits!.maxMb);
}

const view = fc.integer({ min: 0, max: 9 }).map((bufferId) => ({ bufferId, dataSize: (bufferId + 1) * 3_000_000 }));
const chains = fc.array(
  fc.oneof(
    {
      weight: 9,
      arbitrary: fc.record({
        dispatches: fc.integer({ min: 0, max: 4 }),
        reads: fc.array(view, { maxLength: 3 }),
        writes: fc.array(view, { maxLength: 2 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ marker: fc.constantFrom("event" as const, "evalEnd" as const, "synchronize" as const) }),
    },
  ),
  { maxLength: 60 },
);

test("smaller limits only commit earlier", () => {
  const limits = fc.record({ maxOps: fc.integer({ min: 0, max: 30 }), maxMb: fc.integer({ min: 0, max: 60 }) });
  fc.assert(
    fc.property(chains, limits, fc.nat(30), fc.nat(60), (ops, more, ops_, mb) => {
      const fewer: Limits = { maxOps: Math.max(0, more.maxOps - ops_), maxMb: Math.max(0, more.maxMb - mb) };
      const late = simulate(ops, { limits: more });
      const early = simulate(ops, { limits: fewer });
      if (early.length < late.length) throw new Error("fewer commits");
      for (let i = 0; i < late.length; i++)
        if (early[i]!.endOp > late[i]!.endOp) throw new Error(`buffer ${i} is later`);
    }),
    { numRuns: runs },
  );
});

test("nothing that is replayed is lost: operations, seconds and indices add up", () => {
  fc.assert(
    fc.property(chains, fc.integer({ min: 0, max: 30 }), (ops, maxOps) => {
      const timed = ops.map((op) => ("marker" in op ? op : { ...op, seconds: 0.25 }));
      const buffers = simulate(timed, { limits: { maxOps, maxMb: 50 } });
      const real = ops.flatMap((op) => ("marker" in op ? [] : [op]));
      const sum = (of: (one: (typeof buffers)[number]) => number): number => buffers.reduce((s, one) => s + of(one), 0);
      expect(sum((one) => one.ops)).toBe(real.reduce((s, op) => s + op.dispatches, 0));
      expect(sum((one) => one.seconds)).toBe(real.length * 0.25);
      buffers.forEach((one, i) => expect(one.firstOp).toBe(buffers[i - 1]?.endOp ?? 0));
    }),
    { numRuns: runs },
  );
});
