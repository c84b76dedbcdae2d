/**
 * Two lists of numbers that plans are made in before their length is known. Only for loops that call no function of
 * the user's, which could plan in turn.
 */

const lists: [Int32Array, Int32Array] = [new Int32Array(1024), new Int32Array(1024)];

/** Longer lists are not kept for the plans to come. */
const kept = 2 ** 20;

export function scratch(which: 0 | 1): Int32Array {
  return lists[which];
}

/** The list, twice as long and with its contents. */
export function grown(which: 0 | 1): Int32Array {
  const longer = new Int32Array(lists[which].length * 2);
  longer.set(lists[which]);
  lists[which] = longer;
  return longer;
}

/** A copy of the first numbers of a list, when a plan is done with both. */
export function taken(which: 0 | 1, length: number): Int32Array {
  const copy = lists[which].slice(0, length);
  for (const i of [0, 1] as const) if (lists[i].length > kept) lists[i] = new Int32Array(1024);
  return copy;
}
