// The check of traces that the other tests rely on can fail.
import { expect, test } from "bun:test";
import { traceProblems } from "./schema.ts";

const thread = { ph: "M", name: "thread_name", pid: 1, tid: 1, ts: 0, args: { name: "main" } };
const span = (name: string, ts: number, dur: number, tid = 1): object => ({
  ph: "X",
  cat: "op",
  name,
  pid: 1,
  tid,
  ts,
  dur,
  args: {},
});
const end = (ph: "b" | "e", ts: number, id = "1"): object => ({
  ph,
  cat: "span",
  name: "s",
  id,
  pid: 1,
  tid: 1,
  ts,
  args: {},
});
const trace = (...events: object[]): object => ({
  traceEvents: [thread, ...events],
  displayTimeUnit: "ms",
  otherData: {},
});

test("spans that nest or lie apart are well formed", () => {
  expect(
    traceProblems(trace(span("a", 0, 10), span("b", 0, 5), span("c", 5, 5), span("d", 6, 1), span("e", 20, 0))),
  ).toEqual([]);
  expect(traceProblems(trace(end("b", 1), end("b", 2, "2"), end("e", 3), end("e", 4, "2")))).toEqual([]);
});

test("what is not well formed is named", () => {
  expect(traceProblems(trace(span("a", 0, 10), span("b", 5, 10)))).toEqual(["b ends after a, in which it began"]);
  expect(traceProblems(trace(end("b", 1)))).toEqual(["the span 1 span 1 does not begin and end once"]);
  expect(traceProblems(trace(end("e", 1), end("b", 2)))).toHaveLength(1);
  expect(traceProblems(trace(end("b", 3), end("e", 2)))).toHaveLength(1);
  expect(traceProblems(trace(span("a", -1, 1)))).toEqual(["event 1 (a): ts is -1"]);
  expect(traceProblems(trace(span("a", Number.NaN, 1)))).toHaveLength(1);
  expect(traceProblems(trace({ ...span("a", 1, 1), more: 1 }))).toEqual(["event 1 (a): has a field more"]);
  expect(traceProblems(trace({ ph: "Q", name: "a", pid: 1, tid: 1, ts: 1, args: {} }))).toHaveLength(1);
  expect(traceProblems(trace({ ph: "C", cat: "c", name: "a", pid: 1, tid: 1, ts: 1, args: { x: "1" } }))).toHaveLength(
    1,
  );
  expect(traceProblems(trace(span("a", 1, 1, 2)))).toEqual(["thread 1.2 has no name"]);
  expect(traceProblems({ traceEvents: [] })).toHaveLength(2);
  expect(traceProblems([])).toEqual(["the trace is no object"]);
});
