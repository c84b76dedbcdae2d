// The live mode: Python MLX itself runs the cases, agrees with those that it computed, and disagrees with a wrong one.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pythonWithMlx } from "../../bench/python-env.ts";
import { runProcess } from "../../scripts/gate/process.ts";
import { root } from "../helpers.ts";
import { makeReport } from "./report.ts";
import { runParity } from "./runner.ts";

const cases = join(root, "test/parity/data/cases.jsonl.gz");
const child = join(import.meta.dir, "live.py");
const folder = mkdtempSync(join(tmpdir(), "mlx-ts-live-"));
let python = "";

beforeAll(() => {
  python = pythonWithMlx("stock");
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("Python agrees with every case of the file, of every kind", async () => {
  const files = join(root, "test/parity/data/files");
  const report = makeReport(await runParity(cases, { program: python, child, files }));
  expect(
    report.results.filter(({ status }) => status !== "passed").map(({ id, message }) => `${id}: ${message}`),
  ).toEqual([]);
  expect(report.total.cases).toBe(3503);
  expect(Object.keys(report.kinds)).toHaveLength(12);
}, 300_000);

test("a wrong value, dtype, shape, text and a missing error are found, and names that Python lacks", async () => {
  const array = (data: unknown[], dtype = "float32", shape = [data.length]): object => ({
    $array: { dtype, shape, data },
  });
  const abs = (id: string, expect: unknown): object => ({
    id,
    kind: "call",
    fn: "mx.abs",
    args: [array([-1, 2])],
    expect,
  });
  const list = [
    abs("right", array([1, 2])),
    abs("value", array([1, 3])),
    abs("dtype", array([1, 2], "float16")),
    abs("shape", array([1, 2], "float32", [2, 1])),
    { id: "text", kind: "print", x: array([1]), expect: "array([1])" },
    { id: "error", kind: "error", form: "call", fn: "mx.abs", args: [array([1])], expect: { error: "ValueError" } },
    { id: "crash", kind: "call", fn: "mx.core_has_no_such_thing", args: [], expect: 1 },
    {
      id: "int",
      kind: "call",
      fn: "array.item",
      args: [array(["9223372036854775807"], "int64", [])],
      expect: { $int: "9223372036854775807" },
    },
  ];
  const file = join(folder, "wrong.jsonl");
  const header = { mlx: "0.32.2", format: 1, set: "test", cases: list.length };
  writeFileSync(file, [header, ...list].map((one) => JSON.stringify(one)).join("\n"));
  const { results } = await runParity(file, { program: python, child });
  const message = Object.fromEntries(results.map((result) => [result.id, result.message]));
  expect(results.flatMap(({ id, status }) => (status === "passed" ? [id] : []))).toEqual(["right", "int"]);
  expect(message["value"]).toBe("result: element 1: expected 3.0, got 2.0");
  expect(message["dtype"]).toBe("result: expected dtype float16, got float32");
  expect(message["shape"]).toBe("result: expected shape [2, 1], got [2]");
  expect(message["text"]).toContain("array([1], dtype=float32)");
  expect(message["error"]).toBe("nothing was raised; the case says ValueError");
  expect(message["crash"]).toContain("AttributeError");
});

test("bun run parity --live PYTHON says whose answers they are", async () => {
  const command = [process.execPath, "scripts/parity.ts", cases, "--live", python, "--kinds", "print"];
  const { code, output } = await runProcess(command, { cwd: root, timeout: 60, env: { NO_COLOR: "1" } });
  expect(output).toContain("a failure is a case that Python disagrees with");
  expect(output).toContain("25 passed, 0 failed, 0 unsupported");
  expect(code).toBe(0);
}, 90_000);
