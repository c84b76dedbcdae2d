// Which native functions the public API reaches: read from the sources, never written down by hand.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** The entry points of the published package whose functions are API. mlx-ts/ffi is left out: it is the raw table. */
export const publicEntries = [
  "src/index.ts",
  "src/nn/index.ts",
  "src/optimizers/index.ts",
  "src/llm/index.ts",
  "src/onnx/index.ts",
  "src/planner/index.ts",
  "src/trace/index.ts",
] as const;

const transpiler = new Bun.Transpiler({ loader: "ts", minifyWhitespace: false });

/** The modules, by path from the root, that the entries import, directly or not, in the order of their paths. */
export function reachableModules(root: string, entries: readonly string[]): string[] {
  const seen = new Set<string>();
  const queue = entries.map((entry) => join(root, entry)).filter((path) => existsSync(path));
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const source = readFileSync(path, "utf8");
    for (const { path: imported } of transpiler.scanImports(source)) {
      const target = join(dirname(path), imported);
      if (imported.startsWith(".") && imported.endsWith(".ts") && existsSync(target)) queue.push(target);
    }
  }
  return [...seen].map((path) => relative(root, path)).sort();
}

/** A module's code without types and comments, so that a name in a comment is no use of it. */
function codeOf(root: string, path: string): string {
  return transpiler.transformSync(readFileSync(join(root, path), "utf8"));
}

/**
 * Native function -> the modules that use it. A use is `C.mlx_name`, or the name as a string ("mlx_name"), which is
 * how tables pick functions. A module that uses a column of generated/handles.ts (`.free`) uses the column's functions.
 * The tables themselves are declarations and count as no use.
 */
export function findUses(
  root: string,
  entries: readonly string[],
  handles: Readonly<Record<string, Readonly<Record<string, string | null>>>>,
): Map<string, string[]> {
  const uses = new Map<string, string[]>();
  const add = (name: string, path: string): void => {
    const paths = uses.get(name) ?? [];
    if (!paths.includes(path)) paths.push(path);
    uses.set(name, paths);
  };
  for (const path of reachableModules(root, entries)) {
    if (path === "generated/symbols.ts" || path === "generated/handles.ts") continue;
    const code = codeOf(root, path);
    for (const match of code.matchAll(/\bC\.(_?mlx_\w+)|"(_?mlx_\w+)"/g)) add(match[1] ?? (match[2] as string), path);
    if (!/from\s*"[^"]*generated\/handles\.ts"/.test(code)) continue;
    for (const functions of Object.values(handles)) {
      for (const [column, name] of Object.entries(functions)) {
        if (name !== null && code.includes(`.${column}`)) add(name, path);
      }
    }
  }
  return uses;
}
