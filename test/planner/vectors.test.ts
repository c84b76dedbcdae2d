// The vectors, through the runner that `bun run vectors` is.
import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runProcess } from "../../scripts/gate/process.ts";
import { runFile } from "../../scripts/vectors.ts";

const root = resolve(import.meta.dir, "../..");
const data = join(import.meta.dir, "data", "planner.json");
const text = readFileSync(data, "utf8");

interface File {
  vectors: { name: string; inputs: Record<string, unknown>; expected: Record<string, unknown> }[];
}

const file = (): File => JSON.parse(text) as File;

test("every vector passes, but for those that are prose or information", () => {
  const { passed, failed, skipped } = runFile(text);
  expect(failed).toEqual([]);
  expect(skipped.every((name) => /^(?:NOT-REDERIVABLE|cpu)\//.test(name))).toBe(true);
  expect(skipped).toHaveLength(3);
  expect(passed).toHaveLength(106);
});

test("every expected number is looked at: another one fails, and so does one that nothing computes", () => {
  for (const { name } of file().vectors) {
    if (/^(?:NOT-REDERIVABLE|cpu)\//.test(name)) continue;
    const changed = file();
    const vector = changed.vectors.find((one) => one.name === name)!;
    for (const [field, value] of Object.entries(vector.expected)) {
      const expected = vector.expected;
      vector.expected = { ...expected, [field]: typeof value === "number" ? value + 1 : "something else" };
      const { failed } = runFile(JSON.stringify({ vectors: [vector] }));
      expect(failed.map((one) => one.name)).toEqual([name]);
      expect(failed[0]!.problem).toContain(field);
      vector.expected = expected;
    }
    vector.expected = { unheardOf: 1 };
    expect(runFile(JSON.stringify({ vectors: [vector] })).failed).toHaveLength(1);
  }
});

test("a family that is not known, and a vector that expects nothing, fail", () => {
  const vectors = [
    { name: "unknown/one", inputs: {}, expected: { a: 1 } },
    { name: "toString/one", inputs: {}, expected: { a: 1 } },
    { name: "causalPairs/none", inputs: { r0: 0, r1: 1 }, expected: {} },
  ];
  expect(runFile(JSON.stringify({ vectors })).failed.map(({ name }) => name)).toEqual(vectors.map(({ name }) => name));
  expect(() => runFile("{}")).toThrow("vectors");
});

test("the command prints its counts, names failures, and exits accordingly", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mlx-ts-vectors-"));
  try {
    const run = (path: string): ReturnType<typeof runProcess> =>
      runProcess([process.execPath, "run", "vectors", path], { cwd: root, timeout: 60 });
    const good = await run(data);
    expect(good.code).toBe(0);
    expect(good.output).toContain("passed 106, failed 0, skipped 3");
    const other = file();
    other.vectors[0]!.expected["maxOps"] = 41;
    const bad = join(folder, "bad.json");
    writeFileSync(bad, JSON.stringify(other));
    const result = await run(bad);
    expect(result.code).toBe(1);
    expect(result.output).toContain(`FAILED ${other.vectors[0]!.name}`);
    expect(result.output).toContain("passed 105, failed 1, skipped 3");
    expect((await run(join(folder, "missing.json"))).code).toBe(2);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
