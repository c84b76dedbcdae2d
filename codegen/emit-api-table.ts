// Python's names + the exports + the tests -> docs/coverage.md: what became of every name of mlx.core, and what tests it.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { absent, protocol, renamed } from "./api-names.ts";
import type { CoverageReport } from "./emit-coverage.ts";
import { camelName } from "./op-names.ts";
import { exportedNames, exportedTypes } from "./public-exports.ts";
import type { PythonApi } from "./pyi.ts";

/** What tests the names: parity cases by Python's name, and the words of each test file. */
export interface Tested {
  cases: ReadonlyMap<string, number>;
  files: readonly { path: string; text: string }[];
}

interface ParityCase {
  fn?: string;
  form?: string;
  kind?: string;
  transform?: string;
  steps?: readonly { fn: string }[];
}

const byKind: Readonly<Record<string, readonly string[]>> = {
  index: ["array.__getitem__"],
  update: ["array.at"],
  print: ["set_printoptions"],
};

/** Counts the parity cases that use each name: as a call, a step of a program, a transform, or the dtype of an array. */
export function countCases(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) {
    const one = JSON.parse(line) as ParityCase;
    const names = [one.fn, ...(one.steps ?? []).map((step) => step.fn)].flatMap((fn) =>
      fn === undefined ? [] : fn.replace(/^mx\./, ""),
    );
    if (one.transform !== undefined) names.push(...one.transform.replace("_shapeless", "").split("_of_"));
    names.push(...(byKind[one.kind ?? ""] ?? []));
    for (const [, dtype] of line.matchAll(/"dtype":"(\w+)"/g))
      names.push(dtype === "bool" ? "bool_" : (dtype as string));
    for (const name of new Set(names)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** Reads the tests of a project. */
export function readTests(root: string): Tested {
  const packed = readFileSync(join(root, "test/parity/data/cases.jsonl.gz"));
  const lines = new TextDecoder().decode(Bun.gunzipSync(packed)).trimEnd().split("\n").slice(1);
  const paths = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    // The harness's own tests speak Python's names.
    .filter((path) => !path.startsWith("parity/"))
    .filter((path) => /\.(?:test|leak)\.ts$|^types\/.*\.ts$|\/fixtures\/.*\.ts$/.test(path))
    .sort();
  const files = paths.map((path) => ({ path, text: readFileSync(join(root, "test", path), "utf8") }));
  return { cases: countCases(lines), files };
}

/** The files that use a name, as `mx.name` or as a method; at most three are named. */
function filesOf(tested: Tested, pattern: RegExp): string {
  const paths = tested.files.filter(({ text }) => pattern.test(text)).map(({ path }) => path);
  // No count of the others: each new test would change most lines of the table.
  const shown = paths.slice(0, 3).map((path) => `\`${path}\``);
  return shown.join(", ") + (paths.length > 3 ? ", …" : "");
}

interface Row {
  python: string;
  here: string;
  cases: number;
  tests: string;
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(
    ({ python, here, cases, tests }) => `| ${python} | ${here} | ${cases === 0 ? "" : cases} | ${tests} |`,
  );
  return `| Python | here | parity cases | other tests |\n|---|---|---|---|\n${lines.join("\n")}\n`;
}

const word = (name: string): string => name.replaceAll(".", "\\.");

interface Names {
  values: ReadonlySet<string>;
  types: ReadonlySet<string>;
  /** The source of what Array has. */
  array: string;
}

/** The row of one name. Throws for one that is nowhere, and for an exception that is none. */
function row(key: string, names: Names, tested: Tested): Row {
  const own = key
    .split(".")
    .map((part) => camelName(part))
    .join(".");
  const has = names.values.has(own) || names.types.has(own);
  const other = renamed[key];
  const why = absent[key];
  if (has && (other !== undefined || why !== undefined) && own !== "array") {
    throw new Error(`codegen/api-names.ts: ${key} is here under its own name`);
  }
  const python = `\`${key}\``;
  if (why !== undefined) return { python, here: `— ${why}`, cases: 0, tests: "" };
  const here = other?.[0] ?? own;
  if (!names.values.has(here) && !names.types.has(here)) {
    throw new Error(`codegen/api-names.ts: ${key} of Python is nowhere; it needs a line in renamed or absent`);
  }
  const form = names.values.has(here) ? `\`mx.${here}\`` : `type \`mx.${here}\``;
  return {
    python,
    here: other === undefined ? form : `${form}: ${other[1]}`,
    cases: tested.cases.get(key) ?? 0,
    tests: filesOf(tested, new RegExp(`\\bmx\\.${word(here)}\\b`)),
  };
}

function memberRow(name: string, names: Names, tested: Tested): Row {
  const here = camelName(name);
  const form = new RegExp(`^ {2,4}(?:get |readonly )?${here}[?(<:]`, "m");
  if (!form.test(names.array)) throw new Error(`an Array has no ${here}, Python's array.${name}`);
  return {
    python: `\`array.${name}\``,
    here: `\`x.${here}\``,
    cases: tested.cases.get(`array.${name}`) ?? 0,
    tests: filesOf(tested, new RegExp(`\\w\\)?\\]?\\.${here}\\b(?<!\\bmx\\.${here})`)),
  };
}

function sections(python: PythonApi, names: Names, tested: Tested): string {
  const parts = Object.entries(python.modules).map(([module, { functions, aliases, classes = [], values = [] }]) => {
    const title = module === "core" ? "mlx.core" : `mlx.core.${module}`;
    const all = [...new Set([...Object.keys(functions), ...Object.keys(aliases), ...classes, ...values])];
    const rows = all.sort().map((name) => row(module === "core" ? name : `${module}.${name}`, names, tested));
    return `## ${title}\n\n${table(rows)}`;
  });
  const members = [...Object.keys(python.array.functions), ...python.array.properties].sort();
  parts.push(`## array\n\n${table(members.map((name) => memberRow(name, names, tested)))}`);
  const rows = protocol.map(([theirs, here]) => `| ${theirs} | ${here} |`).join("\n");
  parts.push(`## Python's protocols\n\n| Python | here |\n|---|---|\n${rows}\n`);
  return parts.join("\n");
}

/** The text of docs/coverage.md. */
export function emitApiTable(python: PythonApi, report: CoverageReport, tested: Tested, root: string): string {
  const index = join(root, "src/index.ts");
  const sources = ["src/core/array.ts", "generated/methods.ts", "src/ops/indexing/install.ts"];
  const names: Names = {
    values: exportedNames(index),
    types: exportedTypes(index),
    array: sources.map((path) => readFileSync(join(root, path), "utf8")).join("\n"),
  };
  const { declared, reach } = report.counts;
  return `# Coverage

Every name of Python's mlx.core ${python.mlx}, what it is called here, and what tests it. Written by \`bun run codegen\` from
the type stubs of the wheel, the exports of \`src/index.ts\` and the sources of the tests; do not edit.

Parity cases are calls whose results Python MLX computed (see [parity.md](parity.md)), steps and transforms of programs
included. The other tests are the files under \`test/\` that use the name.

Below, mlx-c ${report.mlxc} declares ${declared} functions: the API reaches ${reach.public}, ${reach.internal} are not needed by it, each for the reason in
\`generated/coverage.json\`, and ${reach.excluded} are not bound.

${sections(python, names, tested)}`;
}
