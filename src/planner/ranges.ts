/** The range planner. */

import { PlannerError } from "./errors.ts";
import { memoryOf, mostRowsWithin } from "./memory.ts";
import { ownBounds, type OwnTask } from "./own.ts";
import { packedBounds } from "./packed.ts";
import { commitReason } from "./packing.ts";
import { MadePlan } from "./plan.ts";
import { publishedBounds } from "./published.ts";
import { type Task, taskOf } from "./task.ts";
import type { Plan, PlanMode, PlanOptions } from "./types.ts";
import { rangePairs } from "./work.ts";

/** Whole pairs that fit into the budget behind `before` seconds: as modelled, rounding included. */
function pairsWithin({ n, pairCost, rate, budget }: Task, before: number): number {
  let pairs = Math.min(n * n, Math.max(0, Math.floor(((budget - before) * rate) / pairCost)));
  // It may as well have kept out the last one that fits: 0.29 s at 100 a second are 28.999999999999996.
  if (pairs < n * n && before + ((pairs + 1) * pairCost) / rate <= budget) pairs++;
  // Or it let in a few too many, or, behind a large sum, rather more: the steps grow.
  for (let step = 1; pairs > 0 && before + (pairs * pairCost) / rate > budget; step *= 2) pairs -= step;
  return Math.max(0, pairs);
}

/** Whether every range alone makes MLX commit, so that each has a buffer of its own even without boundaries. */
function closesAlone({ limits, opsPerRange, base, perRange, first }: Task): boolean {
  return (
    commitReason(limits!, opsPerRange, base + perRange) !== null &&
    commitReason(limits!, first.ops + opsPerRange, first.elements + perRange) !== null
  );
}

function refuseUnit({ n, pairCost, rate, causal, align, budget }: Task, r: number): never {
  const unit = Math.min(align, n - r);
  const seconds = (rangePairs(r, r + unit, n, causal) * pairCost) / rate;
  throw new PlannerError(
    "unitOverBudget",
    "budgetSeconds",
    `${unit} rows from row ${r} on take ${seconds} s at the planned rate, more than ${budget} s`,
  );
}

function refusePacked(task: Task, r: number, rows: number, ranges: number): never {
  if (rows > 0)
    throw new PlannerError(
      "packedOverBudget",
      "budgetSeconds",
      `from row ${r} on, ${rows} rows use up ${task.budget} s before the limits close the command buffer, and ` +
        `${ranges} ranges to close it need ${ranges * task.align} rows; mode "explicit" does not depend on the limits`,
    );
  throw new PlannerError(
    "packedOverBudget",
    "initial.seconds",
    `${task.first.seconds} s are in the open command buffer, which leave no room for a range`,
  );
}

interface Found {
  readonly bounds: Int32Array;
  readonly commitFirst: boolean;
  readonly rangesPerBuffer: number;
}

function balanced(task: Task, mostRows: number): Found {
  const { n, causal, align, mode, first } = task;
  const pairs = pairsWithin(task, 0);
  const firstPairs = first.seconds === 0 ? pairs : pairsWithin(task, first.seconds);
  const own: OwnTask = { n, causal, align, mostRows, firstPairs, pairs };
  const unitFits = rangePairs(0, Math.min(align, n), n, causal) <= pairs;
  if (mode === "packed" && !closesAlone(task)) {
    const found = packedBounds(task, own);
    if ("bounds" in found) return { ...found, commitFirst: false };
    if (found.rows > 0 || (found.stuckAt === 0 && unitFits))
      refusePacked(task, found.stuckAt, found.rows, found.ranges);
    refuseUnit(task, found.stuckAt);
  }
  let found = ownBounds(own);
  const shared = "stuckAt" in found && found.stuckAt === 0 && unitFits;
  if (shared && mode === "packed") refusePacked(task, 0, 0, 0);
  if (shared) found = ownBounds({ ...own, firstPairs: pairs });
  if ("stuckAt" in found) refuseUnit(task, found.stuckAt);
  return { bounds: found.bounds, commitFirst: shared, rangesPerBuffer: 1 };
}

function published(task: Task): Found {
  const bounds = publishedBounds(task);
  // What is in flight follows from the packing, which that planner may have got wrong: all of it, to be safe.
  const rangesPerBuffer = task.mode === "packed" ? bounds.length - 1 : 1;
  return { bounds, commitFirst: false, rangesPerBuffer };
}

/**
 * Cuts the rows of an attention pass into ranges whose modelled command buffers keep to a budget of time.
 *
 * Times are projected from `pairCost` and `rate * safetyFactor`. Strategy "balanced" gives the fewest ranges, of nearly
 * equal work, and takes account of `initial`, of inputs that share buffers, and of `memory`; "published" gives what the
 * planner of mlx-train-perf gives, which does not. Pure: the same options give the same plan.
 *
 * Throws a PlannerError: `badInput` for options that make no sense, `unitOverBudget` when `blockAlign` rows alone
 * take longer than the budget, `packedOverBudget` when the limits do not close a buffer in time (mode "packed", and
 * strategy "published"), `memoryOverLimit` when no range keeps to `memory.limitBytes`.
 */
export function planRanges<M extends PlanMode = "explicit">(options: PlanOptions<M>): Plan<M> {
  const task = taskOf(options);
  const { memory } = options;
  const { bounds, commitFirst, rangesPerBuffer } =
    task.strategy === "published" ? published(task) : balanced(task, mostRowsWithin(memory, task));
  return new MadePlan<M>(task, bounds, commitFirst, memoryOf(memory, task, bounds, rangesPerBuffer));
}
