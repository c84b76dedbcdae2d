/** A recording: what happens between its start and its end. */

import { resolve } from "node:path";
import { describe } from "../core/describe.ts";
import { checkOptions } from "../core/options.ts";
import { emptyTrace, writeTrace } from "./file.ts";
import { fineWarning, toEvents, type TraceEvent, type TraceFile } from "./chrome.ts";
import { epoch, now, pid, tid } from "./clock.ts";
import { atExit, nextNumber, notAtExit } from "./exit.ts";
import { type RecordedOp, type RecordedStep, recordedOps, recordedSteps } from "./ops.ts";
import type { Cost, TraceRecord } from "./record.ts";
import { Ring } from "./ring.ts";
import { say } from "./say.ts";
import { Costs, type Slowest, slowestText } from "./slowest.ts";
import { connect, disconnect, openSpans, type Sink } from "./tracer.ts";

export interface RecordOptions {
  /** File to write when the recording ends. Default: none, the events stay in memory. */
  path?: string | undefined;
  /** Evaluate and time every operation alone. Default: false. */
  fine?: boolean | undefined;
  /** How many events are kept, the newest. Default: 100,000. */
  limit?: number | undefined;
  /** Write the slowest operations to stderr at the end. Default: true where there is a path. */
  summary?: boolean | undefined;
}

// Once is enough for programs that record every step.
let warned = false;

/** Events of this thread from its start to its end. Made by `record`. */
export class Recording implements Disposable {
  readonly path: string | null;
  readonly fine: boolean;
  readonly limit: number;
  readonly #summary: boolean;
  readonly #ring: Ring<TraceRecord>;
  readonly #costs = new Costs();
  readonly #start: number = now();
  readonly #id = `${pid}.${tid}.${nextNumber()}`;
  readonly #sink: Sink;
  readonly #end: (() => void) | null;
  #stopped: number | null = null;

  /** @internal */
  constructor({ path, fine = false, limit = 100_000, summary = path !== undefined }: RecordOptions) {
    // The working folder may be another one at the end.
    this.path = path === undefined ? null : resolve(path);
    this.fine = fine;
    this.limit = limit;
    this.#summary = summary;
    this.#ring = new Ring(limit);
    this.#sink = {
      start: this.#start,
      fine,
      add: (record: TraceRecord) => this.#ring.push(record),
      cost: (cost: Cost) => this.#costs.add(cost),
      own: (time: number) => this.#costs.own(time),
    };
    // At once, empty: a path that cannot be written is an error now, and whoever looks meanwhile finds a valid file.
    if (this.path !== null) this.write();
    this.#end = this.path === null ? null : () => this.#endAtExit();
    if (this.#end !== null) atExit(this.#end);
    connect(this.#sink);
    if (fine && !warned) say(`mlx-ts trace: ${fineWarning.replace("was evaluated", "is evaluated")}.\n`);
    warned ||= fine;
  }

  /** Events kept now. */
  get length(): number {
    return this.#ring.length;
  }

  /** Events that had to go because newer ones came. */
  get dropped(): number {
    return this.#ring.dropped;
  }

  /** Where the time went: `top` rows and one for the rest. The sum is the time in MLX and in files. */
  slowest(top = 10): Slowest {
    if (!Number.isInteger(top) || top < 1)
      throw new RangeError(`slowest: top must be a whole number from 1 on, got ${describe(top)}.`);
    return this.#costs.slowest(top, (this.#stopped ?? now()) - this.#start);
  }

  /** The operations, oldest first, as they were built. */
  ops(): RecordedOp[] {
    return recordedOps(this.#records());
  }

  /**
   * What a fine recording saw, for `simulate` of mlx-ts/planner: one step a primitive with the storages that it read and
   * wrote, and a marker where the program evaluated. Dispatches cannot be seen from outside of MLX: they are assumed to
   * be one, or none for a view. Throws a TypeError unless the recording is fine.
   */
  steps(): RecordedStep[] {
    if (!this.fine) throw new TypeError("steps: only a recording with { fine: true } knows the buffers.");
    return recordedSteps(this.#records());
  }

  /** Chrome's trace-event format, what the file holds. `JSON.stringify(recording)` opens in Perfetto. */
  toJSON(): TraceFile {
    const baseUs = Math.floor(epoch);
    const file = emptyTrace(baseUs);
    file.traceEvents = this.#events(baseUs);
    file.otherData.writers = [{ id: this.#id, from: 0, count: file.traceEvents.length }];
    return file;
  }

  /**
   * Writes what was recorded so far. Recordings, threads and child processes that write to one path share the file.
   * Default: the recording's own path. Throws an MlxError when it cannot be written, a TypeError without a path.
   */
  write(path: string | null = this.path): void {
    if (path === null) throw new TypeError("write: the recording has no path; give one.");
    writeTrace(path, this.#id, Math.floor(epoch), (baseUs) => this.#events(baseUs));
  }

  #records(): TraceRecord[] {
    const records = this.#ring.toArray();
    if (this.#stopped === null) records.push(...openSpans().filter(({ start }) => start >= this.#start));
    return records;
  }

  #events(baseUs: number): TraceEvent[] {
    const { fine, limit, dropped } = this;
    return toEvents(this.#records(), { fine, limit, dropped, slowest: this.slowest() }, baseUs);
  }

  #stop(): void {
    // Spans that surround the recording's end are cut there.
    for (const record of openSpans()) if (record.start >= this.#start) this.#ring.push(record);
    disconnect(this.#sink);
    this.#stopped = now();
    if (this.#end !== null) notAtExit(this.#end);
  }

  /** Ends the recording and writes its file. What was recorded can still be read. Idempotent. */
  dispose(): void {
    if (this.#stopped !== null) return;
    this.#stop();
    if (this.path !== null) this.write();
    if (this.#summary) say(this.#summaryText());
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  #summaryText(): string {
    const lost = this.dropped > 0 ? `; the oldest ${this.dropped} events were dropped` : "";
    const where = this.path === null ? "" : ` written to ${this.path}`;
    return `mlx-ts trace: ${this.length} events${where}${lost}. Slowest:\n${slowestText(this.slowest())}`;
  }

  #endAtExit(): void {
    try {
      this.dispose();
    } catch (error) {
      say(`mlx-ts ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
}

/**
 * Records what mlx-ts does on this thread until the result is disposed: operations as they are built, evaluations,
 * transforms, compiled functions, files, memory. Recordings may overlap and nest.
 *
 * Options: `path` of the file to write, in Chrome's trace-event format, default none; `fine`, which evaluates and times
 * every operation alone, default false; `limit`, the number of events that are kept, default 100,000; `summary`, the
 * slowest operations on stderr at the end, default true where there is a path. Throws a TypeError or RangeError for bad
 * options, an MlxError for a path that cannot be written.
 *
 * @example
 * using t = trace.record({ path: "step.json" });
 */
export function record(options: RecordOptions = {}): Recording {
  checkOptions(options, ["path", "fine", "limit", "summary"], "trace.record");
  const { path, fine, limit, summary } = options;
  if (path !== undefined && (typeof path !== "string" || path === "" || path.includes("\0"))) {
    throw new TypeError(`trace.record: path must be the name of a file, got ${describe(path)}.`);
  }
  for (const [name, flag] of [["fine", fine] as const, ["summary", summary] as const]) {
    if (flag !== undefined && typeof flag !== "boolean") {
      throw new TypeError(`trace.record: ${name} must be true or false, got ${describe(flag)}.`);
    }
  }
  if (limit !== undefined && (!Number.isSafeInteger(limit) || limit < 1)) {
    throw new RangeError(`trace.record: limit must be a whole number from 1 on, got ${describe(limit)}.`);
  }
  return new Recording(options);
}
