// `mlx-ts doctor` and what else the command line says.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ProcessResult, runProcess } from "../scripts/gate/process.ts";
import type { Finding } from "../src/doctor.ts";
import { root } from "./helpers.ts";

const version = (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }).version;

function cli(args: readonly string[], env: Record<string, string | undefined> = {}): Promise<ProcessResult> {
  return runProcess([process.execPath, join(root, "src/cli.ts"), ...args], {
    cwd: root,
    timeout: 60,
    env: { NO_COLOR: "1", ...env },
  });
}

const names = ["runtime", "library", "versions", "device", "blas", "memory", "native calls", "computing"];

describe("doctor", () => {
  test("finds nothing wrong where everything works", async () => {
    const { code, output } = await cli(["doctor"]);
    expect(code).toBe(0);
    const lines = output.trimEnd().split("\n");
    expect(lines.slice(0, -2).map((line) => line.slice(0, 20).trimEnd())).toEqual(
      names.map((name) => `ok      ${name}`),
    );
    expect(lines.at(-1)).toBe("Everything works.");
    expect(lines[0]).toContain(`mlx-ts ${version}, Bun ${Bun.version}, ${process.platform}-${process.arch}`);
    expect(output).toMatch(/MLX \d+\.\d+\.\d+, mlx-c \d+\.\d+\.\d+/);
    expect(output).toMatch(/thread\(s\); \d+ core\(s\)/);
  });

  test("--json gives the findings as data", async () => {
    const { code, output } = await cli(["doctor", "--json"]);
    expect(code).toBe(0);
    const findings = JSON.parse(output) as Finding[];
    expect(findings.map(({ name }) => name)).toEqual(names);
    expect(findings.every(({ ok, detail }) => ok && detail.length > 0)).toBe(true);
  });

  test("without the library: what is wrong, once, and exit code 1", async () => {
    const { code, output } = await cli(["doctor"], { MLX_TS_LIBRARY: "no/such/folder" });
    expect(code).toBe(1);
    expect(output).toContain("ok      runtime");
    expect(output).toContain(
      "PROBLEM library       MLX_TS_LIBRARY is set to no/such/folder, but there is no such file or folder.",
    );
    expect(output.split("is set to no/such/folder")).toHaveLength(2);
    expect(output).toContain("PROBLEM computing     not examined: it needs the library");
    expect(output.trimEnd()).toEndWith("7 problem(s), see above.");
    const { code: json, output: text } = await cli(["doctor", "--json"], { MLX_TS_LIBRARY: "no/such/folder" });
    expect(json).toBe(1);
    expect((JSON.parse(text) as Finding[]).map(({ ok }) => ok)).toEqual(names.map((name) => name === "runtime"));
  });

  test("shows the settings that are in force", async () => {
    const { code, output } = await cli(["doctor"], { MLX_TS_BLAS_THREADS: "1", MLX_TS_MEMORY_BUDGET: "3G" });
    expect(code).toBe(0);
    expect(output).toContain(", 1 thread(s); ");
    expect(output).toContain("collected past 3.0 GiB");
  });

  test("names a setting that is wrong", async () => {
    const threads = await cli(["doctor"], { MLX_TS_BLAS_THREADS: "many" });
    expect(threads.code).toBe(1);
    expect(threads.output).toContain('MLX_TS_BLAS_THREADS is "many": give a positive number of threads.');
    const budget = await cli(["doctor"], { MLX_TS_MEMORY_BUDGET: "much" });
    expect(budget.code).toBe(1);
    expect(budget.output).toContain('PROBLEM memory        array: MLX_TS_MEMORY_BUDGET is "much"');
  });
});

describe("usage", () => {
  test.each(["--help", "-h", "help"])("%s", async (argument) => {
    const { code, output } = await cli([argument]);
    expect(code).toBe(0);
    expect(output).toStartWith("usage: mlx-ts doctor [--json]\n");
  });

  test("nothing asked for", async () => {
    const { code, output } = await cli([]);
    expect(code).toBe(2);
    expect(output).toStartWith("usage: ");
  });

  test.each(["doktor", "doctor --jsn", "doctor extra", "--version x"])("unknown: %s", async (line) => {
    const { code, output } = await cli(line.split(" "));
    expect(code).toBe(2);
    expect(output).toStartWith(`mlx-ts: unknown arguments "${line}"`);
    expect(output).toContain("usage: mlx-ts doctor");
  });
});
