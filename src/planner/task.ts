/** A planning task: the options, checked, with everything that follows from them. */

import { bad, boolean, checkLimit, integer, list, notNegative, object, oneOf, positive, view } from "./check.ts";
import { isResolved } from "./limits.ts";
import { commitReason } from "./packing.ts";
import type { BufferView, Limits, OpenBuffer, PlanMode, PlanOptions, PlanStrategy, ResolvedLimits } from "./types.ts";
import { mostRows } from "./work.ts";

export interface Task {
  readonly n: number;
  readonly pairCost: number;
  /** Multiply-accumulates a second that are planned with. */
  readonly rate: number;
  readonly causal: boolean;
  readonly align: number;
  readonly budget: number;
  readonly mode: PlanMode;
  readonly strategy: PlanStrategy;
  readonly limits: Limits | ResolvedLimits | undefined;
  readonly opsPerRange: number;
  /** Elements that a fresh buffer counts of the inputs. */
  readonly base: number;
  /** Elements that each range adds, beside its outputs. */
  readonly perRange: number;
  /** The sum over all inputs, as if each had a buffer of its own. */
  readonly distinct: number;
  /** Elements that a range keeps alive, checked; undefined where there are none to count. */
  readonly outputs: ((r0: number, r1: number) => number) | undefined;
  /** What the first buffer holds before the first range: its elements include what it will count of the inputs. */
  readonly first: { readonly ops: number; readonly elements: number; readonly seconds: number };
}

/**
 * Refuses limits that nobody can have meant. What MLX itself reads in its environment is taken as it is, since MLX runs
 * with it: 0 commits after each dispatch.
 */
function checkLimits(limits: Limits | ResolvedLimits): void {
  object(limits, "limits");
  const sources = isResolved(limits) ? limits.sources : undefined;
  if (isResolved(limits)) {
    object(limits.sources, "limits.sources");
    oneOf(limits.backend, "limits.backend", ["metal", "cuda"]);
    for (const name of ["mlxVersion", "architecture"] as const)
      if (typeof limits[name] !== "string") bad(`limits.${name}`, "a text", limits[name]);
  }
  for (const name of ["maxOps", "maxMb"] as const)
    checkLimit(limits[name], name, sources?.[name] === "environment" ? undefined : 1);
}

/** The counters of an open buffer. */
export function checkInitial(initial: OpenBuffer): Task["first"] {
  const { ops = 0, elements = 0, seconds = 0, seen } = object(initial, "initial");
  integer(ops, "initial.ops", 0);
  integer(elements, "initial.elements", 0);
  notNegative(seconds, "initial.seconds");
  if (seen !== undefined && typeof object(seen, "initial.seen")[Symbol.iterator] !== "function")
    bad("initial.seen", "an iterable of buffer ids", seen);
  return { ops, elements, seconds };
}

interface Counted {
  /** Elements of the first view of each buffer. */
  readonly unique: number;
  /** Those of them that the open buffer has not counted for certain. */
  readonly fresh: number;
  readonly distinct: number;
}

function countInputs(inputs: readonly BufferView[], initial: OpenBuffer): Counted {
  let unique = 0;
  let fresh = 0;
  let distinct = 0;
  const seen = new Set<BufferView["bufferId"]>();
  const before = initial.seen === undefined ? undefined : new Set(initial.seen);
  for (let i = 0; i < inputs.length; i++) {
    const { bufferId, dataSize } = view(inputs[i]!, "inputs", i);
    distinct += dataSize;
    if (seen.has(bufferId)) continue;
    seen.add(bufferId);
    unique += dataSize;
    if (before !== undefined && !before.has(bufferId)) fresh += dataSize;
  }
  // Without the ids, the open buffer may have counted any of the inputs. What is certain is the larger of the two.
  if (before === undefined) fresh = Math.max(0, unique - (initial.elements ?? 0));
  return { unique, fresh, distinct };
}

/** Checks options. Throws a PlannerError that names the first that makes no sense. */
export function taskOf(options: PlanOptions): Task {
  const { safetyFactor = 0.5, causal = true, inputs = [], initial = {}, outputElements } = object(options, "options");
  const { blockAlign = 1, opsPerRange = 1, budgetSeconds = 0.5, memory = {}, limits } = options;
  const mode = oneOf(options.mode === undefined ? "explicit" : options.mode, "mode", ["explicit", "packed"]);
  const { strategy = "balanced" } = options;
  oneOf(strategy, "strategy", ["balanced", "published"]);
  object(memory, "memory");
  positive(safetyFactor, "safetyFactor");
  if (safetyFactor > 1) bad("safetyFactor", "a number above 0 and up to 1", safetyFactor);
  boolean(causal, "causal");
  list(inputs, "inputs", "{ bufferId, dataSize }");
  if (outputElements !== undefined && typeof outputElements !== "function")
    bad("outputElements", "a function of two rows", outputElements);
  if (limits !== undefined) checkLimits(limits);
  else if (mode === "packed" || strategy === "published")
    bad("limits", `limits, which ${mode === "packed" ? "packing" : "the published planner"} depends on`, limits);
  const before = checkInitial(initial);
  const counted = countInputs(inputs, initial);
  const cuda = limits !== undefined && isResolved(limits) && limits.backend === "cuda";
  const base = cuda ? 0 : counted.unique;
  return {
    n: integer(options.queryRows, "queryRows", 1, mostRows),
    pairCost: integer(options.pairCost, "pairCost", 1),
    rate: positive(positive(options.rate, "rate") * safetyFactor, "rate"),
    causal,
    align: integer(blockAlign, "blockAlign", 1),
    budget: positive(budgetSeconds, "budgetSeconds"),
    mode,
    strategy,
    // Buffers are modelled later, from what was given now.
    limits: limits === undefined ? undefined : { ...limits },
    opsPerRange: integer(opsPerRange, "opsPerRange", 1),
    base,
    perRange: cuda ? counted.distinct : 0,
    distinct: counted.distinct,
    outputs: cuda || outputElements === undefined ? undefined : checkedOutputs(outputElements),
    // Counters past the limits are those of a buffer that MLX has committed already.
    first:
      limits !== undefined && commitReason(limits, before.ops, before.elements) !== null
        ? { ops: 0, elements: base, seconds: 0 }
        : { ...before, elements: cuda ? before.elements : before.elements + counted.fresh },
  };
}

function checkedOutputs(outputs: (r0: number, r1: number) => number): (r0: number, r1: number) => number {
  return (r0, r1) => {
    const elements = outputs(r0, r1);
    return Number.isInteger(elements) && elements >= 0 ? elements : integer(elements, "outputElements", 0);
  };
}
