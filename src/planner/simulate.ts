/** Replays operations through MLX's packing rule. */

import { boolean, checkLimits, integer, isCount, isView, list, notNegative, object, oneOf, view } from "./check.ts";
import { isResolved } from "./limits.ts";
import { CommandBuffer, type ModelledBuffer, type PackingBackend } from "./packing.ts";
import { checkInitial } from "./task.ts";
import type { BufferView, Limits, OpenBuffer, ResolvedLimits } from "./types.ts";

/** One primitive of MLX's. Arrays in the order in which it binds them. */
export interface SimulatedOp {
  /** Metal dispatches: 0 for a view, several for a primitive of several passes. */
  readonly dispatches: number;
  readonly reads: readonly BufferView[];
  /** Outputs and bound temporaries. */
  readonly writes: readonly BufferView[];
  /** Projected or measured; default 0. */
  readonly seconds?: number;
  /** That the number of dispatches is a guess, as in every recording made without Metal. */
  readonly assumed?: boolean;
}

/** What ends encoders and buffers beside the limits. */
export interface SimulatedMarker {
  /** "event": a wait or signal of an event. "evalEnd": the end of an `eval` or `asyncEval`. */
  readonly marker: "event" | "evalEnd" | "synchronize";
}

export interface SimulateOptions {
  readonly limits: Limits | ResolvedLimits;
  /** What the open buffer holds already. Without `seen`, it has seen no buffer of these operations. */
  readonly initial?: OpenBuffer;
  /**
   * Lets an operation write into the buffer of an operand that an earlier one wrote, that has the same size and that
   * nothing reads afterwards, as MLX does where it can. Not for recorded operations, whose ids are the real ones.
   * Default false.
   */
  readonly donation?: boolean;
  /** Whose way of counting. Default: that of the limits, else "metal". */
  readonly backend?: PackingBackend;
}

/** Finds for each written array the buffer that it takes over, if any. */
function donated(ops: readonly (SimulatedOp | SimulatedMarker)[]): (id: BufferView["bufferId"]) => typeof id {
  const lastRead = new Map<BufferView["bufferId"], number>();
  ops.forEach((op, at) => {
    if (!("marker" in op)) for (const { bufferId } of op.reads) lastRead.set(bufferId, at);
  });
  const made = new Map<BufferView["bufferId"], number>();
  const home = new Map<BufferView["bufferId"], BufferView["bufferId"]>();
  ops.forEach((op, at) => {
    if ("marker" in op) return;
    const taken = new Set<BufferView["bufferId"]>();
    for (const { bufferId, dataSize } of op.writes) {
      if (made.has(bufferId)) continue;
      made.set(bufferId, dataSize);
      const free = op.reads.find(
        (one) =>
          one.bufferId !== bufferId &&
          made.get(one.bufferId) === dataSize &&
          lastRead.get(one.bufferId) === at &&
          !taken.has(one.bufferId),
      );
      if (free === undefined) continue;
      taken.add(free.bufferId);
      home.set(bufferId, home.get(free.bufferId) ?? free.bufferId);
    }
  });
  return (id) => home.get(id) ?? id;
}

const markers = ["event", "evalEnd", "synchronize"] as const;

/** Checks the views of a list; `field` is asked for its name when it is refused. */
function checkViews(views: readonly BufferView[], field: () => string): void {
  if (!Array.isArray(views)) list(views, field(), "{ bufferId, dataSize }");
  for (let i = 0; i < views.length; i++) if (!isView(views[i]!)) view(views[i]!, field(), i);
}

/** Refuses what would make counters that mean nothing. Names are made for a refusal only: lists may be long. */
function check(op: SimulatedOp | SimulatedMarker, at: number): void {
  if (typeof op !== "object" || op === null) object(op, `ops[${at}]`);
  if ("marker" in op) {
    if (!markers.includes(op.marker)) oneOf(op.marker, `ops[${at}].marker`, markers);
    return;
  }
  if (!isCount(op.dispatches)) integer(op.dispatches, `ops[${at}].dispatches`, 0);
  if (op.seconds !== undefined && !isCount(op.seconds)) notNegative(op.seconds, `ops[${at}].seconds`);
  checkViews(op.reads, () => `ops[${at}].reads`);
  checkViews(op.writes, () => `ops[${at}].writes`);
}

/**
 * The command buffers that MLX would make of these operations. Operations that nothing commits are the last buffer,
 * with the reason "open". The limits are checked once an operation, after all its dispatches; the end of an
 * evaluation commits a buffer even when it is empty. Throws a PlannerError (`badInput`) for counts that are none.
 */
export function simulate(ops: readonly (SimulatedOp | SimulatedMarker)[], options: SimulateOptions): ModelledBuffer[] {
  const { limits, initial = {}, donation = false, backend } = object(options, "options");
  checkLimits(limits);
  boolean(donation, "donation");
  checkInitial(initial);
  list(ops, "ops", "operations and markers").forEach(check);
  const counting = backend === undefined ? (isResolved(limits) ? limits.backend : "metal") : backend;
  oneOf(counting, backend === undefined ? "limits.backend" : "backend", ["metal", "cuda"]);
  const open = new CommandBuffer(limits, counting, initial);
  const home = donation ? donated(ops) : null;
  const buffers: ModelledBuffer[] = [];
  const real = (view: BufferView): BufferView =>
    home === null ? view : { bufferId: home(view.bufferId), dataSize: view.dataSize };
  ops.forEach((op, at) => {
    if ("marker" in op) {
      if (op.marker === "event") open.event();
      else buffers.push(open.close(at + 1, op.marker === "evalEnd" ? "finalize" : "synchronize"));
      return;
    }
    // A view is never encoded, so it binds nothing.
    if (op.dispatches > 0) {
      for (const view of op.reads) open.read(real(view));
      for (const view of op.writes) open.write(real(view));
    }
    open.ops += op.dispatches;
    open.seconds += op.seconds ?? 0;
    open.assumed ||= op.assumed === true;
    const due = open.due;
    if (due !== null) buffers.push(open.close(at + 1, due));
  });
  if (!open.isEmpty) buffers.push(open.close(ops.length, "open"));
  return buffers;
}

/** What MLX encodes, at the finest grain: an operation lists for each of its dispatches what it binds. */
export type Primitive =
  | { readonly type: "op"; readonly dispatches: readonly (readonly BufferView[])[] }
  | { readonly type: "event" | "finalize" | "synchronize" };

const primitiveTypes: readonly Primitive["type"][] = ["op", "event", "finalize", "synchronize"];

/** The account of a list of primitives. */
export interface Account {
  /** The buffers that were committed, the last primitive of each at `endOp - 1`. */
  readonly commits: readonly ModelledBuffer[];
  /** What stays open; all zero when nothing does. */
  readonly open: ModelledBuffer;
}

function checkPrimitive(one: Primitive, at: number): void {
  const name = (): string => `primitives[${at}]`;
  if (typeof one !== "object" || one === null) object(one, name());
  if (one.type !== "op") {
    if (!primitiveTypes.includes(one.type)) oneOf(one.type, `${name()}.type`, primitiveTypes);
    return;
  }
  if (!Array.isArray(one.dispatches)) list(one.dispatches, `${name()}.dispatches`, "lists of { bufferId, dataSize }");
  one.dispatches.forEach((bound, i) => checkViews(bound, () => `${name()}.dispatches[${i}]`));
}

/**
 * Accounts for primitives whose dispatches are known one by one, by Metal's rule. Throws a PlannerError (`badInput`)
 * for what is no primitive, and for counts that are none.
 */
export function account(primitives: readonly Primitive[], limits: Limits): Account {
  checkLimits(limits);
  list(primitives, "primitives", "primitives").forEach(checkPrimitive);
  const open = new CommandBuffer(limits);
  const commits: ModelledBuffer[] = [];
  primitives.forEach((one, at) => {
    if (one.type === "event") return open.event();
    if (one.type !== "op") return void commits.push(open.close(at + 1, one.type));
    for (const bound of one.dispatches) {
      open.ops++;
      for (const view of bound) open.write(view);
    }
    const due = open.due;
    if (due !== null) commits.push(open.close(at + 1, due));
  });
  return { commits, open: open.close(primitives.length, "open") };
}
