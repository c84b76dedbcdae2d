/** The work of rows of attention. */

/**
 * The most rows that a plan may have: up to here, the product of rows and keys of any range is an integer that a
 * number holds exactly.
 */
export const mostRows = 94_906_264;

/** Pairs of query and key in rows [r0, r1), when row i attends to the i + 1 first keys. Exact up to `mostRows`. */
export function causalPairs(r0: number, r1: number): number {
  return ((r1 - r0) * (r0 + r1 + 1)) / 2;
}

/** Pairs of rows [r0, r1) of n: causal, or all of them. Exact up to `mostRows`. */
export function rangePairs(r0: number, r1: number, n: number, causal: boolean): number {
  return causal ? causalPairs(r0, r1) : (r1 - r0) * n;
}

/** Multiply-accumulates of rows [r0, r1) of n, exact at any size. */
export function rangeMacs(r0: number, r1: number, n: number, pairCost: number, causal: boolean): bigint {
  return BigInt(rangePairs(r0, r1, n, causal)) * BigInt(pairCost);
}
