import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCases } from "./format.ts";
import { formatReport, makeReport, ofArrayLanguage } from "./report.ts";
import { nameOf, runParity, select } from "./runner.ts";

const folder = mkdtempSync(join(tmpdir(), "mlx-ts-parity-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const child = join(import.meta.dir, "fixtures/child.ts");

function write(name: string, cases: object[], promised = cases.length): string {
  const file = join(folder, name);
  const header = { mlx: "0.32.2", format: 1, set: "test", cases: promised };
  const text = [header, ...cases].map((value) => JSON.stringify(value)).join("\n");
  writeFileSync(file, name.endsWith(".gz") ? Bun.gzipSync(new TextEncoder().encode(text)) : text);
  return file;
}

const call = (id: string, fn = "mx.abs"): object => ({ id, kind: "call", fn, args: [], expect: 1 });

test("a crash, a hang and an early exit cost one case each, and the rest still runs", async () => {
  const ids = ["passed/1", "failed/crash", "passed/2", "failed/hang", "unsupported/1", "failed/quit", "passed/3"];
  const file = write(
    "crash.jsonl.gz",
    ids.map((id) => call(id)),
  );
  const run = await runParity(file, { child, caseTimeout: 2 });
  const report = makeReport(run);
  expect(report.total).toEqual({ passed: 3, failed: 3, unsupported: 1, cases: 7, rate: 3 / 7 });
  const message = (id: string): string => run.results.find((result) => result.id === id)?.message ?? "";
  expect(run.results.map(({ id }) => id)).toEqual(ids);
  expect(message("failed/crash")).toContain("crashed with SIGSEGV");
  expect(message("failed/hang")).toContain("stood still for 2 s");
  expect(message("failed/quit")).toContain("in this case");
});

test("a child that runs nothing is an error, not an endless loop", async () => {
  const file = write("nothing.jsonl", [call("passed/1")]);
  const missing = join(folder, "no-such-child.ts");
  await expect(runParity(file, { child: missing, caseTimeout: 5 })).rejects.toThrow("the process that runs the cases");
});

describe("reading", () => {
  test("plain and compressed files, integral floats keep their type", async () => {
    const file = write("plain.jsonl", [call("a")]);
    const text = await Bun.file(file).text();
    writeFileSync(file, text.replace('"args":[]', '"args":[2,2.0,1e5,2.5,-3]'));
    const { cases } = await readCases(file);
    expect(cases[0]?.args as unknown[]).toEqual([2, { value: 2 }, { value: 100000 }, 2.5, -3]);
  });

  test("a file cut short, another format and repeated ids are refused", async () => {
    await expect(readCases(write("short.jsonl", [call("a")], 2))).rejects.toThrow("promises 2 cases, the file has 1");
    await expect(readCases(write("twice.jsonl", [call("a"), call("a")]))).rejects.toThrow("not unique");
    const file = write("format.jsonl", [call("a")]);
    writeFileSync(file, (await Bun.file(file).text()).replace('"format":1', '"format":2'));
    await expect(readCases(file)).rejects.toThrow("format 2 is not known");
  });
});

test("selection by kind and by the beginning of a name", () => {
  const cases = [
    { id: "1", kind: "call", fn: "mx.sum" },
    { id: "2", kind: "error", form: "index" },
    { id: "3", kind: "nn", layer: "Linear" },
    { id: "4", kind: "init", name: "normal" },
    { id: "5", kind: "optimizer", name: "Adam" },
  ];
  expect(cases.map(nameOf)).toEqual(["mx.sum", "index", "nn.Linear", "nn.init.normal", "optimizers.Adam"]);
  expect(select(cases, { kinds: ["error"] }).map(({ id }) => id)).toEqual(["2"]);
  expect(select(cases, { names: ["nn.", "mx.s"] }).map(({ id }) => id)).toEqual(["1", "3", "4"]);
  expect(select(cases, { part: [1, 2] }).map(({ id }) => id)).toEqual(["2", "4"]);
  expect(select(cases, { names: ["nn."], part: [0, 2] }).map(({ id }) => id)).toEqual(["3"]);
});

test("the report counts unsupported cases against the rate and lists what failed", () => {
  const cases = [
    { id: "a", kind: "call", fn: "mx.sum" },
    { id: "b", kind: "call", fn: "mx.sum" },
    { id: "c", kind: "error", form: "call", fn: "array.sum" },
    { id: "d", kind: "call", fn: "nn.relu" },
  ];
  const header = { mlx: "0.32.2", format: 1, set: "s", cases: 4 };
  const report = makeReport({
    header,
    cases,
    results: [
      { id: "a", status: "passed", message: "" },
      { id: "b", status: "failed", message: "result: expected 1, got 2" },
      { id: "c", status: "unsupported", message: "no" },
      { id: "d", status: "passed", message: "", leaked: 2 },
    ],
  });
  expect(report.names["mx.sum"]).toEqual({ passed: 1, failed: 1, unsupported: 0 });
  expect(report.total.rate).toBe(0.5);
  expect(ofArrayLanguage(report).map(({ id }) => id)).toEqual(["a", "b", "c"]);
  const text = formatReport(report);
  expect(text).toContain("b: result: expected 1, got 2");
  expect(text).toContain("1 of 3 passed (33.33 %)");
  expect(text).toMatch(/left handles behind:\n {2}d: 2/);
  expect(text.endsWith("2 passed, 1 failed, 1 unsupported")).toBe(true);
});
