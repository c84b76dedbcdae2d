// Which native functions the public API reaches: read from the sources, never written down by hand.

import { existsSync, readdirSync, readFileSync } from "node:fs";
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

/** What a set of modules uses: native functions by name, and columns of generated/handles.ts. */
export interface Uses {
  /** Native function -> the modules that use it. */
  functions: Map<string, string[]>;
  /** `free`, `new`, ... -> the modules that look the function up for any kind: `handles[kind].free`. */
  columns: Map<string, string[]>;
}

function add(uses: Map<string, string[]>, name: string, path: string): void {
  const paths = uses.get(name) ?? [];
  if (!paths.includes(path)) paths.push(path);
  uses.set(name, paths);
}

/**
 * Reads the uses of the modules behind some entries. A use is `C.mlx_name`, or the name as a string ("mlx_name"), which
 * is how tables pick functions. The generated tables themselves are declarations and count as no use.
 */
export function findUses(root: string, entries: readonly string[]): Uses {
  const uses: Uses = { functions: new Map(), columns: new Map() };
  for (const path of reachableModules(root, entries)) {
    if (path === "generated/symbols.ts" || path === "generated/handles.ts") continue;
    const code = codeOf(root, path);
    for (const match of code.matchAll(/\bC\.(_?mlx_\w+)|"(_?mlx_\w+)"/g)) {
      add(uses.functions, match[1] ?? (match[2] as string), path);
    }
    for (const match of code.matchAll(/\bhandles\[[^\]]+\]\.(\w+)/g)) add(uses.columns, match[1] as string, path);
  }
  return uses;
}

/** Native function -> the shim's source files that call it. */
export function findShimUses(root: string): Map<string, string[]> {
  const uses = new Map<string, string[]>();
  const folder = join(root, "native", "shim");
  for (const name of readdirSync(folder)
    // The shim's own interface names functions without calling them.
    .filter((file) => /\.(?:cpp|h)$/.test(file) && file !== "mlxts.h")
    .sort()) {
    const code = readFileSync(join(folder, name), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
    for (const match of code.matchAll(/\b(_?mlx_\w+)\s*\(/g)) add(uses, match[1] as string, name);
  }
  return uses;
}
