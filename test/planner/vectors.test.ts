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
  for (const none of ["{}", "null", "5", "[]", '{"vectors":[]}', '{"vectors":"all"}'])
    expect(() => runFile(none)).toThrow("vectors");
  expect(() => runFile("")).toThrow();
});

test("what has not the shape of a vector fails, and the others are still run", () => {
  const good = { name: "causalPairs/good", inputs: { r0: 0, r1: 4 }, expected: { pairs: 10 } };
  const { name, inputs, expected } = good;
  const broken = [null, 5, "causalPairs/text", [], {}, { name }, { name, inputs }, { name, expected }];
  const shapes = [null, [10], "10", 10].map((wrong) => ({ name, inputs, expected: wrong }));
  const noInputs = [null, [], "0-4"].map((wrong) => ({ name, inputs: wrong, expected }));
  const vectors = [...broken, ...shapes, ...noInputs, good];
  const outcome = runFile(JSON.stringify({ vectors }));
  expect(outcome.failed).toHaveLength(vectors.length - 1);
  expect(outcome.passed).toEqual([good.name]);
});

test("other vectors of the form: long graphs, many ranges in a buffer, a commit after each range", () => {
  const one = { n: 64, d: 8, b: 1, hq: 1, hkv: 1 };
  const plan = { ...one, kind: "fwd", rate: 2e4, causal: true, blockAlign: 1, budgetSeconds: 0.5 };
  const packed = { ...plan, commitOps: 1, commitElements: 51 * 2 ** 20 };
  const vectors = [
    {
      name: "cuda/long",
      inputs: { inputElementsPerDispatch: 5, maxOps: 2000, maxMb: 100 },
      expected: { dispatchesInGraph: 2001 },
    },
    {
      name: "fwd/many",
      inputs: { ...one, rowsPerRange: 1, maxMb: 0 },
      expected: { dispatchesInBuffer: Math.ceil((2 ** 20 - 3 * 64 * 8) / 9) },
    },
    // 625 of 2,080 pairs a buffer. With a limit that no range reaches they would have to share one.
    { name: "plan/each", inputs: packed, expected: { count: 4, first: [0, 34] } },
    {
      name: "plan/fractional",
      inputs: { ...packed, commitElements: 5 },
      expected: { count: 4 },
    },
  ];
  const { passed, failed } = runFile(JSON.stringify({ vectors }));
  expect(failed.map((one) => [one.name, one.problem])).toEqual([
    ["plan/fractional", expect.stringContaining("no whole units")],
  ]);
  expect(passed).toHaveLength(3);
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
