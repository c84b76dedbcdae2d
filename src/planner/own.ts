/**
 * Ranges of which each has a command buffer of its own. All sums are of pairs of query and key, in whole numbers, so
 * that no rounding hides work or invents it.
 */

import { levelled } from "./level.ts";
import { grown, scratch, taken } from "./scratch.ts";

/** What bounds a range. */
export interface OwnTask {
  readonly n: number;
  readonly causal: boolean;
  readonly align: number;
  /** The most rows, a multiple of align, or n. */
  readonly mostRows: number;
  /** Pairs that the first range may take. */
  readonly firstPairs: number;
  /** Pairs that a range may take. */
  readonly pairs: number;
}

/** The bounds, or the row from which not even one block fits. */
export type Bounds = { readonly bounds: Int32Array } | { readonly stuckAt: number };

/** The widest causal range from row r: the largest w, a multiple of align, with w (2 r + w + 1) <= pairs2. */
export function widestCausal(r: number, align: number, most: number, pairs2: number): number {
  const a = 2 * r + 1;
  // One more than the root, because rounding may have taken it below a whole number; then down to what holds.
  let w = Math.floor((Math.sqrt(a * a + 4 * pairs2) - a) / 2) + 1;
  if (w > most) w = most;
  w = Math.floor(w / align) * align;
  while (w > 0 && w * (a + w) > pairs2) w -= align;
  return w > 0 ? w : 0;
}

const tooMany = -1;

/**
 * Cuts causal rows into the widest ranges, into scratch list `which`. Returns their number, `tooMany` past `cap`, or
 * -2 - r when nothing fits from row r on.
 */
function cutCausal(task: OwnTask, pairs: number, cap: number, which: 0 | 1): number {
  const { n, align, mostRows: most } = task;
  const pairs2 = 2 * pairs;
  const first2 = 2 * Math.min(task.firstPairs, pairs);
  let out = scratch(which);
  let room = out.length - 2;
  out[0] = 0;
  if (n <= most && n * (n + 1) <= first2) {
    out[1] = n;
    return 1;
  }
  let w = widestCausal(0, align, most, first2);
  if (w === 0) return -2;
  let r = w;
  let count = 1;
  out[1] = w;
  // Later ranges are never wider, but for a first one that shares its buffer.
  if (first2 < pairs2) w = Math.max(align, Math.floor(most / align) * align);
  const near = 64 * align;
  while (n - r > most || (n - r) * (n + r + 1) > pairs2) {
    const a = 2 * r + 1;
    if (w > near) w = widestCausal(r, align, Math.min(w, most), pairs2);
    else while (w > 0 && w * (a + w) > pairs2) w -= align;
    if (w <= 0) return -2 - r;
    r += w;
    out[++count] = r;
    if (count >= cap) return tooMany;
    if (count >= room) {
      out = grown(which);
      room = out.length - 2;
    }
  }
  out[++count] = n;
  return count;
}

/** Moves the last inner bound to where the last two ranges are as much work, or the earlier one a block more. */
function levelLastTwo({ n, align }: OwnTask, out: Int32Array, count: number): void {
  const a = out[count - 2]!;
  const old = out[count - 1]!;
  const half = (a * (a + 1) + n * (n + 1)) / 2;
  let r = Math.max(a, Math.floor((Math.sqrt(1 + 4 * half) - 1) / 2) - 1);
  r = Math.ceil(r / align) * align;
  while (r <= a || r * (r + 1) < half) r += align;
  if (r < old) out[count - 1] = r;
}

function causalBounds(task: OwnTask): Bounds {
  const { n, pairs } = task;
  const most = Number.POSITIVE_INFINITY;
  const count = cutCausal(task, pairs, most, 0);
  if (count < 0) return { stuckAt: -2 - count };
  let best: 0 | 1 = 0;
  const tail = (which: 0 | 1): number => {
    const r = scratch(which)[count - 1]!;
    return ((n - r) * (n + r + 1)) / 2;
  };
  if (count > 1) {
    levelled({ total: (n * (n + 1)) / 2, count, most: pairs, tail: tail(0) }, (fewer) => {
      const other = best === 0 ? 1 : 0;
      if (cutCausal(task, fewer, count, other) !== count) return -1;
      best = other;
      return tail(other);
    });
    levelLastTwo(task, scratch(best), count);
  }
  return { bounds: taken(best, count + 1) };
}

/** Rows that each see every key: all ranges cost the same a row, so the remainder is spread in closed form. */
function evenBounds({ n, align, mostRows: most, firstPairs, pairs }: OwnTask): Bounds {
  // Only the last range may end within a block, so it alone may use all rows of the budget.
  const rows = Math.min(Math.floor(pairs / n), most);
  const widest = Math.floor(rows / align);
  const shared = firstPairs < pairs;
  const firstRows = Math.min(Math.floor(firstPairs / n), rows);
  if (firstRows >= n) return { bounds: Int32Array.of(0, n) };
  const from = shared ? Math.floor(firstRows / align) * align : 0;
  if (shared && from === 0) return { stuckAt: 0 };
  const rest = n - from;
  if (widest === 0 && rest > rows) return { stuckAt: from };
  const parts = rest <= rows ? 1 : 1 + Math.ceil((rest - rows) / (widest * align));
  const blocks = Math.ceil(rest / align);
  const fewer = Math.min(widest, Math.floor(blocks / parts));
  // The first ranges take one block more, unless only the last one has room for it.
  const longer = blocks > parts * widest ? 0 : blocks % parts;
  const bounds = new Int32Array(parts + (shared ? 2 : 1));
  let at = 0;
  if (shared) bounds[++at] = from;
  for (let i = 1; i < parts; i++) {
    bounds[at + 1] = bounds[at]! + (i <= longer ? fewer + 1 : fewer) * align;
    at++;
  }
  bounds[++at] = n;
  return { bounds };
}

/** The fewest ranges, and among those ranges of nearly equal work. */
export function ownBounds(task: OwnTask): Bounds {
  return task.causal ? causalBounds(task) : evenBounds(task);
}
