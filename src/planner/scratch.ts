/**
 * Two lists of numbers that plans are made in before their length is known. Only for loops that call no function of
 * the user's, which could plan in turn.
 */

const lists: [Int32Array, Int32Array] = [new Int32Array(1024), new Int32Array(1024)];

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
