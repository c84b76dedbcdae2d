// Every ```ts block of the README and of docs/ is type-checked and run, and prints what it promises in comments.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describeEnd, runProcess } from "../scripts/gate/process.ts";
import { findBlocks, promisedOutputs } from "./docs.ts";

const root = resolve(import.meta.dir, "..");
const documents = ["README.md", ...new Bun.Glob("docs/**/*.md").scanSync({ cwd: root })].sort();
const blocks = documents
  .filter((file) => existsSync(join(root, file)))
  .flatMap((file) => findBlocks(file, readFileSync(join(root, file), "utf8")));
const run = blocks.filter(({ reason }) => reason === null);
const left = blocks.filter(({ reason }) => reason !== null);

let folder = "";
const fileOf = (index: number): string => join(folder, `block${index}.ts`);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "mlx-ts-docs-"));
  const base = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8")) as {
    compilerOptions: { paths: Record<string, string[]> };
  };
  const paths = Object.fromEntries(
    Object.entries(base.compilerOptions.paths).map(([name, [path = ""]]) => [name, [join(root, path)]]),
  );
  const options = { ...base.compilerOptions, paths, typeRoots: [join(root, "node_modules/@types")] };
  // A reader's block is no published module: it need not annotate its exports.
  const relaxed = { ...options, isolatedDeclarations: false, declaration: false };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: relaxed, include: ["*.ts"] }));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  mkdirSync(join(folder, "out"));
  for (const [index, block] of run.entries()) writeFileSync(fileOf(index), `${block.source}\nexport {};\n`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the README has blocks, and those that are not run say why", () => {
  expect(run.some(({ file }) => file === "README.md")).toBe(true);
  for (const { file, line, reason } of left) console.log(`not run: ${file}:${line}: ${reason}`);
  console.log(`${run.length} blocks are run, ${left.length} are not`);
});

test("the blocks type-check", async () => {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const result = await runProcess([process.execPath, "--bun", tsc, "--pretty", "false", "-p", folder], {
    cwd: folder,
    timeout: 120,
  });
  const named = result.output.replace(/block(\d+)\.ts/g, (name, index: string) => {
    const block = run[Number(index)];
    return block === undefined ? name : `${block.file}, the block at line ${block.line}, `;
  });
  expect(named).toBe("");
  expect(describeEnd(result, 120)).toBeNull();
}, 130_000);

describe("the block at", () => {
  test.each(run.map((block, index) => [`${block.file}:${block.line}`, index, block] as const))(
    "%s runs",
    async (_, index, block) => {
      const result = await runProcess([process.execPath, fileOf(index)], {
        cwd: join(folder, "out"),
        timeout: 120,
        env: { NO_COLOR: "1" },
      });
      const problem = describeEnd(result, 120);
      if (problem !== null) throw new Error(`${problem}\n${result.output}`);
      let from = 0;
      for (const promised of promisedOutputs(block.source)) {
        const at = result.output.indexOf(promised, from);
        expect({ promised, found: at >= 0, output: result.output }).toMatchObject({ found: true });
        from = at + promised.length;
      }
    },
    130_000,
  );
});

describe("the reader of the blocks", () => {
  test("finds ts blocks, skips others, and wants a reason", () => {
    const text = [
      "# a",
      "```ts",
      "1;",
      "```",
      "```sh",
      "ls",
      "```",
      "  ~~~ts no-run reason=needs weights",
      "  2;",
      "  ~~~",
    ];
    expect(findBlocks("a.md", text.join("\n"))).toEqual([
      { file: "a.md", line: 2, source: "1;", reason: null },
      { file: "a.md", line: 8, source: "2;", reason: "needs weights" },
    ]);
    expect(() => findBlocks("a.md", "```ts no-run\n```")).toThrow("reason=WHY");
    expect(() => findBlocks("a.md", "```ts\n1")).toThrow("never closed");
  });

  test("reads promised outputs", () => {
    const source =
      "console.log(x, f(1)); // 1 [ 2 ]\n// no\nf(); // neither\nf(); // => [2, 3]\nconsole.log(4);\n  // 4\n";
    expect(promisedOutputs(source)).toEqual(["1 [ 2 ]", "[2, 3]", "4"]);
  });
});
