// Rules of the house that a machine can check.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { bareImportsOf, code, filesOf, read, root } from "./sources.ts";

const here = /^test\/architecture\//;
const handWritten = filesOf(
  "{src,codegen,native,scripts,test,bench,examples}/**/*.{ts,cpp,h,hpp,c}",
  "native/**/CMakeLists.txt",
);
const everything = filesOf("**/*.{ts,js,json,jsonc,toml,md,yml,yaml,cpp,h,c,py,sh,txt,lock}", ".ci/*", "LICENSE", "*");
const tests = filesOf("test/**/*.ts");

/** `file:line: text` of each line that matches. */
function hits(files: readonly string[], pattern: RegExp, text: (file: string) => string = read): string[] {
  return files.flatMap((file) =>
    text(file)
      .split("\n")
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim().slice(0, 120)}`] : [])),
  );
}

test("the files were found", () => {
  expect(handWritten.length).toBeGreaterThan(60);
  expect(everything.length).toBeGreaterThan(handWritten.length);
  expect(everything).toContain("bun.lock");
});

test("a hand-written file holds one idea: under 400 lines", () => {
  const long = handWritten.map((file) => [file, read(file).split("\n").length - 1] as const);
  expect(long.filter(([, lines]) => lines >= 400)).toEqual([]);
});

test("no absolute path of a machine", () => {
  const path = new RegExp(
    `(?<![\\w.~$}/-])/(?:${["work", "root", "home", "Users", "tmp", "private"].join("|")})/[\\w.]`,
  );
  expect(
    hits(
      everything.filter((file) => !here.test(file)),
      path,
    ),
  ).toEqual([]);
});

test("no registry host, in the lock file or elsewhere", () => {
  // Written with a space where the dot belongs, so that this file names none.
  const hosts = [
    "registry npm",
    "registry yarn",
    "pypi org",
    "pythonhosted",
    "static crates",
    "index crates",
    "deb debian",
  ];
  const host = new RegExp(hosts.join("|").replaceAll(" ", "\\."));
  expect(
    hits(
      everything.filter((file) => !here.test(file)),
      host,
    ),
  ).toEqual([]);
  for (const lock of everything.filter((file) => /(?:^|\/)(?:bun\.lock|Cargo\.lock|package-lock\.json)$/.test(file))) {
    expect(hits([lock], /https?:\/\//)).toEqual([]);
  }
  expect(existsSync(join(root, "package-lock.json"))).toBe(false);
});

test("no test is skipped, singled out or left for later", () => {
  const marks = /\b(?:test|it|describe)\s*\.\s*(?:skip|only|todo|failing|skipIf|todoIf|if)\b/;
  const files = tests.filter((file) => !here.test(file));
  expect(hits(files, marks, (file) => code(file, false))).toEqual([]);
});

test("nothing is left to do", () => {
  const word = new RegExp(`\\b(?:${["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"].join("|")})\\b`);
  expect(
    hits(
      handWritten.filter((file) => !here.test(file)),
      word,
    ),
  ).toEqual([]);
});

test("no catch block is empty", () => {
  const empty = handWritten.filter(
    (file) => file.endsWith(".ts") && /\bcatch\s*(?:\([^)]*\))?\s*\{\s*\}/.test(code(file, false)),
  );
  expect(empty).toEqual([]);
});

test("the type checker is not silenced", () => {
  const silencers = new RegExp(`@ts-(?:${["ignore", "nocheck"].join("|")})|\\bas any\\b`);
  expect(
    hits(
      handWritten.filter((file) => file.endsWith(".ts") && !here.test(file)),
      silencers,
    ),
  ).toEqual([]);
});

test("package.json: two runtime dependencies, exact versions, no install scripts", async () => {
  const manifest = (await Bun.file(join(root, "package.json")).json()) as {
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
    scripts: Record<string, string>;
    sideEffects?: string[] | boolean;
  };
  expect(Object.keys(manifest.dependencies).sort()).toEqual(["@huggingface/jinja", "@huggingface/tokenizers"]);
  for (const version of Object.values({ ...manifest.dependencies, ...manifest.devDependencies })) {
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  }
  expect(Object.keys(manifest.scripts).filter((name) => /^(?:pre|post)?install$|^prepare$/.test(name))).toEqual([]);
  expect(manifest.sideEffects).toBeArray();
  // A bundler drops every module that is not listed: those imported for their effect alone, and the way to them.
  const listed = manifest.sideEffects as string[];
  for (const file of listed) expect(existsSync(join(root, file))).toBe(true);
  const bare = filesOf("src/**/*.ts", "generated/*.ts").flatMap((file) =>
    bareImportsOf(file).flatMap((to) => [file, to]),
  );
  expect([...new Set(bare)].map((file) => `./${file}`).filter((file) => !listed.includes(file))).toEqual([]);
  expect(bare.length).toBeGreaterThan(1);
});

test("generated files say what they were generated from", () => {
  for (const file of filesOf("generated/*.ts")) {
    expect(read(file).slice(0, 600).toLowerCase()).toMatch(/do not edit/);
  }
});
