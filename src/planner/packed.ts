/**
 * Ranges that nothing but MLX's limits separates. A buffer may take several; it has to be closed by the limits before
 * its work passes the budget, or be the last.
 */

import { levelled } from "./level.ts";
import { type OwnTask, widestCausal } from "./own.ts";
import { commitReason, firstTrigger } from "./packing.ts";
import type { Task } from "./task.ts";
import { rangePairs } from "./work.ts";

/** What became of an attempt: bounds with the index of each buffer's first range, or where it got stuck. */
type Packing =
  | { readonly bounds: number[]; readonly buffers: number[] }
  | { readonly stuckAt: number; readonly rows: number; readonly ranges: number };

interface Open {
  ops: number;
  elements: number;
  pairs: number;
}

function widestRows({ n, causal, align }: OwnTask, r: number, pairs: number): number {
  if (rangePairs(r, n, n, causal) <= pairs) return n - r;
  if (causal) return widestCausal(r, align, n - r, 2 * pairs);
  return Math.floor(Math.floor(pairs / n) / align) * align;
}

/** Cuts `rows` rows from r on into `parts` ranges, in whole blocks, the longer ones first; calls back for each. */
function spread(r: number, rows: number, parts: number, align: number, each: (r1: number) => boolean): void {
  const blocks = Math.ceil(rows / align);
  const fewer = Math.floor(blocks / parts);
  const longer = blocks % parts;
  let at = r;
  for (let i = 0; i < parts; i++) {
    at = i === parts - 1 ? r + rows : at + (i < longer ? fewer + 1 : fewer) * align;
    if (each(at)) return;
  }
}

/** How many ranges close a buffer that holds this, by what is certain of each; infinite when none do. */
function closingRanges({ limits, opsPerRange, perRange }: Task, { ops, elements }: Open): number {
  const trigger = firstTrigger(limits!);
  const byOps = (trigger.ops - ops) / opsPerRange;
  const missing = trigger.elements - elements;
  const byElements = missing <= 0 ? 1 : missing / perRange;
  return Math.max(1, Math.ceil(Math.min(byOps, byElements)));
}

function pack(task: Task, own: OwnTask, pairs: number): Packing {
  const { n, align, opsPerRange, perRange, outputs, limits } = task;
  const bounds = [0];
  const buffers: number[] = [];
  let open: Open = { ...task.first, pairs: Math.min(own.firstPairs, pairs) };
  while (bounds.at(-1)! < n) {
    const start = bounds.at(-1)!;
    buffers.push(bounds.length - 1);
    const rows = widestRows(own, start, open.pairs);
    const last = start + rows === n;
    // Adds a range up to row r1; true once the limits close the buffer.
    const add = (r1: number): boolean => {
      open.elements += perRange + (outputs?.(bounds.at(-1)!, r1) ?? 0);
      open.ops += opsPerRange;
      bounds.push(r1);
      return commitReason(limits!, open.ops, open.elements) !== null;
    };
    const fewest = Math.max(1, Math.ceil(rows / own.mostRows));
    if (rows === 0) return { stuckAt: start, rows, ranges: 0 };
    if (last) spread(start, rows, fewest, align, add);
    else {
      // As few ranges as possible; should they not close the buffer, as many as do, of the same rows.
      const before = { ...open };
      const at = bounds.length;
      let closed = false;
      spread(start, rows, fewest, align, (r1) => (closed = add(r1)));
      if (!closed) {
        bounds.length = at;
        open = before;
        const needed = closingRanges(task, open);
        if (needed * align > rows) return { stuckAt: start, rows, ranges: needed };
        spread(start, rows, needed, align, add);
      }
    }
    open = { ops: 0, elements: task.base, pairs };
  }
  return { bounds, buffers };
}

/** The bounds, and the most ranges in one buffer; or where no range, or no packing, keeps to the budget. */
export type PackedBounds =
  | { readonly bounds: Int32Array; readonly rangesPerBuffer: number }
  | { readonly stuckAt: number; readonly rows: number; readonly ranges: number };

/** The fewest buffers, of nearly equal work where a lower budget of each gives as many. */
export function packedBounds(task: Task, own: OwnTask): PackedBounds {
  const { n, causal } = task;
  let found = pack(task, own, own.pairs);
  if ("stuckAt" in found) return found;
  const count = found.buffers.length;
  const tail = ({ bounds, buffers }: { bounds: number[]; buffers: number[] }): number =>
    rangePairs(bounds[buffers.at(-1)!]!, n, n, causal);
  if (count > 1) {
    levelled({ total: rangePairs(0, n, n, causal), count, most: own.pairs, tail: tail(found) }, (fewer) => {
      const other = pack(task, own, fewer);
      if ("stuckAt" in other || other.buffers.length !== count) return -1;
      found = other;
      return tail(other);
    });
  }
  const { bounds, buffers } = found;
  const sizes = buffers.map((first, i) => (buffers[i + 1] ?? bounds.length - 1) - first);
  return { bounds: Int32Array.from(bounds), rangesPerBuffer: sizes.reduce((most, size) => Math.max(most, size), 1) };
}
