/** A plan: bounds, and what follows from them. */

import { commitReason, unitsOf } from "./packing.ts";
import type { Task } from "./task.ts";
import type { CloseReason, Plan, PlanMemory, PlanMode, PlannedBuffer, RowRange } from "./types.ts";
import { rangeMacs, rangePairs } from "./work.ts";

/** The command buffers that the ranges make, accounted for anew from the bounds alone. */
export function modelBuffers(task: Task, bounds: Int32Array, commitFirst: boolean): PlannedBuffer[] {
  const { n, causal, pairCost, rate, limits, opsPerRange, perRange, outputs } = task;
  const buffers: PlannedBuffer[] = [];
  const none = { ops: 0, elements: task.base, seconds: 0 };
  let { ops, elements, seconds } = commitFirst ? none : task.first;
  let pairs = 0;
  let firstRange = 0;
  const count = bounds.length - 1;
  for (let i = 0; i < count; i++) {
    const r0 = bounds[i]!;
    const r1 = bounds[i + 1]!;
    ops += opsPerRange;
    elements += perRange + (outputs?.(r0, r1) ?? 0);
    pairs += rangePairs(r0, r1, n, causal);
    // Explicit boundaries end each range, and the evaluation of the whole ends the last.
    let reason: CloseReason | null = limits === undefined ? null : commitReason(limits, ops, elements);
    if (task.mode === "explicit" || i === count - 1) reason ??= "finalize";
    if (reason === null) continue;
    const units = unitsOf(elements);
    seconds += (pairs * pairCost) / rate;
    buffers.push({ firstRange, endRange: i + 1, ops, elements, units, seconds, reason });
    ({ ops, elements, seconds } = none);
    pairs = 0;
    firstRange = i + 1;
  }
  return buffers;
}

export class MadePlan<M extends PlanMode> implements Plan<M> {
  readonly mode: M;
  readonly strategy: Plan["strategy"];
  readonly count: number;
  readonly bounds: Int32Array;
  readonly commitFirst: boolean;
  readonly memory: PlanMemory;
  readonly #task: Task;
  #buffers: readonly PlannedBuffer[] | undefined;

  constructor(task: Task, bounds: Int32Array, commitFirst: boolean, memory: PlanMemory) {
    this.#task = task;
    // The task was made from options of this mode.
    this.mode = task.mode as M;
    this.strategy = task.strategy;
    this.bounds = bounds;
    this.count = bounds.length - 1;
    this.commitFirst = commitFirst;
    this.memory = memory;
  }

  get queryRows(): number {
    return this.#task.n;
  }
  get causal(): boolean {
    return this.#task.causal;
  }
  get blockAlign(): number {
    return this.#task.align;
  }
  get budgetSeconds(): number {
    return this.#task.budget;
  }
  get plannedRate(): number {
    return this.#task.rate;
  }
  get pairCost(): number {
    return this.#task.pairCost;
  }
  get limits(): Plan["limits"] {
    return this.#task.limits;
  }

  range(i: number): RowRange {
    if (!Number.isInteger(i) || i < 0 || i >= this.count)
      throw new RangeError(`planner: range: expected an integer from 0 to ${this.count - 1}, not ${i}`);
    return [this.bounds[i]!, this.bounds[i + 1]!];
  }

  macs(i: number): bigint {
    const { n, pairCost, causal } = this.#task;
    const [r0, r1] = this.range(i);
    return rangeMacs(r0, r1, n, pairCost, causal);
  }

  seconds(i: number): number {
    const { n, pairCost, causal, rate } = this.#task;
    const [r0, r1] = this.range(i);
    return (rangePairs(r0, r1, n, causal) * pairCost) / rate;
  }

  get buffers(): readonly PlannedBuffer[] {
    return (this.#buffers ??= modelBuffers(this.#task, this.bounds, this.commitFirst));
  }

  *[Symbol.iterator](): Generator<RowRange, void, undefined> {
    for (let i = 0; i < this.count; i++) yield [this.bounds[i]!, this.bounds[i + 1]!];
  }
}
