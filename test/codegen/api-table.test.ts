// docs/coverage.md: every name of Python is somewhere, exceptions are needed and true, cases and files are counted.
import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { absent, renamed } from "../../codegen/api-names.ts";
import { countCases, emitApiTable, readTests } from "../../codegen/emit-api-table.ts";
import { exportedNames, exportedTypes } from "../../codegen/public-exports.ts";
import type { PythonApi } from "../../codegen/pyi.ts";
import python from "../../codegen/python-api.json" with { type: "json" };
import file from "../../generated/coverage.json";
import * as mx from "../../src/index.ts";
import { caught, root, untyped } from "../helpers.ts";

const report = untyped<Parameters<typeof emitApiTable>[1]>(file);
const none = { cases: new Map<string, number>(), files: [] };
const withFunction = (name: string): PythonApi => {
  const api = structuredClone(untyped<PythonApi>(python));
  (api.modules["core"]!.functions as Record<string, unknown>)[name] = [{ params: [], returns: "None" }];
  return api;
};

test("the names read from the sources are those that the module has", () => {
  const names = exportedNames(join(root, "src/index.ts"));
  const there = new Set(Object.keys(mx));
  expect([...names].filter((name) => !name.includes(".") && !there.has(name))).toEqual([]);
  expect([...there].filter((name) => !names.has(name))).toEqual([]);
  for (const space of ["linalg", "fft", "random", "fast", "metal", "cuda", "distributed"] as const) {
    for (const name of Object.keys(mx[space])) expect(names.has(`${space}.${name}`)).toBe(true);
  }
  const types = exportedTypes(join(root, "src/index.ts"));
  for (const name of ["Dtype", "PrintOptions", "ArrayAt", "SumOptions"])
    expect(types.has(name)).toBe(name !== "SumOptions");
});

test("aliases, star exports and types are told apart", () => {
  const folder = mkdtempSync(join(tmpdir(), "mlx-ts-exports-"));
  try {
    mkdirSync(join(folder, "inner"));
    writeFileSync(join(folder, "inner/a.ts"), "export const one = 1;\nexport type { Two } from './b.ts';\n");
    writeFileSync(
      join(folder, "index.ts"),
      'export { x as y, type Z } from "./b.ts";\nexport * from "./inner/a.ts";\nexport * as space from "./inner/a.ts";\n',
    );
    expect([...exportedNames(join(folder, "index.ts"))].sort()).toEqual(["one", "space", "space.one", "y"]);
    expect([...exportedTypes(join(folder, "index.ts"))].sort()).toEqual(["Two", "Z"]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a name of Python that is nowhere stops the generator, and so does an exception that is none", () => {
  expect(caught(() => emitApiTable(withFunction("brand_new"), report, none, root)).message).toBe(
    "codegen/api-names.ts: brand_new of Python is nowhere; it needs a line in renamed or absent",
  );
  (absent as Record<string, string>)["add"] = "not here";
  try {
    expect(caught(() => emitApiTable(untyped(python), report, none, root)).message).toBe(
      "codegen/api-names.ts: add is here under its own name",
    );
  } finally {
    delete (absent as Record<string, string>)["add"];
  }
});

test("each exception names something that exists in Python", () => {
  const all = Object.entries(python.modules).flatMap(([module, { functions, aliases, classes, values }]) =>
    [...Object.keys(functions), ...Object.keys(aliases), ...classes, ...values].map((name) =>
      module === "core" ? name : `${module}.${name}`,
    ),
  );
  expect([...Object.keys(renamed), ...Object.keys(absent)].filter((name) => !all.includes(name))).toEqual([]);
});

test("cases count once for each name that they use", () => {
  const lines = [
    { kind: "call", fn: "mx.add" },
    { kind: "program", steps: [{ fn: "mx.add" }, { fn: "mx.add" }, { fn: "array.T" }], transform: "compile_of_grad" },
    { kind: "update", x: { $array: { dtype: "bool", shape: [1], data: [true] } } },
  ].map((one) => JSON.stringify(one));
  expect(Object.fromEntries(countCases(lines))).toEqual({
    add: 2,
    "array.T": 1,
    compile: 1,
    grad: 1,
    "array.at": 1,
    bool_: 1,
  });
});

test("the table says where a name went, and what tests it", () => {
  const tested = { cases: new Map([["abs", 7]]), files: [{ path: "core/x.test.ts", text: "mx.abs(x); y.abs()" }] };
  const text = emitApiTable(untyped(python), report, tested, root);
  expect(text).toContain("| `abs` | `mx.abs` | 7 | `core/x.test.ts` |");
  expect(text).toContain("| `array.abs` | `x.abs` |  | `core/x.test.ts` |");
  expect(text).toContain("| `from_dlpack` | — ");
  expect(text).toContain("| `Dtype` | type `mx.Dtype` |");
  expect(readTests(root).files.length).toBeGreaterThan(50);
  expect(readTests(root).cases.get("add")).toBeGreaterThan(50);
});
