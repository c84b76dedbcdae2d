/**
 * The ranges of the planner in mlx-train-perf (attention/kernel/launch.py), reproduced to the last row: its budget in
 * floating-point seconds, its one dispatch a range, its distinct inputs and its empty first buffer.
 */

import { PlannerError } from "./errors.ts";
import { firstTrigger } from "./packing.ts";
import { grown, scratch, taken } from "./scratch.ts";
import type { Task } from "./task.ts";
import { rangePairs } from "./work.ts";

/** The widest range from row r0 that the budget allows, by the published formula; 0 when none does. */
function widest(task: Task, r0: number, budget: number): number {
  const { n, pairCost, rate, causal, align } = task;
  const budgetMacs = budget * rate;
  if (budgetMacs <= 0) return 0;
  let w: number;
  if (causal) {
    const a = 2 * r0 + 1;
    w = Math.trunc((Math.sqrt(a * a + 8 * (budgetMacs / pairCost)) - a) / 2);
  } else w = Math.trunc(budgetMacs / (n * pairCost));
  w = Math.min(w, n - r0);
  if (w < n - r0 && align > 1) w = Math.floor(w / align) * align;
  // The product is the exact count, rounded once: what Python's division makes of its long integer.
  while (w > 0 && (rangePairs(r0, r0 + w, n, causal) * pairCost) / rate > budget) w -= align;
  return Math.max(0, w);
}

function refuse(task: Task, r0: number, ops: number, seconds: number): never {
  const { n, pairCost, rate, causal, align, budget, distinct } = task;
  const unit = Math.min(n - r0, align);
  const cost = (rangePairs(r0, r0 + unit, n, causal) * pairCost) / rate;
  if (ops === 0)
    throw new PlannerError(
      "unitOverBudget",
      "budgetSeconds",
      `${unit} rows from row ${r0} on take ${cost} s at the planned rate, more than ${budget} s`,
    );
  throw new PlannerError(
    "packedOverBudget",
    "budgetSeconds",
    `${ops} ranges of ${seconds} s stay in one command buffer with ${distinct} elements, and ${unit} rows more do not fit`,
  );
}

/** Where each range is surely alone in its buffer, the budget is the same for all. */
function alone(task: Task): Int32Array {
  const { n, pairCost, rate, align, budget } = task;
  const pairs8 = 8 * ((budget * rate) / pairCost);
  const mask = align > 0 && (align & (align - 1)) === 0 && align < 2 ** 30 ? -align : 0;
  let out = scratch(0);
  let room = out.length - 2;
  let count = 0;
  let r0 = 0;
  out[0] = 0;
  while (r0 < n) {
    const a = 2 * r0 + 1;
    const rest = n - r0;
    let w = (Math.sqrt(a * a + pairs8) - a) / 2;
    if (w >= rest) w = rest;
    else if (mask !== 0) w = Math.trunc(w) & mask;
    else w = Math.floor(Math.trunc(w) / align) * align;
    while (w > 0 && (((w * (a + w)) / 2) * pairCost) / rate > budget) w -= align;
    if (w <= 0) refuse(task, r0, 0, 0);
    r0 += w;
    out[++count] = r0;
    if (count >= room) {
      out = grown(0);
      room = out.length - 2;
    }
  }
  return taken(0, count + 1);
}

/** The bounds of the ranges. Throws the PlannerError that stands for the published planner's refusal. */
export function publishedBounds(task: Task): Int32Array {
  const { n, pairCost, rate, causal, budget, distinct, outputs } = task;
  const commit = firstTrigger(task.limits!);
  if (causal && distinct >= commit.elements && budget * rate > 0) return alone(task);
  const bounds = [0];
  let r0 = 0;
  let ops = 0;
  let elements = 0;
  let seconds = 0;
  while (r0 < n) {
    if (ops === 0) elements = distinct;
    const w = widest(task, r0, budget - seconds);
    if (w === 0) refuse(task, r0, ops, seconds);
    const r1 = r0 + w;
    seconds += (rangePairs(r0, r1, n, causal) * pairCost) / rate;
    ops++;
    if (outputs !== undefined) elements += outputs(r0, r1);
    bounds.push(r1);
    r0 = r1;
    if (elements >= commit.elements || ops >= commit.ops) {
      ops = 0;
      seconds = 0;
    }
  }
  return Int32Array.from(bounds);
}
