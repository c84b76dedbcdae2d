/** MLX's rule: what a command buffer counts, and when it is committed. */

import { checkLimits } from "./check.ts";
import type { BufferView, CloseReason, Limits, OpenBuffer } from "./types.ts";

/** Elements in one unit of `maxMb`. */
export const unitElements: number = 2 ** 20;

/** Whole units of 2^20 elements. */
export function unitsOf(elements: number): number {
  return Math.floor(elements / unitElements);
}

/**
 * Why a buffer that holds this much is committed, or null while it stays open. MLX compares operations as signed
 * numbers, so -1 commits after everything; units as unsigned ones, so that a negative maxMb never commits.
 */
export function commitReason(limits: Limits, ops: number, elements: number): "ops" | "elements" | null {
  if (ops > limits.maxOps) return "ops";
  if (limits.maxMb >= 0 && unitsOf(elements) > limits.maxMb) return "elements";
  return null;
}

/**
 * The first counts at which a buffer is committed; infinite for a limit that never is. Throws a PlannerError
 * (`badInput`) for limits that are no integers of 32 bits.
 */
export function firstTrigger(limits: Limits): { ops: number; elements: number } {
  checkLimits(limits);
  return {
    ops: Math.max(0, limits.maxOps + 1),
    elements: limits.maxMb < 0 ? Number.POSITIVE_INFINITY : (limits.maxMb + 1) * unitElements,
  };
}

/** The backends differ in what they count. */
export type PackingBackend = "metal" | "cuda";

/** A command buffer that has been committed, or stands open. */
export interface ModelledBuffer {
  /** Index of its first operation, and of the one behind its last, in the list that was replayed; markers count. */
  readonly firstOp: number;
  readonly endOp: number;
  /** Dispatches; nodes of the graph on CUDA. */
  readonly ops: number;
  readonly elements: number;
  readonly units: number;
  readonly seconds: number;
  readonly reason: CloseReason;
  /** Whether some number of dispatches in it was assumed, not known. */
  readonly assumed: boolean;
}

/** The counters of the open command buffer. */
export class CommandBuffer {
  ops = 0;
  elements = 0;
  seconds = 0;
  assumed = false;
  #firstOp = 0;
  readonly #seen = new Set<BufferView["bufferId"]>();
  readonly #limits: Limits;
  readonly #backend: PackingBackend;

  constructor(limits: Limits, backend: PackingBackend = "metal", initial: OpenBuffer = {}) {
    this.#limits = limits;
    this.#backend = backend;
    this.ops = initial.ops ?? 0;
    this.elements = initial.elements ?? 0;
    this.seconds = initial.seconds ?? 0;
    for (const id of initial.seen ?? []) this.#seen.add(id);
  }

  /** An array that a dispatch reads. Metal counts the first view of each buffer, CUDA each reference. */
  read(view: BufferView): void {
    if (this.#backend === "cuda") this.elements += view.dataSize;
    else this.#bind(view);
  }

  /** An array that a dispatch writes, or a temporary. Counted on Metal only. */
  write(view: BufferView): void {
    if (this.#backend === "metal") this.#bind(view);
  }

  #bind({ bufferId, dataSize }: BufferView): void {
    if (this.#seen.has(bufferId)) return;
    this.#seen.add(bufferId);
    this.elements += dataSize;
  }

  /** A wait or a signal ends the encoder, not the buffer: what it has seen is forgotten, what it has counted is not. */
  event(): void {
    this.#seen.clear();
  }

  /** Why MLX would commit now, after a primitive. */
  get due(): "ops" | "elements" | null {
    return commitReason(this.#limits, this.ops, this.elements);
  }

  /** Ends the buffer behind operation `endOp - 1` and begins an empty one. */
  close(endOp: number, reason: CloseReason): ModelledBuffer {
    const { ops, elements, seconds, assumed } = this;
    const closed = { firstOp: this.#firstOp, endOp, ops, elements, units: unitsOf(elements), seconds, reason, assumed };
    this.ops = 0;
    this.elements = 0;
    this.seconds = 0;
    this.assumed = false;
    this.#firstOp = endOp;
    this.#seen.clear();
    return closed;
  }

  /** Whether nothing has been counted. */
  get isEmpty(): boolean {
    return this.ops === 0 && this.elements === 0 && this.seconds === 0;
  }
}
