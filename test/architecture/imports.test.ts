// Imports follow the floors, and only the floors that may do so know a runtime or a pointer.
import { describe, expect, test } from "bun:test";
import { dirname } from "node:path";
import { floorOf, ownPackages } from "./floors.ts";
import { code, filesOf, type Import, importsOf, root, strip } from "./sources.ts";

const library = filesOf("src/**/*.ts", "generated/*.ts");
const imports = library.flatMap(importsOf).map((one) => ({ ...one, to: ownPackages[one.to] ?? one.to }));
const own = (one: Import): boolean => one.relative || Object.values(ownPackages).includes(one.to);

test("the library was found, and every file has a floor", () => {
  expect(library.length).toBeGreaterThan(30);
  expect(imports.length).toBeGreaterThan(100);
  expect(library.filter((file) => floorOf(file) === undefined)).toEqual([]);
});

test("imports follow the floors", () => {
  const wrong = imports.filter(own).flatMap(({ from, to, typeOnly }) => {
    const upper = floorOf(from);
    const lower = floorOf(to);
    if (upper === undefined || lower === undefined) return [`${from} imports ${to}, which has no floor`];
    if (upper === lower || upper.uses.includes(lower.name)) return [];
    if (typeOnly && upper.types?.includes(lower.name)) return [];
    return [`${from} (${upper.name}) imports ${to} (${lower.name})`];
  });
  expect(wrong).toEqual([]);
});

test("nothing outside src and generated is imported by the library", () => {
  const outside = imports.filter(
    (one) => one.relative && !/^(?:src|generated)\//.test(one.to) && one.to !== "package.json",
  );
  expect(outside.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
});

test("packages are imported where they belong: tokenizer and templates in llm only", () => {
  const allowed: Record<string, RegExp> = {
    "bun:ffi": /^src\/backend\/bun\.ts$/,
    "bun:jsc": /^src\/backend\/bun\.ts$/,
    "@huggingface/tokenizers": /^src\/llm\//,
    "@huggingface/jinja": /^src\/llm\//,
  };
  const wrong = imports.filter((one) => !own(one) && !one.to.startsWith("node:") && !allowed[one.to]?.test(one.from));
  expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
});

test("planner and tree import nothing at all from other floors", () => {
  const pure = imports.filter(({ from }) => /^src\/planner\/|^src\/core\/tree\.ts$/.test(from));
  expect(pure.filter(({ to }) => !to.startsWith("src/planner/")).map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
});

test("bun:ffi and bun:jsc are named in the Bun backend only; Deno in the Deno backend only", () => {
  const others = filesOf("src/**/*.ts", "generated/*.ts", "examples/**/*.ts");
  const naming = (word: RegExp, except: string, strings: boolean): string[] =>
    others.filter((file) => file !== except && word.test(code(file, strings)));
  expect(naming(/["']bun:(?:ffi|jsc)["']/, "src/backend/bun.ts", true)).toEqual([]);
  expect(naming(/\bDeno\b/, "src/backend/deno.ts", false)).toEqual([]);
});

test("there are no cycles among the imports that run", () => {
  const graph = new Map<string, string[]>();
  for (const one of imports) {
    if (!own(one) || one.typeOnly || !one.to.endsWith(".ts")) continue;
    graph.set(one.from, [...(graph.get(one.from) ?? []), one.to]);
  }
  expect(findCycle(graph)).toBeNull();
});

function findCycle(graph: ReadonlyMap<string, readonly string[]>): string | null {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string | null => {
    if (done.has(file)) return null;
    const at = path.indexOf(file);
    if (at >= 0) return [...path.slice(at), file].join(" -> ");
    path.push(file);
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next);
      if (cycle !== null) return cycle;
    }
    path.pop();
    done.add(file);
    return null;
  };
  for (const file of graph.keys()) {
    const cycle = visit(file);
    if (cycle !== null) return cycle;
  }
  return null;
}

test("export * stands in index files only", () => {
  const stars = library.filter(
    (file) => !file.endsWith("/index.ts") && /(?:^|\n)\s*export\s*\*/.test(code(file, false)),
  );
  expect(stars).toEqual([]);
  // What the public namespace takes over wholesale must itself list its names, or it would publish helpers too.
  for (const [, from] of code("src/index.ts").matchAll(/(?:^|\n)\s*export\s*\*\s*from\s*"\.\/([^"]+)"/g)) {
    expect(from).toEndWith("/index.ts");
    expect(code(`src/${from}`, false)).not.toMatch(/(?:^|\n)\s*export\s*\*\s*from/);
  }
});

test("pointers are cast in the backend and in core only", () => {
  const upper = library.filter((file) => !["backend", "core", "tree", "symbols"].includes(floorOf(file)?.name ?? ""));
  const casting = upper.filter((file) => /\bas\s+(?:unknown\s+as\s+)?(?:Pointer|Handle)\b/.test(code(file, false)));
  expect(casting).toEqual([]);
});

test("relative imports name the file with its extension", () => {
  const bare = filesOf("src/**/*.ts", "generated/*.ts", "codegen/*.ts", "scripts/**/*.ts", "test/**/*.ts")
    .flatMap(importsOf)
    .filter((one) => one.relative && !/\.(?:ts|json|wasm)$/.test(one.to));
  expect(bare.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
});

describe("the reader of these tests", () => {
  test("strips comments and strings, and keeps lines", () => {
    const source = `const a = "// no"; // Deno\n/* Deno\n */ const b = 'x'; const c = \`y\n\`;`;
    expect(strip(source, false)).toBe(`const a = ""; \x20\n\n const b = ''; const c = \`\n\`;`);
    expect(strip(source, true)).toContain('"// no"');
  });

  test("finds cycles", () => {
    const graph = new Map([
      ["a", ["b"]],
      ["b", ["c"]],
      ["c", ["a"]],
    ]);
    expect(findCycle(graph)).toBe("a -> b -> c -> a");
    expect(findCycle(new Map([["a", ["b"]]]))).toBeNull();
  });

  test("sees this file's imports, types among them", () => {
    const here = importsOf("test/architecture/imports.test.ts");
    expect(here.map(({ to }) => to)).toContain("test/architecture/floors.ts");
    expect(here.every(({ typeOnly }) => !typeOnly)).toBe(true);
    expect(dirname(root)).not.toBe(root);
  });
});
