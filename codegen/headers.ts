// The mlx-c headers on disk: found, hashed, and dated by the version that mlx-c's own build gives itself.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fetchCrate, unpackCrate } from "../native/fetch.ts";
import { hostPlatform, recipes } from "../native/recipes.ts";
import { findTools } from "../native/tools.ts";
import { cached } from "./cache.ts";
import type { HeaderFile, HeaderSet } from "./ir.ts";

/** Reads the headers of an mlx-c source folder (the one with CMakeLists.txt and mlx/c). */
export function readHeaders(mlxc: string): HeaderSet {
  const folder = join(mlxc, "mlx", "c");
  const names = readdirSync(folder)
    .filter((name) => name.endsWith(".h"))
    .sort();
  const files = names.map((name): HeaderFile => ({ name, text: readFileSync(join(folder, name), "utf8") }));
  if (files.length === 0) throw new Error(`${folder} holds no headers`);
  const cmake = readFileSync(join(mlxc, "CMakeLists.txt"), "utf8");
  const version = /set\(MLX_C_VERSION (\d+\.\d+\.\d+)\)/.exec(cmake)?.[1];
  if (version === undefined) throw new Error(`${join(mlxc, "CMakeLists.txt")} does not say MLX_C_VERSION`);
  return { version, hash: hashHeaders(files), files };
}

/** The shim's header, under the project's folder; `version` is that of the mlx-c whose types it uses. */
export function readShimHeader(root: string, version: string): HeaderSet {
  const name = "mlxts.h";
  const text = readFileSync(join(root, "native", "shim", name), "utf8");
  // The number of the shim's interface is for the version guard, which has it from the library itself.
  const files: HeaderFile[] = [{ name, text, constants: ["MLXTS_ABI"] }];
  return { version, hash: hashHeaders(files), files };
}

/** sha256 over the names and texts of all headers, in the order of their names. */
export function hashHeaders(files: readonly HeaderFile[]): string {
  const hash = createHash("sha256");
  for (const { name, text } of files) hash.update(`${name}\0${text}\0`);
  return hash.digest("hex");
}

/**
 * The folder of the mlx-c sources that the native build pins, fetched and hash-checked as it does. They are unpacked
 * apart from the build's own copy, which the build patches.
 */
export async function mlxcSources(): Promise<string> {
  const recipe = recipes[hostPlatform(process.platform, process.arch) ?? "linux-x64"];
  const { crate } = recipe;
  const name = `${crate.name}-${crate.version}`;
  const folder = await cached(`${name}-${crate.sha256.slice(0, 12)}`, async (target) => {
    const tools = await findTools(recipe);
    const cache = join(import.meta.dir, "..", "native", "build", "cache");
    await unpackCrate(await fetchCrate(crate, cache, tools), target, tools);
  });
  return join(folder, name, crate.sources);
}
