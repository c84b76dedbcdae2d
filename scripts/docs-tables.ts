// The tables of docs/ that follow from the API: written by `bun scripts/docs-tables.ts`, compared by `--check`. Each
// stands between `<!-- generated: NAME -->` and `<!-- end -->`.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { absent, renamed } from "../codegen/api-names.ts";
import { firstDifference } from "../codegen/difference.ts";
import { camelName } from "../codegen/op-names.ts";
import api from "../codegen/python-api.json";
import * as mx from "../src/index.ts";

interface Signature {
  params: { name: string; kind: string; default?: string }[];
}

export type PythonModules = Readonly<Record<string, { functions: Readonly<Record<string, readonly Signature[]>> }>>;

/** Python's keywords that no function here takes, and why. */
export const droppedKeywords: Readonly<Record<string, string>> = {
  compile_options: "mlx-c's Metal kernels take none",
  all_gather_factory: "mlx-c's distributed.init does not take it",
};

const modules: PythonModules = api.modules;

function inNamespace(module: string, name: string): boolean {
  const space = module === "core" ? mx : (mx as unknown as Record<string, object | undefined>)[module];
  return space !== undefined && name in space;
}

/** Where each of Python's functions went. Throws for one that is nowhere, and for an exception that is none any more. */
export function accounts(
  source: PythonModules,
  has: (module: string, name: string) => boolean,
): { same: Map<string, number>; renamedHere: string[]; absentHere: string[] } {
  const same = new Map<string, number>();
  const found = { same, renamedHere: [] as string[], absentHere: [] as string[] };
  for (const [module, { functions }] of Object.entries(source)) {
    for (const python of Object.keys(functions)) {
      const key = module === "core" ? python : `${module}.${python}`;
      const there = has(module, camelName(python));
      const other = renamed[python];
      if (there && (absent[key] !== undefined || (other !== undefined && module === "core"))) {
        throw new Error(`docs-tables: mx.${key} is here under its own name: take it off the exceptions`);
      }
      if (there) same.set(module, (same.get(module) ?? 0) + 1);
      else if (absent[key] !== undefined) found.absentHere.push(key);
      else if (other !== undefined && has("core", other[0])) found.renamedHere.push(key);
      else throw new Error(`docs-tables: mx.${key} is nowhere: it needs a line in renamed or absent`);
    }
  }
  return found;
}

function namesTable(): string {
  const { same, renamedHere, absentHere } = accounts(modules, inNamespace);
  const place = (module: string): string => (module === "core" ? "`mx`" : `\`mx.${module}\``);
  const counts = [...same].map(
    ([module, count]) => `| \`mlx.core${module === "core" ? "" : `.${module}`}\` | ${place(module)} | ${count} |`,
  );
  const others = renamedHere.map((key) => {
    const [here, reason] = renamed[key.split(".").at(-1)!]!;
    return `| \`mx.${key}\` | \`mx.${here}\` | ${reason} |`;
  });
  const missing = absentHere.map((key) => `| \`mx.${key}\` | — | ${absent[key]} |`);
  return [
    "| Python's module | here | functions with the same name in camelCase |",
    "|---|---|---|",
    ...counts,
    "",
    "The others:",
    "",
    "| Python | here | |",
    "|---|---|---|",
    ...others,
    ...missing,
  ].join("\n");
}

/** The keywords that are spelled otherwise as options, and the functions that take them. */
export function keywords(): Map<string, string[]> {
  const users = new Map<string, string[]>();
  for (const [module, { functions }] of Object.entries(modules)) {
    for (const [python, signatures] of Object.entries(functions)) {
      if (absent[module === "core" ? python : `${module}.${python}`] !== undefined) continue;
      // What must be given is given by position.
      const optional = signatures.flatMap(({ params }) =>
        params.filter(({ kind, default: value }) => kind === "keyword" || value !== undefined),
      );
      const names = new Set(optional.map(({ name }) => name));
      for (const name of names) {
        if (camelName(name) === name || droppedKeywords[name] !== undefined) continue;
        const here = `${module === "core" ? "" : `${module}.`}${camelName(python)}`;
        users.set(name, [...(users.get(name) ?? []), `\`${here}\``]);
      }
    }
  }
  return users;
}

function keywordsTable(): string {
  const some = (list: readonly string[]): string =>
    list.length <= 4 ? list.join(", ") : `${list.slice(0, 3).join(", ")} and ${list.length - 3} more`;
  const rows = [...keywords()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, list]) => `| \`${name}\` | \`${camelName(name)}\` | ${some(list)} |`);
  return ["| keyword | option | of |", "|---|---|---|", ...rows].join("\n");
}

const tables: Readonly<Record<string, () => string>> = { names: namesTable, keywords: keywordsTable };

/** A text with its generated tables written anew. */
export function withTables(text: string, file: string): string {
  return text.replace(
    /(<!-- generated: (\S+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, open: string, name: string, end: string) => {
      const table = tables[name];
      if (table === undefined) throw new Error(`${file}: no table is called "${name}"`);
      return `${open}\n${table()}\n\n${end}`;
    },
  );
}

function main(): number {
  const root = resolve(import.meta.dir, "..");
  const check = Bun.argv.includes("--check");
  let drifted = 0;
  for (const name of new Bun.Glob("*.md").scanSync({ cwd: join(root, "docs") })) {
    const path = join(root, "docs", name);
    const text = readFileSync(path, "utf8");
    const wanted = withTables(text, name);
    if (wanted === text) continue;
    drifted++;
    if (check) console.error(`docs/${name} differs; run: bun run docs:tables\n${firstDifference(text, wanted)}`);
    else writeFileSync(path, wanted);
  }
  console.log(check ? `docs: ${drifted} files differ` : `docs: ${drifted} files written`);
  return check && drifted > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = main();
