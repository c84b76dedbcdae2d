/** Records in Chrome's trace-event format, which Perfetto and chrome://tracing open. */

import { loadedLibrary } from "../core/native.ts";
import { versions } from "../core/versions.ts";
import { formText } from "./arrays.ts";
import { epoch, pid, processName, threadName, tid } from "./clock.ts";
import { type OpForm, type TraceRecord } from "./record.ts";
import type { Slowest } from "./slowest.ts";

/** One event. Times are microseconds from the file's `baseUs`. */
export interface TraceEvent {
  /** X a span, b and e the ends of a promise's span, i a mark, C a counter, M metadata. */
  ph: "X" | "b" | "e" | "i" | "C" | "M";
  name: string;
  cat?: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  id?: string;
  /** Scope of a mark: its thread. */
  s?: "t";
  args: Record<string, unknown>;
}

export interface WriterMark {
  /** Process, thread and number of a recording. */
  readonly id: string;
  /** Where its events stand in `traceEvents`, one behind the other. */
  readonly from: number;
  readonly count: number;
}

export interface TraceFile {
  traceEvents: TraceEvent[];
  displayTimeUnit: "ms";
  otherData: {
    format: "mlx-ts trace";
    /** The program run that the writers belong to: a process and its children. */
    session: string;
    /** Microseconds since 1970 at ts 0. */
    baseUs: number;
    writers: WriterMark[];
  };
}

/** What a recording says of itself. */
export interface RecordingInfo {
  readonly fine: boolean;
  readonly limit: number;
  /** Events that had to go because newer ones came. */
  readonly dropped: number;
  readonly slowest: Slowest;
}

export const fineWarning =
  "fine mode: every operation was evaluated alone, which takes laziness, fusion and reuse of buffers away; relative costs hold, the total does not";

function opArgs({ outputs, inputs, stream }: OpForm): Record<string, unknown> {
  const [first] = outputs;
  return {
    ...(first === undefined ? {} : first),
    ...(outputs.length > 1 ? { outputs: outputs.map(formText) } : {}),
    inputs: inputs.map(formText),
    ...(stream === "" ? {} : { stream }),
  };
}

function argsOf({ details, op, sample }: TraceRecord): Record<string, unknown> {
  return { ...details, ...(op === undefined ? {} : opArgs(op)), ...sample };
}

function eventsOf(record: TraceRecord, offset: number): TraceEvent[] {
  const { shape, category: cat, name, start, duration } = record;
  // Whole nanoseconds until the last division: spans nest exactly.
  const ts = (offset + start) / 1000;
  const args = argsOf(record);
  if (shape === "span") return [{ ph: "X", cat, name, pid, tid, ts, dur: duration / 1000, args }];
  if (shape === "mark") return [{ ph: "i", s: "t", cat, name, pid, tid, ts, args }];
  if (shape === "counter") return [{ ph: "C", cat, name, pid, tid, ts, args }];
  const id = `${pid}.${tid}.${record.id}`;
  return [
    { ph: "b", cat, name, id, pid, tid, ts, args },
    { ph: "e", cat, name, id, pid, tid, ts: (offset + start + duration) / 1000, args: {} },
  ];
}

function metadata(name: string, args: Record<string, unknown>): TraceEvent {
  return { ph: "M", name, pid, tid, ts: 0, args };
}

/** The events of one recording. `baseUs` is where the file's time begins. */
export function toEvents(records: readonly TraceRecord[], info: RecordingInfo, baseUs: number): TraceEvent[] {
  const offset = Math.round((epoch - baseUs) * 1000);
  const { fine, limit, dropped, slowest } = info;
  const library = loadedLibrary() === null ? {} : { ...versions() };
  const events = records.flatMap((record) => eventsOf(record, offset));
  return [
    metadata("process_name", { name: processName() }),
    metadata("thread_name", { name: threadName }),
    metadata("mlx-ts recording", {
      ...{ fine, limit, dropped, bun: Bun.version, ...library },
      ...(fine ? { warning: fineWarning } : {}),
    }),
    metadata("mlx-ts slowest ops", { ...slowest }),
    ...events.toSorted((a, b) => a.ts - b.ts || (b.dur ?? 0) - (a.dur ?? 0)),
  ];
}
