import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type Binding, coverage, type CoverageReport, staleReasons } from "../../codegen/emit-coverage.ts";
import { exclusion } from "../../codegen/emit-symbols.ts";
import { platforms } from "../../codegen/guards.ts";
import type { Api } from "../../codegen/ir.ts";
import { findShimUses, findUses, reachableModules } from "../../codegen/uses.ts";
import file from "../../generated/coverage.json";
import { symbols } from "../../generated/symbols.ts";
import { functionOf, realApi, root } from "./api.ts";

const sample = join(import.meta.dir, "fixtures", "uses");
const entries = ["src/index.ts", "src/llm/index.ts"];
let api: Api;
let report: CoverageReport;

beforeAll(async () => {
  api = await realApi();
  report = coverage(api, root);
}, 120_000);

test("the committed report is the computed one", () => {
  expect(file as unknown as CoverageReport).toEqual(report);
});

test("674 of 674 declared functions are accounted for, each once, on every platform", () => {
  expect(report.functions.length).toBe(674);
  expect(report.functions.map((fn) => fn.name)).toEqual(api.functions.map((fn) => fn.name));
  expect(report.functions.filter((fn) => fn.reach === "unreached").map((fn) => fn.name)).toEqual([]);
  for (const fn of report.functions) {
    expect(Object.keys(fn.platforms)).toEqual(platforms.map((platform) => platform.name));
    const needsReason = fn.reach !== "public" || Object.values(fn.platforms).some((binding) => binding !== "bound");
    expect(needsReason ? (fn.reason?.length ?? 0) > 20 : true).toBe(true);
    expect(fn.reach === "public").toBe(fn.usedBy !== undefined && fn.usedBy.length > 0);
  }
});

test("the counts are those of the rows", () => {
  const { reach, platforms: perPlatform, declared } = report.counts;
  expect(declared).toBe(report.functions.length);
  expect(Object.values(reach).reduce((sum, n) => sum + n)).toBe(declared);
  for (const [name, n] of Object.entries(reach)) {
    expect(report.functions.filter((fn) => fn.reach === name).length).toBe(n);
  }
  for (const [platform, counts] of Object.entries(perPlatform)) {
    for (const [binding, n] of Object.entries(counts)) {
      expect(report.functions.filter((fn) => fn.platforms[platform] === (binding as Binding)).length).toBe(n);
    }
  }
  expect(perPlatform["linux-x64"]).toEqual({ bound: 667, "not exported": 4, excluded: 3 });
  expect(perPlatform["darwin-arm64"]).toEqual({ bound: 671, "not exported": 0, excluded: 3 });
});

test("excluded are the variadic function and the two that take a vtable, and nothing else", () => {
  const excluded = report.functions.filter((fn) => fn.reach === "excluded").map((fn) => fn.name);
  expect(excluded).toEqual(["_mlx_error", "mlx_io_reader_new", "mlx_io_writer_new"]);
  expect(exclusion(functionOf(api, "_mlx_error"))).toContain("variable number of arguments");
  expect(Object.keys(symbols).length + excluded.length).toBe(674);
});

test("every reason for an internal function explains at least one", () => {
  expect(staleReasons(report)).toEqual([]);
});

test("modules are reached through static and lazy imports, not through types", () => {
  expect(reachableModules(sample, entries)).toEqual([
    "generated/handles.ts",
    "src/core/add.ts",
    "src/core/lazy.ts",
    "src/index.ts",
    "src/llm/index.ts",
  ]);
});

test("uses are member accesses and names in strings, in code that is reached; comments and types are none", () => {
  const { functions, columns } = findUses(sample, entries);
  expect(Object.fromEntries(functions)).toEqual({
    mlx_add: ["src/core/add.ts"],
    _mlx_hidden: ["src/core/add.ts"],
    mlx_from_a_table: ["src/core/add.ts"],
    mlx_load: ["src/llm/index.ts"],
  });
  expect(Object.fromEntries(columns)).toEqual({ free: ["src/core/add.ts"] });
  expect(Object.fromEntries(findShimUses(sample))).toEqual({ mlx_array_size: ["inspect.cpp"] });
});

test("the raw table of mlx-ts/ffi makes no function public", () => {
  const { counts } = coverage(api, root, ["src/ffi.ts"]);
  const whole = report.counts.reach.public;
  expect(counts.reach.public).toBeLessThan(whole);
  expect(coverage(api, sample, ["src/ffi.ts"]).counts.reach.public).toBe(0);
  expect(
    coverage(api, sample, entries)
      .functions.filter((fn) => fn.reach === "public")
      .map((fn) => fn.name),
  ).toEqual(["mlx_array_free", "mlx_load", "mlx_add"]);
});
