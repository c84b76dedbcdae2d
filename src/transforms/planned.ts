/** runPlanned: the ranges of a plan on real arrays, one after the other, with few of them alive at once. */

import { MxArray } from "../core/array.ts";
import { insideTransform } from "../core/callbacks.ts";
import { describe } from "../core/describe.ts";
import { MlxError } from "../core/error.ts";
import { asyncEval } from "../core/evaluate.ts";
import type { Handle } from "../core/handle.ts";
import { currentScope, type Entry, release } from "../core/ledger.ts";
import { checkOptions } from "../core/options.ts";
import { abortSignal, readyNow, settled } from "../core/ready.ts";
import { type NotPromise, refusePromise, requireFunction, tidy } from "../core/scope.ts";
import { leaves } from "../core/tree.ts";
import type { Plan, PlanMode } from "../planner/types.ts";

const op = "runPlanned";

/** Computes the rows `[r0, r1)`, the range number `index`. Borrows what it reads and runs in an implicit `tidy`. */
export type RangeStep<R> = (r0: number, r1: number, index: number) => NotPromise<R>;

/** Adds the result of the rows `[r0, r1)` to what there is. Borrows both and runs in an implicit `tidy`. */
export type RangeCombine<A, R> = (total: A, part: R, r0: number, r1: number, index: number) => NotPromise<A>;

/** What `progress` is told. */
export interface RangeProgress {
  /** The rows that are done now: `[r0, r1)`. */
  r0: number;
  r1: number;
  /** Ranges that are done, this one included, and all of them. */
  done: number;
  total: number;
  /** Ranges that have been started and are not done. */
  inFlight: number;
}

export interface RunPlannedOptions {
  /** Called after each range, in order: once its values are there, in packed mode once its graph is made. */
  progress?: ((progress: RangeProgress) => void) | undefined;
  /** Ends the run between ranges: it fails with the signal's reason. What has been started runs on. */
  signal?: AbortSignal | undefined;
  /**
   * What the ranges read and what may not be computed yet: a tree of Arrays, whose evaluation is started, with a
   * boundary of its own, before the first range. A plan with `commitFirst` needs it. Nothing in packed mode.
   */
  pending?: unknown;
}

export interface CombineOptions<A, R> extends RunPlannedOptions {
  /** Makes one result of all: called for each range, in order. */
  combine: RangeCombine<A, R>;
}

export interface FoldOptions<A, R> extends CombineOptions<A, R> {
  /** What `combine` gets first, borrowed. Without it, that is the result of the first range. */
  initial: A;
}

/** A promise in explicit mode; in packed mode the result itself. */
export type Ran<M extends PlanMode, T> = M extends "packed" ? T : Promise<T>;

interface Run {
  readonly count: number;
  /** Range i is [bounds[i], bounds[i + 1]). */
  readonly bounds: ArrayLike<number>;
  readonly window: number;
  readonly step: RangeStep<unknown>;
  readonly combine: RangeCombine<unknown, unknown> | undefined;
  readonly initial: { value: unknown } | null;
  readonly progress: ((progress: RangeProgress) => void) | undefined;
  readonly signal: AbortSignal | undefined;
  readonly pending: unknown;
}

/**
 * Runs the ranges of a plan from `mlx-ts/planner` on real arrays: `step(r0, r1, index)` computes the rows of one range
 * and returns a tree of Arrays. Gives the results of all ranges in order or, with `combine`, one result: the
 * accumulated sum, the list of pieces, whatever `combine(total, part, r0, r1, index)` makes of them. `initial` is what it
 * begins with, else the first range's result.
 *
 * A plan in explicit mode gives a promise. After each range an `asyncEval` ends the command buffer, at most
 * `plan.memory.window` ranges are alive at once, timers and input are served between ranges, and the promise resolves
 * when all values are there. In packed mode the result comes at once, as a lazy graph without boundaries and without a
 * window; that works inside of transforms too, where explicit mode is refused.
 *
 * `step` and `combine` borrow their arguments and run in an implicit `tidy`. The run frees each range's result when its
 * values are there and `combine` did not keep them in the total. The result is the caller's: in explicit mode, outside of
 * every `tidy`. When a function throws, an evaluation fails or `signal` fires, the run fails with that very error and
 * frees what it owns. Bad arguments throw at once. Python has no such function.
 */
export function runPlanned<M extends PlanMode, R, A>(
  plan: Plan<M>,
  step: RangeStep<R>,
  options: FoldOptions<A, R>,
): Ran<M, A>;
export function runPlanned<M extends PlanMode, R>(
  plan: Plan<M>,
  step: RangeStep<R>,
  options: CombineOptions<R, R>,
): Ran<M, R>;
export function runPlanned<M extends PlanMode, R>(
  plan: Plan<M>,
  step: RangeStep<R>,
  options?: RunPlannedOptions,
): Ran<M, R[]>;
export function runPlanned(plan: Plan, step: RangeStep<unknown>, options?: object): unknown {
  const run = checkedRun(plan, step, options);
  if (plan.mode === "packed") return runPacked(run);
  if (insideTransform()) {
    throw new MlxError(
      op,
      'a plan in explicit mode evaluates after each range, which is not possible inside of a function given to grad, vmap, compile or another transform. Make the plan with mode: "packed".',
    );
  }
  return runExplicit(run);
}

function checkedRun(plan: Plan, step: RangeStep<unknown>, options: object | undefined): Run {
  requireFunction(step, op);
  const given = (options ?? {}) as Partial<FoldOptions<unknown, unknown>>;
  checkOptions(given, ["combine", "initial", "pending", "progress", "signal"], op);
  const { combine, progress } = given;
  for (const [name, fn] of [
    ["combine", combine],
    ["progress", progress],
  ] as const) {
    if (fn !== undefined && typeof fn !== "function") {
      throw new TypeError(`${op}: ${name} must be a function, got ${describe(fn)}.`);
    }
  }
  // `initial: undefined` is a value where the name stands: a tree may be one.
  const initial = "initial" in given ? { value: given.initial } : null;
  if (initial !== null && combine === undefined) throw new TypeError(`${op}: initial is given without combine.`);
  if (given.pending === undefined && plan?.commitFirst === true) {
    throw new TypeError(
      `${op}: the plan wants what precedes it to be committed first: give those arrays as pending, [] if they are computed.`,
    );
  }
  const { pending } = given;
  return { ...checkedPlan(plan), step, combine, initial, progress, signal: abortSignal(given.signal, op), pending };
}

function checkedPlan(plan: Plan): Pick<Run, "count" | "bounds" | "window"> {
  const { mode, bounds, memory } = (plan ?? {}) as Partial<Plan>;
  if ((mode !== "explicit" && mode !== "packed") || !(bounds instanceof Int32Array)) {
    throw new TypeError(`${op}: plan must be one that planRanges of mlx-ts/planner made, got ${describe(plan)}.`);
  }
  const count = bounds.length - 1;
  if (count < 1) throw new RangeError(`${op}: plan has no range.`);
  for (let i = 0; i < count; i++) {
    if (bounds[i]! < 0 || bounds[i]! >= bounds[i + 1]!) {
      throw new RangeError(`${op}: plan.bounds must ascend from 0, got ${bounds[i]} before ${bounds[i + 1]}.`);
    }
  }
  const window = memory?.window;
  if (typeof window !== "number" || !Number.isInteger(window) || window < 1) {
    throw new RangeError(`${op}: plan.memory.window must be a whole number from 1, got ${describe(window)}.`);
  }
  // A copy: the run goes on for long, and what was checked must not change meanwhile.
  return { count, bounds: bounds.slice(), window };
}

/** The result of one step, which must hold an Array: without one there is nothing to evaluate. */
function computed(run: Run, index: number): unknown {
  const part: unknown = run.step(run.bounds[index]!, run.bounds[index + 1]!, index);
  refusePromise(part, op, "step is done when it returns");
  if (arraysOf(part).length > 0) return part;
  throw new TypeError(`${op}: step must return an Array or a tree of them, got ${describe(part)}.`);
}

function combined(run: Run, total: unknown, part: unknown, index: number): unknown {
  const next: unknown = run.combine!(total, part, run.bounds[index]!, run.bounds[index + 1]!, index);
  refusePromise(next, op, "combine is done when it returns");
  return next;
}

function tell(run: Run, index: number, inFlight: number): void {
  const [r0, r1] = [run.bounds[index]!, run.bounds[index + 1]!];
  run.progress?.({ r0, r1, done: index + 1, total: run.count, inFlight });
}

function runPacked(run: Run): unknown {
  const inTidy = tidy as (fn: () => unknown) => unknown;
  return inTidy(() => {
    const parts: unknown[] = [];
    let total = run.initial;
    for (let i = 0; i < run.count; i++) {
      run.signal?.throwIfAborted();
      const part = inTidy(() => computed(run, i));
      if (run.combine === undefined) parts.push(part);
      else if (total === null) total = { value: part };
      else total = { value: inTidy(() => combined(run, total!.value, part, i)) };
      tell(run, i, 0);
    }
    return run.combine === undefined ? parts : total!.value;
  });
}

/** The arrays that a run owns. They are in no scope: the run outlives the one that it was started in. */
class Owned {
  readonly #entries = new Set<Entry>();

  /** Runs `fn` in a `tidy` and owns what was born in it and comes out. */
  take(fn: () => unknown): unknown {
    const born: Entry[] = [];
    const result = (tidy as (fn: () => unknown) => unknown)(() => {
      const scope = currentScope();
      const tree = fn();
      for (const { entry } of leaves<Handle>(tree)) if (entry.scope === scope) born.push(entry);
      return tree;
    });
    for (const entry of born) {
      entry.scope = null;
      this.#entries.add(entry);
    }
    return result;
  }

  /** Frees those among `entries` that are owned. */
  free(entries: Iterable<Entry>): void {
    for (const entry of entries) if (this.#entries.delete(entry)) release(entry);
  }

  freeAll(): void {
    this.free([...this.#entries]);
  }
}

/** A range that was started. */
interface Flight {
  readonly index: number;
  readonly arrays: readonly MxArray[];
  readonly entries: ReadonlySet<Entry>;
}

const arraysOf = (tree: unknown): MxArray[] => leaves<MxArray>(tree).filter((leaf) => leaf instanceof MxArray);
const entriesOf = (tree: unknown): Set<Entry> => new Set(leaves<Handle>(tree).map(({ entry }) => entry));

/** A run in explicit mode. */
class Explicit {
  readonly #run: Run;
  readonly #owned = new Owned();
  readonly #flights: Flight[] = [];
  readonly #parts: unknown[] = [];
  #total: { value: unknown } | null;
  // What the total holds: parts that became part of it are not freed with their range.
  #held: Set<Entry>;

  constructor(run: Run) {
    this.#run = run;
    this.#total = run.initial;
    this.#held = entriesOf(run.initial?.value);
  }

  get inFlight(): number {
    return this.#flights.length;
  }

  start(index: number): void {
    const part = this.#owned.take(() => computed(this.#run, index));
    const arrays = arraysOf(part);
    this.#flights.push({ index, arrays, entries: entriesOf(part) });
    if (this.#run.combine === undefined) this.#parts.push(part);
    else this.#add(part, index);
    // The parts too: they are known to be done when the whole evaluation is.
    asyncEval(arrays, this.#run.combine === undefined ? [] : this.#fresh);
  }

  // What combine made for the last range.
  #fresh: Handle[] = [];

  #add(part: unknown, index: number): void {
    const total = this.#total;
    const next = total === null ? part : this.#owned.take(() => combined(this.#run, total.value, part, index));
    const before = this.#held;
    this.#total = { value: next };
    this.#held = entriesOf(next);
    this.#fresh = leaves<Handle>(next).filter(({ entry }) => !before.has(entry));
    // Before the evaluation, which can then write the new sum where the old one was.
    this.#free(before);
  }

  /** Frees what nothing needs any more. */
  #free(entries: Iterable<Entry>): void {
    const needed = (entry: Entry): boolean =>
      this.#held.has(entry) || this.#flights.some((flight) => flight.entries.has(entry));
    this.#owned.free([...entries].filter((entry) => !needed(entry)));
  }

  oldestIsDone(): boolean {
    return this.#flights[0]!.arrays.every((array) => readyNow(array, op));
  }

  /** Waits for the oldest range in flight. */
  async finishOldest(): Promise<void> {
    const { arrays, entries, index } = this.#flights[0]!;
    this.#run.signal?.throwIfAborted();
    await settled(arrays, op, this.#run.signal);
    this.#flights.shift();
    if (this.#run.combine !== undefined) this.#free(entries);
    tell(this.#run, index, this.#flights.length);
  }

  /** The result, when its own values are there: the total may hold more than the parts, on other streams. */
  async finish(): Promise<unknown> {
    if (this.#run.combine === undefined) return this.#parts;
    const { value } = this.#total!;
    asyncEval(value);
    await settled(arraysOf(value), op, this.#run.signal);
    return value;
  }

  abandon(): void {
    this.#owned.freeAll();
  }
}

async function runExplicit(run: Run): Promise<unknown> {
  const state = new Explicit(run);
  try {
    run.signal?.throwIfAborted();
    asyncEval(run.pending);
    for (let i = 0; i < run.count; i++) {
      // Timers that are due, input and other promises go first.
      if (i > 0) await Bun.sleep(0);
      run.signal?.throwIfAborted();
      while (state.inFlight >= run.window) await state.finishOldest();
      state.start(i);
      while (state.inFlight > 0 && state.oldestIsDone()) await state.finishOldest();
    }
    while (state.inFlight > 0) await state.finishOldest();
    return await state.finish();
  } catch (error) {
    state.abandon();
    throw error;
  }
}
