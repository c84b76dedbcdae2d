// What a module exports as values, read from the sources: the generator must not run what it is about to write.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const transpiler = new Bun.Transpiler({ loader: "ts" });

/** Names of values, and those of namespaces (`export * as linalg from`) with what they hold: "linalg", "linalg.norm". */
export function exportedNames(file: string): Set<string> {
  const source = readFileSync(file, "utf8");
  const names = new Set(transpiler.scan(source).exports);
  for (const [, space, target] of source.matchAll(/^export \* (?:as (\w+) )?from "([^"]+)";$/gm)) {
    for (const name of exportedNames(join(dirname(file), target as string))) {
      names.add(space === undefined ? name : `${space}.${name}`);
    }
    if (space !== undefined) names.add(space);
  }
  return names;
}

/** Names of types that a module exports, `export { type A, B as C }` and `export interface D` alike. */
export function exportedTypes(file: string): Set<string> {
  const source = readFileSync(file, "utf8");
  const names = new Set<string>();
  for (const [, head, list] of source.matchAll(/^export (type )?\{([^}]*)\}/gm)) {
    for (const part of (list as string).split(",").map((text) => text.trim())) {
      if (head !== undefined || part.startsWith("type ")) names.add((part.split(/\s+/).at(-1) as string).trim());
    }
  }
  for (const [, target] of source.matchAll(/^export \* from "([^"]+)";$/gm)) {
    for (const name of exportedTypes(join(dirname(file), target as string))) names.add(name);
  }
  return names;
}
