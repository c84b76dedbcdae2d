// The generated table against the names that the built library exports.

import { beforeAll, expect, test } from "bun:test";
import { exclusion, missingOn } from "../../codegen/emit-symbols.ts";
import type { Api } from "../../codegen/ir.ts";
import { shimSymbols } from "../../generated/shim-symbols.ts";
import { optionalSymbols, symbols } from "../../generated/symbols.ts";
import { run } from "../../native/tools.ts";
import { locateLibrary } from "../../src/backend/locate.ts";
import { realApi } from "./api.ts";

const platform = `${process.platform}-${process.arch}`;
let api: Api;
let exported: string[];

/** The functions in a library's dynamic symbol table whose names fit a pattern. */
async function exportedNames(library: string, pattern: RegExp): Promise<string[]> {
  const isMac = process.platform === "darwin";
  const text = await run("Reading the library's symbols", [
    "nm",
    ...(isMac ? ["-gU"] : ["-D", "--defined-only"]),
    library,
  ]);
  const names = text.split("\n").map((line) => /^[0-9a-f]+ T (\S+)$/.exec(line)?.[1] ?? "");
  // Mach-O puts an underscore before every C name.
  const plain = isMac ? names.map((name) => name.replace(/^_/, "")) : names;
  return plain.filter((name) => pattern.test(name)).sort();
}

beforeAll(async () => {
  api = await realApi();
  exported = await exportedNames(locateLibrary().mlxc, /^_?mlx_/);
}, 120_000);

test("the library exports what the headers declare for this platform, no more and no less", () => {
  const declared = api.functions.filter((fn) => !missingOn(api, fn).includes(platform)).map((fn) => fn.name);
  expect(exported).toEqual(declared.sort());
  expect(exported.length).toBe(process.arch === "x64" ? 670 : 674);
});

test("the table is what the library exports, but for the excluded and the optional ones", () => {
  const optional: readonly string[] = optionalSymbols;
  const excluded = api.functions.filter((fn) => exclusion(fn) !== null).map((fn) => fn.name);
  const names = Object.keys(symbols);
  expect(names.filter((name) => !exported.includes(name) && !optional.includes(name))).toEqual([]);
  expect(exported.filter((name) => !names.includes(name))).toEqual(excluded.sort());
  expect(names.length + excluded.length).toBe(api.functions.length);
});

test("the shim's table is what the shim exports", async () => {
  const names = await exportedNames(locateLibrary().shim, /^mlxts_/);
  expect(names.length).toBeGreaterThan(40);
  expect(Object.keys(shimSymbols).sort()).toEqual(names);
});

test("the optional names are in the table, and missing exactly where the headers' conditions fail", () => {
  const missing = api.functions.filter((fn) => missingOn(api, fn).includes(platform)).map((fn) => fn.name);
  for (const name of optionalSymbols) {
    expect(Object.keys(symbols)).toContain(name);
    expect(exported.includes(name)).toBe(!missing.includes(name));
  }
});
