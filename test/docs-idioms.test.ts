// The tables of idioms in docs/: what stands in a column "here" type-checks, with the variables that the tables speak of.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeEnd, runProcess } from "../scripts/gate/process.ts";
import * as mx from "../src/index.ts";
import { root } from "./helpers.ts";

const folder = mkdtempSync(join(tmpdir(), "mlx-ts-idioms-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const preamble = `
import * as mx from "mlx-ts";
declare let a: mx.Array, b: mx.Array, v: mx.Array, w: mx.Array, x: mx.Array, y: mx.Array, ids: mx.Array, mask: mx.Array;
declare const i: number, j: number, path: string, typedArray: Float32Array, shape: number[], value: number;
declare const stream: mx.Stream, mode: "constant" | "edge", dtype: mx.Dtype, state: mx.Array[], s: mx.Stream;
declare const f: (...args: mx.Array[]) => mx.Array, primals: mx.Array[], tangents: mx.Array[], tree: mx.Array[];
declare const vjp: undefined, jvp: undefined, vmap: undefined, subscripts: string;
declare const arrays: Record<string, mx.Array>, metadata: Record<string, string>;
`;

/** The code of a table cell: what stands between backticks, one or several. */
function codeOf(cell: string): string[] {
  return [...cell.matchAll(/(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)/g)].map(([, , code]) =>
    code!.trim().replaceAll("\\|", "|"),
  );
}

interface Idiom {
  where: string;
  code: string;
}

/** What the columns "here" of a page's tables say. */
function idiomsOf(file: string): Idiom[] {
  const found: Idiom[] = [];
  let column = -1;
  for (const [at, line] of readFileSync(join(root, file), "utf8").split("\n").entries()) {
    const cells = line.startsWith("|") ? line.split(/(?<!\\)\|/).slice(1, -1) : null;
    if (cells === null) column = -1;
    else if (column < 0) column = cells.findIndex((cell) => cell.trim() === "here");
    else for (const code of codeOf(cells[column] ?? "")) found.push({ where: `${file}:${at + 1}`, code });
  }
  return found;
}

const pages = ["docs/from-python.md", "docs/from-node-mlx.md", "docs/indexing.md"];
const idioms = pages.flatMap(idiomsOf);

/** A name alone is one of the API; \`...\` stands for what the reader fills in; an option is no statement. */
const isName = (code: string): boolean => /^[A-Za-z]\w*$/.test(code);
const isStatement = (code: string): boolean => !isName(code) && !code.startsWith("{") && code !== "...";

test("the tables have idioms of every page", () => {
  for (const page of pages) {
    const count = idioms.filter(({ where }) => where.startsWith(page)).length;
    expect({ page, enough: count > 10 }).toEqual({ page, enough: true });
  }
  // Every name that is spelled out exists: as a function, a method, or a word of the language.
  const names = idioms.map(({ code }) => code).filter(isName);
  const unknown = names.filter(
    (name) => !(name in mx) && !(name in mx.Array.prototype) && !/^(mx|null|using)$/.test(name),
  );
  expect(unknown).toEqual([]);
});

test("they type-check", async () => {
  const statements = idioms.filter(({ code }) => isStatement(code));
  // `...` alone is what the reader fills in; the head of an `if` or a loop has a body.
  const whole = (code: string): string => code.replaceAll("...)", "{})") + (/^(if|for) /.test(code) ? " {}" : ";");
  const lines = statements.map(({ code }) => `void (async () => { ${whole(code)} });`);
  const file = `${preamble.trim()}\n${lines.join("\n")}\nexport {};\n`;
  writeFileSync(join(folder, "idioms.ts"), file);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  const base = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8")) as {
    compilerOptions: { paths: Record<string, string[]> };
  };
  const paths = Object.fromEntries(
    Object.entries(base.compilerOptions.paths).map(([name, [path = ""]]) => [name, [join(root, path)]]),
  );
  const compilerOptions = {
    ...base.compilerOptions,
    paths,
    typeRoots: [join(root, "node_modules/@types")],
    isolatedDeclarations: false,
    declaration: false,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const result = await runProcess([process.execPath, "--bun", tsc, "--pretty", "false", "-p", folder], {
    cwd: folder,
    timeout: 120,
  });
  const first = preamble.trim().split("\n").length + 1;
  const named = result.output.replace(/^idioms\.ts\((\d+),\d+\)/gm, (text, line: string) => {
    const idiom = statements[Number(line) - first];
    return idiom === undefined ? text : `${idiom.where}, ${idiom.code}`;
  });
  expect(named).toBe("");
  expect(describeEnd(result, 120)).toBeNull();
}, 130_000);
