/** Spreads what the last part lacks over all parts, without a part more. */

export interface Cut {
  /** Work of all parts together. */
  readonly total: number;
  readonly count: number;
  /** Work that a part may have in this cut, and what its last part has. */
  readonly most: number;
  readonly tail: number;
}

/** How full the last part has to be, compared with what a part may have, for the cut to count as level. */
const level = 0.9;

/**
 * Looks for a smaller bound on the work of a part with which there are still `count` of them. `attempt` cuts with a
 * bound, and returns the work of the last part, or -1 when there would be more parts or none fits. The last attempt
 * that succeeds has the lowest bound. Few cuts are tried where there are many parts: the gain of each is small there.
 */
export function levelled({ total, count, most, tail }: Cut, attempt: (most: number) => number): void {
  let high = most;
  let low = Math.ceil(total / count) - 1;
  let last = tail;
  let guess = high - (high - last) / count;
  for (let tries = count > 64 ? 3 : 16; tries > 0 && last < level * high; tries--) {
    guess = Math.floor(guess > low && guess < high ? guess : (low + high) / 2);
    if (guess <= low || guess >= high) return;
    const found = attempt(guess);
    if (found < 0) {
      low = guess;
      guess = (low + high) / 2;
    } else {
      high = guess;
      last = found;
      guess = high - (high - last) / count;
    }
  }
}
