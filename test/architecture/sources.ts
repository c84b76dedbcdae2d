// Reads the project's own files for the architecture tests.
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";

export const root: string = resolve(import.meta.dir, "../..");

const skipped = /(?:^|\/)(?:node_modules|build|dist|\.git|\.cache|data)(?:\/|$)/;

/** Files that match a glob, relative to the root, without what is built, installed or test data. */
export function filesOf(...globs: string[]): string[] {
  const found = globs.flatMap((glob) => [...new Bun.Glob(glob).scanSync({ cwd: root, dot: true })]);
  return [...new Set(found.map((file) => file.split(sep).join("/")))].filter((file) => !skipped.test(file)).sort();
}

const texts = new Map<string, string>();

export function read(file: string): string {
  let text = texts.get(file);
  if (text === undefined) {
    text = readFileSync(join(root, file), "utf8");
    texts.set(file, text);
  }
  return text;
}

/** The source without comments; with `strings` false, string contents are emptied too. Lines keep their numbers. */
export function code(file: string, strings = true): string {
  return strip(read(file), strings);
}

/** Removes comments (and the contents of strings) of a TypeScript source, keeping every line break. */
export function strip(source: string, strings: boolean): string {
  const token = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\[\s\S]|[^`\\])*`/g;
  return source.replace(token, (text) => {
    const lines = text.replace(/[^\n]/g, "");
    if (text.startsWith("/")) return lines === "" ? " " : lines;
    if (strings) return text;
    const quote = text.charAt(0);
    return quote + lines + quote;
  });
}

export interface Import {
  from: string;
  /** The file relative to the root, or the package name. */
  to: string;
  typeOnly: boolean;
  relative: boolean;
}

const statement =
  /(?:^|\n)\s*(import|export)\s+(type\s+)?((?:[\w$*\s,{}]|\n)*?)from\s*["']([^"'\n]+)["']|(?:^|\n)\s*import\s*["']([^"'\n]+)["']|\bimport\(\s*["']([^"'\n]+)["']\s*\)/g;

/** Everything that a file imports or re-exports. */
export function importsOf(file: string): Import[] {
  return [...code(file).matchAll(statement)].map((match) => {
    const [, , type, names = "", from, bare, dynamic] = match;
    const target = from ?? bare ?? dynamic ?? "";
    const named = /^\{([\s\S]*)\}$/.exec(names.trim())?.[1];
    const allTypes =
      named !== undefined &&
      named.trim() !== "" &&
      named.split(",").every((name) => name.trim() === "" || name.trim().startsWith("type "));
    const isRelative = target.startsWith(".");
    const to = isRelative
      ? relative(root, resolve(root, dirname(file), target))
          .split(sep)
          .join("/")
      : target;
    return { from: file, to, typeOnly: type !== undefined || allTypes, relative: isRelative };
  });
}

/** The files that a file imports for their effect alone. */
export function bareImportsOf(file: string): string[] {
  return [...code(file).matchAll(/(?:^|\n)\s*import\s*["'](\.[^"'\n]+)["']/g)].map(([, target = ""]) =>
    relative(root, resolve(root, dirname(file), target))
      .split(sep)
      .join("/"),
  );
}
