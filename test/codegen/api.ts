// Headers for the tests: our own small ones, and the real ones that codegen fetches.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { hashHeaders, mlxcSources, readHeaders, readShimHeader } from "../../codegen/headers.ts";
import type { Api, CFunction, HeaderFile } from "../../codegen/ir.ts";
import { parseHeaders, parseShim } from "../../codegen/parse.ts";

export const root: string = join(import.meta.dir, "..", "..");

/** A header of test/codegen/fixtures. */
export function fixture(name: string): HeaderFile {
  return { name, text: readFileSync(join(import.meta.dir, "fixtures", name), "utf8") };
}

/** The IR of headers given as text. */
export function parseFiles(...files: HeaderFile[]): Promise<Api> {
  return parseHeaders({ version: "0.0.0", hash: hashHeaders(files), files });
}

/** The IR of the real headers. */
export async function realApi(): Promise<Api> {
  return parseHeaders(readHeaders(await mlxcSources()));
}

/** The IR of the shim's header. */
export async function shimApi(): Promise<Api> {
  const mlxc = readHeaders(await mlxcSources());
  return parseShim(readShimHeader(root, mlxc.version), mlxc);
}

/** A function by name; a missing one fails the test. */
export function functionOf(api: Api, name: string): CFunction {
  const found = api.functions.find((fn) => fn.name === name);
  if (found === undefined) throw new Error(`the headers declare no ${name}`);
  return found;
}
