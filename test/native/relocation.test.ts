// The folder works wherever it lies, also when LD_LIBRARY_PATH points at libraries of the same names.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { buildNative } from "../../native/build.ts";
import { runProcess } from "../../scripts/gate/process.ts";

let root = "";
let moved = "";
let hostile = "";

/** A second name for the file where the file system allows it: the libraries are 42 MB. */
function duplicate(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

beforeAll(async () => {
  const lib = join(await buildNative(), "lib");
  root = mkdtempSync(join(tmpdir(), "mlx-ts-moved-"));
  moved = join(root, "some where else");
  hostile = join(root, "hostile");
  mkdirSync(moved);
  mkdirSync(hostile);
  for (const name of readdirSync(lib)) {
    duplicate(join(lib, name), join(moved, name));
    writeFileSync(join(hostile, name), "not a library");
  }
}, 300_000);

afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

test("a moved folder loads and computes, whatever LD_LIBRARY_PATH says", async () => {
  const child = join(import.meta.dir, "fixtures/relocated.ts");
  const { code, output } = await runProcess([process.execPath, child], {
    cwd: root,
    timeout: 60,
    env: { MLX_TS_LIBRARY: moved, LD_LIBRARY_PATH: hostile, DYLD_LIBRARY_PATH: hostile },
  });
  expect(output).not.toContain("rror");
  expect(code).toBe(0);
  const report = JSON.parse(output) as {
    folder: string;
    source: string;
    product: number[][];
    inverse: number[][];
    blas: string;
    mapped: string[];
  };
  expect(report.source).toBe("env");
  expect(report.folder).toBe(moved);
  expect(report.product).toEqual([
    [5, 5],
    [5, 10],
  ]);
  const expected = [0.6, -0.2, -0.2, 0.4];
  for (const [index, value] of report.inverse.flat().entries()) expect(value).toBeCloseTo(expected[index] ?? 0, 6);
  if (process.platform === "linux") {
    expect(report.blas).toStartWith("OpenBLAS");
    expect(report.mapped.map((path) => basename(path)).sort()).toEqual(readdirSync(moved).sort());
    expect([...new Set(report.mapped.map((path) => dirname(path)))]).toEqual([moved]);
  }
});
