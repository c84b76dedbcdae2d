// What the tests of runPlanned share: plans of a given form, and what a promise is rejected with.
import type { Plan, PlanMode } from "../../src/planner/index.ts";
import * as mx from "../../src/index.ts";
import { untyped } from "../helpers.ts";

/** A plan of equal ranges, of which `window` may be alive. */
function planOf<M extends PlanMode>(mode: M, rows: number, width: number, window: number): Plan<M> {
  const bounds = Int32Array.from({ length: Math.ceil(rows / width) + 1 }, (_, i) => Math.min(i * width, rows));
  return untyped({ mode, bounds, count: bounds.length - 1, commitFirst: false, memory: { window } });
}

export const explicit = (rows = 10, width = 3, window = 2): Plan<"explicit"> => planOf("explicit", rows, width, window);

export const packed = (rows = 10, width = 3): Plan<"packed"> => planOf("packed", rows, width, 1);

export const rowsOf = (x: mx.Array, r0: number, r1: number): mx.Array => x.get(`${r0}:${r1}`);

export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
