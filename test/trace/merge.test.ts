// Recordings of one thread that overlap and share a file: each event once, whole where one of them has it whole, and
// spans that nest.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as mx from "../../src/index.ts";
import * as trace from "../../src/trace/index.ts";
import { parsedTrace } from "./schema.ts";

let folder = "";
let path = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mlx-ts-trace-"));
  path = join(folder, "t.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const begin = (limit?: number): trace.Recording => trace.record({ path, summary: false, limit });

/** Spans of the file, with whether each was cut. Throws for a file that is not well formed. */
function spans(): [name: string, open: boolean][] {
  const { traceEvents, otherData } = parsedTrace(readFileSync(path, "utf8"));
  expect(otherData.writers.reduce((sum, { count }) => sum + count, 0)).toBe(traceEvents.length);
  return traceEvents
    .filter(({ ph, cat }) => (ph === "X" && cat !== "op") || ph === "b")
    .toSorted((a, b) => a.ts - b.ts)
    .map(({ name, args }) => [name, args["open"] === true]);
}

test.each(["the inner", "the outer"])("a span that %s recording cuts is there once, and whole", (first) => {
  const outer = begin();
  const inner = begin();
  const [early, late] = first === "the inner" ? [inner, outer] : [outer, inner];
  trace.span("step", () => {
    trace.span("half", () => early.dispose());
    mx.tidy(() => mx.eval(mx.add(1, 1)));
  });
  late.dispose();
  expect(spans()).toEqual([
    ["step", false],
    ["half", false],
    ["eval", false],
  ]);
  early.write();
  expect(spans()).toHaveLength(3);
});

test("a span of a promise that one recording cuts has one end", async () => {
  const outer = begin();
  const inner = begin();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const long = trace.span("long", () => promise);
  inner.dispose();
  expect(spans()).toEqual([["long", true]]);
  resolve(undefined);
  await long;
  outer.write();
  expect(spans()).toEqual([["long", false]]);
  inner.write();
  outer.dispose();
  expect(spans()).toEqual([["long", false]]);
});

test("a span that is cut lasts as long as what the other recording saw inside of it", () => {
  let second: trace.Recording;
  const first = begin();
  trace.span("around", () => {
    second = begin();
    trace.span("inside", () => {
      first.dispose();
      mx.add(1, 1).dispose();
    });
    second.dispose();
  });
  expect(spans()).toEqual([
    ["around", true],
    ["inside", false],
  ]);
});

test("what a writer has no more is gone with both of its ends", async () => {
  const outer = begin(2);
  const inner = begin();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const long = trace.span("long", () => promise);
  outer.write();
  inner.dispose();
  resolve(undefined);
  await long;
  outer.write();
  for (let i = 0; i < 3; i++) trace.mark("m");
  outer.dispose();
  expect(spans()).toEqual([]);
});
