/** The work of rows of attention. */

import { integer } from "./check.ts";

/**
 * The most rows that a plan may have: up to here, the product of rows and keys of any range is an integer that a
 * number holds exactly.
 */
export const mostRows = 94_906_264;

/** Refuses rows that are none. */
function checkRows(r0: number, r1: number, most: number): void {
  integer(r0, "r0", 0, most);
  integer(r1, "r1", r0, most);
}

/**
 * Pairs of query and key in rows [r0, r1), when row i attends to the i + 1 first keys: exact, up to 94,906,264 rows.
 * Throws a PlannerError (`badInput`) for rows that are none.
 */
export function causalPairs(r0: number, r1: number): number {
  checkRows(r0, r1, mostRows);
  return rangePairs(r0, r1, r1, true);
}

/** Pairs of rows [r0, r1) of n: causal, or all of them. Exact up to `mostRows`. */
export function rangePairs(r0: number, r1: number, n: number, causal: boolean): number {
  return causal ? ((r1 - r0) * (r0 + r1 + 1)) / 2 : (r1 - r0) * n;
}

/**
 * Multiply-accumulates of rows [r0, r1) of n, up to 94,906,264 rows: exact, also past 2^53. Throws a PlannerError
 * (`badInput`) for rows or costs that are none.
 */
export function rangeMacs(r0: number, r1: number, n: number, pairCost: number, causal: boolean): bigint {
  integer(n, "n", 1, mostRows);
  checkRows(r0, r1, n);
  integer(pairCost, "pairCost", 0);
  return BigInt(rangePairs(r0, r1, n, causal)) * BigInt(pairCost);
}
