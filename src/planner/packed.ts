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

/** The counters of an open buffer, and the pairs that still fit into it. */
interface Open {
  readonly ops: number;
  readonly elements: number;
  readonly pairs: number;
}

/** One attempt to pack, with a budget of pairs a buffer. */
class Packer {
  readonly #task: Task;
  readonly #own: OwnTask;
  readonly #pairs: number;
  readonly bounds: number[] = [0];
  readonly buffers: number[] = [];

  constructor(task: Task, own: OwnTask, pairs: number) {
    this.#task = task;
    this.#own = own;
    this.#pairs = pairs;
  }

  /** What a buffer that begins at row r holds. */
  #openAt(r: number): Open {
    const { first, base } = this.#task;
    if (r > 0) return { ops: 0, elements: base, pairs: this.#pairs };
    return { ops: first.ops, elements: first.elements, pairs: Math.min(this.#own.firstPairs, this.#pairs) };
  }

  /** The most rows that a buffer from row r on has time for. */
  widest(r: number): number {
    const { n, causal, align } = this.#own;
    const { pairs } = this.#openAt(r);
    if (rangePairs(r, n, n, causal) <= pairs) return n - r;
    if (causal) return widestCausal(r, align, n - r, 2 * pairs);
    return Math.floor(Math.floor(pairs / n) / align) * align;
  }

  #fewest(rows: number): number {
    return Math.max(1, Math.ceil(rows / this.#own.mostRows));
  }

  /** Whether as few ranges as possible of so many rows, from row r on, close their buffer. */
  #closes(r: number, rows: number): boolean {
    const { limits, opsPerRange, perRange, outputs } = this.#task;
    const { ops, elements } = this.#openAt(r);
    const count = this.#fewest(rows);
    const put = outputs === undefined ? 0 : outputs(r, r + rows);
    return commitReason(limits!, ops + count * opsPerRange, elements + count * perRange + put) !== null;
  }

  /** How many ranges close a buffer that begins at row r, whatever they put out. */
  closingRanges(r: number): number {
    const { limits, opsPerRange, perRange } = this.#task;
    const { ops, elements } = this.#openAt(r);
    const trigger = firstTrigger(limits!);
    const missing = trigger.elements - elements;
    const byElements = missing <= 0 ? 1 : missing / perRange;
    return Math.max(1, Math.ceil(Math.min((trigger.ops - ops) / opsPerRange, byElements)));
  }

  /** The fewest rows with which a buffer from row r on is closed, in whole blocks; infinite past `most`. */
  #leastRows(r: number, most: number): number {
    const { align } = this.#own;
    const byNumber = this.closingRanges(r) * align;
    const blocks = Math.floor(most / align);
    if (blocks === 0 || !this.#closes(r, blocks * align)) return byNumber <= most ? byNumber : Number.POSITIVE_INFINITY;
    return Math.min(byNumber, align * (1 + lastBelow(blocks, (block) => !this.#closes(r, block * align))));
  }

  /** Whether a buffer from row r on is closed in time. */
  #closesInTime(r: number): boolean {
    const rows = this.widest(r);
    return rows > 0 && this.#leastRows(r, rows) <= rows;
  }

  /** Adds a buffer of rows [r, end). False when the limits do not close it; the last one need not be closed. */
  add(r: number, end: number): boolean {
    const first = this.bounds.length - 1;
    const last = end === this.#own.n;
    const fewest = this.#fewest(end - r);
    if (!this.#spread(r, end, fewest) && !last) {
      this.bounds.length = first + 1;
      const needed = this.closingRanges(r);
      if (needed * this.#own.align > end - r) return false;
      this.#spread(r, end, needed);
    }
    this.buffers.push(first);
    return true;
  }

  /** Cuts rows [r, end) into ranges, in whole blocks, the longer ones first, up to the one that closes the buffer. */
  #spread(r: number, end: number, parts: number): boolean {
    const { limits, opsPerRange, perRange, outputs } = this.#task;
    const { align, mostRows } = this.#own;
    const blocks = Math.ceil((end - r) / align);
    let { ops, elements } = this.#openAt(r);
    for (let i = 0, at = r; i < parts; i++) {
      const from = at;
      at = i === parts - 1 ? end : at + Math.floor(blocks / parts + (i < blocks % parts ? 1 : 0)) * align;
      ops += opsPerRange;
      elements += perRange + (outputs?.(from, at) ?? 0);
      const closed = commitReason(limits!, ops, elements) !== null;
      // The range that closes the buffer may as well take what was meant for those behind it.
      this.bounds.push(closed && end - from <= mostRows ? end : at);
      if (closed) return true;
    }
    return false;
  }

  /**
   * Where rows are left that no buffer from here on closes in time, a buffer that ends earlier may leave a start from
   * where one does: the last such start, with the buffers before it shortened as little as that takes.
   */
  retreat(): boolean {
    const { align } = this.#own;
    const starts = this.buffers.map((first) => this.bounds[first]!);
    const stuck = this.bounds.at(-1)!;
    let end = align * lastBelow(stuck / align, (block) => this.#closesInTime(block * align));
    if (end <= 0) return false;
    const ends: number[] = [end];
    for (let i = starts.length - 1; i > 0; i--) {
      const before = end;
      const reaches = (r: number): boolean => r + this.#leastRows(r, before - r) <= before;
      const start = starts[i]!;
      end = reaches(start) ? start : align * lastBelow(start / align, (block) => reaches(block * align));
      if (end <= 0) return false;
      ends.push(end);
    }
    if (this.#leastRows(0, end) > end) return false;
    this.bounds.length = 1;
    this.buffers.length = 0;
    return ends.reverse().every((to) => this.add(this.bounds.at(-1)!, to));
  }
}

/** The last whole number below `count` for which something holds that stops to hold somewhere; at least 0. */
function lastBelow(count: number, holds: (i: number) => boolean): number {
  let low = 0;
  let high = count;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function pack(task: Task, own: OwnTask, pairs: number): Packing {
  const packer = new Packer(task, own, pairs);
  const { bounds, buffers } = packer;
  let retreated = false;
  while (bounds.at(-1)! < own.n) {
    const start = bounds.at(-1)!;
    const rows = packer.widest(start);
    if (rows > 0 && packer.add(start, start + rows)) continue;
    if (retreated || !packer.retreat()) return { stuckAt: start, rows, ranges: packer.closingRanges(start) };
    retreated = true;
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
