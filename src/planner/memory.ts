/** What ranges hold in memory while they are in flight, and how many may be. */

import { PlannerError } from "./errors.ts";
import { integer, notNegative } from "./check.ts";
import type { Task } from "./task.ts";
import type { MemoryOptions, PlanMemory } from "./types.ts";

/** MLX waits for earlier work once more command buffers than this are under way. */
const mostActive = 10;

type Size = number | ((r0: number, r1: number) => number) | undefined;

function sizeOf(size: Size, field: string, r0: number, r1: number): number {
  return notNegative(typeof size === "function" ? size(r0, r1) : size === undefined ? 0 : size, field);
}

function rangeBytes({ rangeBytes: own, workspaceBytes }: MemoryOptions, r0: number, r1: number): number {
  return sizeOf(own, "memory.rangeBytes", r0, r1) + sizeOf(workspaceBytes, "memory.workspaceBytes", r0, r1);
}

/** What the limit leaves for ranges in flight. */
function room({ inputBytes = 0, resultBytes = 0, limitBytes }: MemoryOptions): number {
  const fixed = notNegative(inputBytes, "memory.inputBytes") + notNegative(resultBytes, "memory.resultBytes");
  if (limitBytes === undefined) return Number.POSITIVE_INFINITY;
  return notNegative(limitBytes, "memory.limitBytes") - fixed;
}

/** Rows, and the bytes that they hold. */
type Held = readonly [r0: number, r1: number, bytes: number];

function refuse([r0, r1, bytes]: Held, left: number): never {
  throw new PlannerError(
    "memoryOverLimit",
    "memory.limitBytes",
    `rows ${r0} to ${r1} hold ${bytes} bytes while inputs and result leave ${Math.max(0, left)}`,
  );
}

/**
 * The most that a range of up to so many rows holds. The last rows cost the most: with masks and scores, a workspace
 * grows with the keys that they see. Ranges begin at a block: the last one that is whole, and the one that ends the rows.
 */
function mostOf(memory: MemoryOptions, rows: number, n: number, align: number): Held {
  const whole = Math.floor((n - rows) / align) * align;
  const last = Math.ceil((n - rows) / align) * align;
  const bytes = rangeBytes(memory, whole, whole + rows);
  const atLast = last >= n || last === whole ? 0 : rangeBytes(memory, last, n);
  return atLast > bytes ? [last, n, atLast] : [whole, whole + rows, bytes];
}

/** The most rows of a range with which one alone in flight keeps to the limit, wherever it is: a multiple of align, or n. */
export function mostRowsWithin(memory: MemoryOptions | undefined, { n, align }: Task): number {
  if (memory?.limitBytes === undefined) return n;
  const left = room(memory);
  const fits = (rows: number): boolean => mostOf(memory, rows, n, align)[2] <= left;
  if (fits(n)) return n;
  let low = 0;
  let high = Math.ceil(n / align);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle * align)) low = middle;
    else high = middle;
  }
  if (low === 0) refuse(mostOf(memory, Math.min(align, n), n, align), left);
  return low * align;
}

/** The most that as many ranges in a row hold together. */
function mostTogether(memory: MemoryOptions, bounds: Int32Array, window: number): number {
  const at = (i: number): number => rangeBytes(memory, bounds[i]!, bounds[i + 1]!);
  let together = 0;
  let most = 0;
  for (let i = 0; i < bounds.length - 1; i++) {
    together += at(i);
    if (i >= window) together -= at(i - window);
    most = Math.max(most, together);
  }
  return most;
}

/**
 * The account of a plan. Between explicit boundaries the window bounds what is in flight. A packed chain is encoded at
 * once, and what is in flight follows from MLX's own bound on command buffers.
 */
export function memoryOf(
  options: MemoryOptions | undefined,
  task: Task,
  bounds: Int32Array,
  rangesPerBuffer: number,
): PlanMemory {
  const memory = options ?? {};
  const { inputBytes = 0, resultBytes = 0, limitBytes } = memory;
  const left = room(memory);
  const count = bounds.length - 1;
  const constant = typeof memory.rangeBytes !== "function" && typeof memory.workspaceBytes !== "function";
  let bytesPerRange = 0;
  for (let i = 0; i < (constant ? 1 : count); i++) {
    const bytes = rangeBytes(memory, bounds[i]!, bounds[i + 1]!);
    if (bytes > left) refuse([bounds[i]!, bounds[i + 1]!, bytes], left);
    bytesPerRange = Math.max(bytesPerRange, bytes);
  }
  const asked = memory.window === undefined ? undefined : integer(memory.window, "memory.window", 1);
  let window = Math.min(count, asked ?? (limitBytes === undefined ? 2 : mostActive));
  if (task.mode === "packed") {
    window = Math.min(count, (mostActive + 1) * rangesPerBuffer);
    const inFlight = constant ? window * bytesPerRange : mostTogether(memory, bounds, window);
    if (inFlight > left)
      throw new PlannerError(
        "memoryOverLimit",
        "memory.limitBytes",
        `${window} ranges may hold ${inFlight} bytes together when nothing but MLX's limits separates them`,
      );
    return { inputBytes, resultBytes, bytesPerRange, window, peakBytes: resultBytes + inFlight };
  }
  if (bytesPerRange > 0) window = Math.max(1, Math.min(window, Math.floor(left / bytesPerRange)));
  return { inputBytes, resultBytes, bytesPerRange, window, peakBytes: resultBytes + window * bytesPerRange };
}
