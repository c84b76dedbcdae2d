/** The tracer of a thread: turns what the core's hooks tell into records, and gives them to every active recording. */

import { MxArray, shapeOf } from "../core/array.ts";
import type { Handle } from "../core/handle.ts";
import { type Details, type OpenSpan, setOpHook, setTracer, type SpanKind, type Tracer } from "../core/hooks.ts";
import { type NativeCall, unwatchCalls, watchCalls } from "./calls.ts";
import { now } from "./clock.ts";
import { readCounters } from "./counters.ts";
import { type Evaluated, evaluateFinely, isTraced, Storages } from "./fine.ts";
import { type ArrayForm, bytesOf, type Category, type Cost, type OpForm, type TraceRecord } from "./record.ts";

/** Who listens. */
export interface Sink {
  readonly start: number;
  readonly fine: boolean;
  add(record: TraceRecord): void;
  cost(cost: Cost): void;
  /** Time that recording itself has taken. */
  own(time: number): void;
}

/** A span that is still open. */
export interface Frame {
  readonly category: Category;
  readonly name: string;
  readonly start: number;
  readonly details: Details;
  /** Time of what is recorded inside. */
  inside: number;
}

const COUNTERS_EVERY = 1e6;

const sinks: Sink[] = [];
// The stack of the spans that are open, the innermost last.
const stack: Frame[] = [];
// Spans of promises, with their numbers.
const promises = new Map<Frame, number>();
let lastId = 0;
let lastCounters = 0;
const lastValues = new Map<string, string>();
let fine = false;
// Time of all primitives that fine mode has evaluated.
let computed = 0;
let storages = new Storages();
// The call that the funnel's hook has not claimed yet, and what the last one that it has gave.
let call: NativeCall | null = null;
let claimed: { outputs: ArrayForm[]; start: number } | null = null;

function emit(record: TraceRecord): void {
  for (const sink of sinks) if (record.start >= sink.start) sink.add(record);
}

function cost(start: number, cost: Cost): void {
  for (const sink of sinks) if (start >= sink.start) sink.cost(cost);
}

/** Counts the time since `since` as the recording's own, but for what primitives took meanwhile. */
function own(since: number, computedBefore: number = computed): void {
  const time = now() - since - (computed - computedBefore);
  const parent = stack.at(-1);
  if (parent !== undefined) parent.inside += time;
  for (const sink of sinks) if (since >= sink.start) sink.own(time);
}

/** Emits the counters that have changed. */
function counters(at: number): void {
  lastCounters = at;
  for (const record of readCounters(at)) {
    const values = Object.values(record.details ?? {}).join(" ");
    if (lastValues.get(record.name) === values) continue;
    lastValues.set(record.name, values);
    emit(record);
  }
}

/** A span that has ended, with all of its time its own. */
function leaf(record: TraceRecord, row: string, count: number): void {
  const parent = stack.at(-1);
  if (parent !== undefined) parent.inside += record.duration;
  emit(record);
  cost(record.start, { row, self: record.duration, count, bytes: record.op === undefined ? 0 : bytesOf(record.op) });
}

function opRecord(name: string, { start, end, inputs, stream }: NativeCall, outputs: ArrayForm[]): TraceRecord {
  const op: OpForm = { inputs, outputs, stream };
  return { shape: "span", category: "op", name, start, duration: end - start, op };
}

function onCall(next: NativeCall): void {
  // One that went past the funnel: a step of a larger operation.
  if (call !== null) leaf(opRecord(call.name, call, []), call.name, 1);
  call = next;
  claimed = null;
  own(next.end);
}

function formOf(array: MxArray, operation: string): ArrayForm {
  return { shape: shapeOf(array, operation), dtype: array.dtype, elements: array.size, bytes: array.nbytes };
}

function onOp(operation: string, result: Handle, more = false): void {
  if (!(result instanceof MxArray)) return;
  const since = now();
  const before = computed;
  const form = formOf(result, operation);
  if (more && claimed !== null) {
    claimed.outputs.push(form);
    cost(claimed.start, { row: operation, self: 0, count: 0, bytes: form.bytes });
  } else {
    const unseen = { name: operation, start: since, end: since, inputs: [], stream: "" };
    const record = opRecord(operation, call ?? unseen, [form]);
    call = null;
    claimed = { outputs: record.op!.outputs, start: record.start };
    leaf(record, operation, 1);
  }
  if (fine) computeResult(operation, result);
  const at = now();
  if (at - lastCounters >= COUNTERS_EVERY) counters(at);
  own(since, before);
}

function computeResult(operation: string, result: MxArray): void {
  try {
    compute(result, operation, operation, 0);
  } catch (error) {
    // The caller gets the error, and never the array.
    result.dispose();
    throw error;
  }
}

/** Fine mode: evaluates what an array waits for. `row` is where its time counts; null for rows of the primitives. */
function compute(array: Handle, operation: string, row: string | null, count: number): void {
  if (isTraced(array)) return;
  // Neither the evaluations nor what they count are the program's.
  setTracer(null);
  try {
    evaluateFinely(array, operation, storages, (one) => {
      computed += one.duration;
      leaf(primitiveRecord(one, operation), row ?? `${operation}: ${one.name}`, count);
    });
  } finally {
    setTracer(tracer);
  }
}

function primitiveRecord(
  { name, start, duration, inputs, outputs, sample }: Evaluated,
  operation: string,
): TraceRecord {
  const op: OpForm = { inputs, outputs: [...outputs], stream: "" };
  return { shape: "span", category: "primitive", name, start, duration, details: { operation }, op, sample };
}

function flushCall(): void {
  if (call === null) return;
  const done = call;
  call = null;
  claimed = null;
  leaf(opRecord(done.name, done, []), done.name, 1);
}

/** A span that may turn out to last as long as a promise. */
export interface Span extends OpenSpan {
  /** From now on it ends whatever else has begun or ended meanwhile. */
  detach(): void;
}

/** Opens a span on this thread's stack. What is opened inside must end before it. */
export function open(category: Category, name: string, details: Details = {}): Span {
  flushCall();
  const frame: Frame = { category, name, start: now(), details, inside: 0 };
  stack.push(frame);
  return {
    end(more?: Details): void {
      if (more !== undefined) Object.assign(details, more);
      if (promises.has(frame)) closePromise(frame);
      else if (unstack(frame)) close(frame, now());
    },
    detach(): void {
      if (unstack(frame)) promises.set(frame, ++lastId);
    },
  };
}

/** Takes a span off the stack, and what was left open inside. */
function unstack(frame: Frame): boolean {
  const at = stack.lastIndexOf(frame);
  if (at < 0) return false;
  flushCall();
  stack.length = at;
  return true;
}

function close({ category, name, start, details, inside }: Frame, end: number): void {
  const duration = end - start;
  const parent = stack.at(-1);
  if (parent !== undefined) parent.inside += duration;
  emit({ shape: "span", category, name, start, duration, details });
  if (category !== "span") {
    const row = name === category || category === "io" ? name : `${category}: ${name}`;
    cost(start, { row, self: Math.max(0, duration - inside), count: 1, bytes: Number(details["bytes"] ?? 0) });
  }
  if (category === "closure" || sinks.length === 0) return;
  counters(end);
  own(end);
}

function closePromise(frame: Frame): void {
  const { name, start, details } = frame;
  const id = promises.get(frame);
  promises.delete(frame);
  const end = now();
  emit({ shape: "async", category: "span", name, start, duration: end - start, details, id });
  if (sinks.length > 0) counters(end);
}

export function mark(name: string, details: Details = {}): void {
  emit({ shape: "mark", category: "mark", name, start: now(), duration: 0, details });
}

/** Spans that have begun and not ended, as if they ended now. */
export function openSpans(): TraceRecord[] {
  const end = now();
  const record = ({ category, name, start, details }: Frame, id?: number): TraceRecord => ({
    shape: id === undefined ? "span" : "async",
    ...{ category, name, start, duration: end - start, details: { ...details, open: true }, id },
  });
  return [...stack.map((frame) => record(frame)), ...[...promises].map(([frame, id]) => record(frame, id))];
}

const tracer: Tracer = {
  begin: (kind: SpanKind, name: string, details?: Details) => open(kind, name, details),
  made(operation, arrays) {
    if (!fine) return;
    const since = now();
    const before = computed;
    try {
      for (const array of arrays) compute(array, operation, null, 1);
    } catch (error) {
      // The caller gets the error, and none of the arrays.
      for (const array of arrays) array.dispose();
      throw error;
    }
    own(since, before);
  },
};

export const active = (): boolean => sinks.length > 0;

function refresh(): void {
  fine = sinks.some((sink) => sink.fine);
  if (!fine) storages = new Storages();
}

/** Begins to give records to a sink. */
export function connect(sink: Sink): void {
  flushCall();
  sinks.push(sink);
  refresh();
  // The new one has to see them all.
  lastValues.clear();
  counters(now());
  if (sinks.length > 1) return;
  setTracer(tracer);
  setOpHook(onOp);
  watchCalls(onCall);
}

/** Ends that. After the last sink nothing of the tracer is left in the core. */
export function disconnect(sink: Sink): void {
  const at = sinks.indexOf(sink);
  if (at < 0) return;
  flushCall();
  counters(now());
  sinks.splice(at, 1);
  refresh();
  if (sinks.length > 0) return;
  unwatchCalls();
  setOpHook(null);
  setTracer(null);
  claimed = null;
  // A later recording leaves out what began before it, and a promise may never end.
  promises.clear();
}
