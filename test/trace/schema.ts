// The trace-event format, as far as these traces use it: what each kind of event must have, and how spans must lie.
import type { TraceFile } from "../../src/trace/index.ts";

type Check = (value: unknown) => boolean;

const number: Check = (value) => typeof value === "number" && Number.isFinite(value);
const positive: Check = (value) => number(value) && (value as number) >= 0;
const whole: Check = (value) => Number.isInteger(value) && (value as number) > 0;
const text: Check = (value) => typeof value === "string" && value !== "";
const object: Check = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const numbers: Check = (value) => object(value) && Object.values(value as object).every(number);

const common: Record<string, Check> = { ph: text, name: text, pid: whole, tid: whole, ts: positive, args: object };

/** Fields of each phase. Nothing else may be there. */
const phases: Record<string, Record<string, Check>> = {
  X: { ...common, cat: text, dur: positive },
  b: { ...common, cat: text, id: text },
  e: { ...common, cat: text, id: text },
  i: { ...common, cat: text, s: (value) => value === "t" || value === "p" || value === "g" },
  C: { ...common, cat: text, args: numbers },
  M: common,
};

const metadata: Record<string, Check> = {
  process_name: (args) => text((args as { name?: unknown }).name),
  thread_name: (args) => text((args as { name?: unknown }).name),
  "mlx-ts recording": (args) => typeof (args as { fine?: unknown }).fine === "boolean",
  "mlx-ts slowest ops": (args) => Array.isArray((args as { rows?: unknown }).rows),
};

type Raw = Record<string, unknown>;

function eventProblems(event: Raw, at: number): string[] {
  const where = `event ${at} (${String(event["name"])})`;
  const fields = phases[String(event["ph"])];
  if (fields === undefined) return [`${where}: no such phase: ${String(event["ph"])}`];
  const problems: string[] = [];
  for (const [name, check] of Object.entries(fields)) {
    if (!check(event[name])) problems.push(`${where}: ${name} is ${JSON.stringify(event[name])}`);
  }
  for (const name of Object.keys(event)) if (!(name in fields)) problems.push(`${where}: has a field ${name}`);
  if (event["ph"] === "M" && metadata[String(event["name"])]?.(event["args"]) !== true) {
    problems.push(`${where}: bad metadata ${JSON.stringify(event["args"])}`);
  }
  return problems;
}

// A hundredth of a nanosecond: what a double leaves of a sum of microseconds.
const EPSILON = 1e-5;

/** On each thread, two spans lie apart or one inside of the other. */
function nestingProblems(events: readonly Raw[]): string[] {
  const problems: string[] = [];
  const threads = Map.groupBy(
    events.filter(({ ph }) => ph === "X"),
    ({ pid, tid }) => `${String(pid)}.${String(tid)}`,
  );
  for (const spans of threads.values()) {
    const sorted = spans
      .map((span) => ({
        name: span["name"],
        from: span["ts"] as number,
        to: (span["ts"] as number) + (span["dur"] as number),
      }))
      .sort((a, b) => a.from - b.from || b.to - a.to);
    const open: typeof sorted = [];
    for (const span of sorted) {
      while (open.length > 0 && open.at(-1)!.to <= span.from + EPSILON) open.pop();
      const around = open.at(-1);
      if (around !== undefined && span.to > around.to + EPSILON) {
        problems.push(`${String(span.name)} ends after ${String(around.name)}, in which it began`);
      }
      open.push(span);
    }
  }
  return problems;
}

/** Each span of a promise begins once and ends once, not before. */
function pairProblems(events: readonly Raw[]): string[] {
  const pairs = Map.groupBy(
    events.filter(({ ph }) => ph === "b" || ph === "e"),
    ({ pid, cat, id }) => `${String(pid)} ${String(cat)} ${String(id)}`,
  );
  return [...pairs].flatMap(([key, [begin, end, ...more]]) =>
    begin?.["ph"] === "b" &&
    end?.["ph"] === "e" &&
    more.length === 0 &&
    (end["ts"] as number) >= (begin["ts"] as number)
      ? []
      : [`the span ${key} does not begin and end once`],
  );
}

/** What is wrong with a trace; nothing for one that is well formed. */
export function traceProblems(trace: unknown): string[] {
  if (!object(trace)) return ["the trace is no object"];
  const { traceEvents, displayTimeUnit, otherData } = trace as Raw;
  if (!Array.isArray(traceEvents)) return ["traceEvents is no list"];
  const problems: string[] = [];
  if (displayTimeUnit !== "ms" && displayTimeUnit !== "ns")
    problems.push(`displayTimeUnit is ${String(displayTimeUnit)}`);
  if (!object(otherData)) problems.push("otherData is no object");
  const events = traceEvents as Raw[];
  const broken = events.flatMap((event, at) =>
    object(event) ? eventProblems(event, at) : [`event ${at} is no object`],
  );
  if (broken.length > 0) return [...problems, ...broken];
  const named = new Set(
    events.filter(({ name }) => name === "thread_name").map(({ pid, tid }) => `${String(pid)}.${String(tid)}`),
  );
  for (const { pid, tid } of events) {
    if (!named.has(`${String(pid)}.${String(tid)}`))
      return [...problems, `thread ${String(pid)}.${String(tid)} has no name`];
  }
  return [...problems, ...nestingProblems(events), ...pairProblems(events)];
}

/** A trace that is well formed. Throws with what is wrong. */
export function checkedTrace(trace: unknown): TraceFile {
  const problems = traceProblems(trace);
  if (problems.length > 0) throw new Error(`not a well-formed trace:\n${problems.join("\n")}`);
  return trace as TraceFile;
}

/** The same of JSON text. */
export const parsedTrace = (json: string): TraceFile => checkedTrace(JSON.parse(json));
