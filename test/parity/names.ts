// Python's names to ours, and a function name of the format to the thing it names.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Unsupported } from "./format.ts";

/** Words that snake_case does not separate and camelCase does. */
const words: Record<string, string> = { keepdims: "keepDims" };

/** snake_case to camelCase; names without an underscore stay, but for the words above. */
export function camelCase(name: string): string {
  const known = words[name];
  if (known !== undefined) return known;
  return name.replace(/_$/, "").replace(/(?<=[a-z0-9])_+([a-z0-9])/gi, (_, letter: string) => letter.toUpperCase());
}

export type Callable = (...args: unknown[]) => unknown;

type Module = Record<string, unknown>;

const source = join(import.meta.dir, "../../src");

/** The modules that function names begin with. A module that does not exist makes its cases unsupported. */
const moduleFiles: Record<string, string> = {
  mx: join(source, "index.ts"),
  nn: join(source, "nn/index.ts"),
  optimizers: join(source, "optimizers/index.ts"),
};

const loaded = new Map<string, Module | null>();

async function load(root: string): Promise<Module | null> {
  const known = loaded.get(root);
  if (known !== undefined) return known;
  const file = moduleFiles[root];
  const module = file !== undefined && existsSync(file) ? ((await import(file)) as Module) : null;
  loaded.set(root, module);
  return module;
}

/** Imports the modules that exist, so that lookups need not wait. */
export async function loadModules(): Promise<void> {
  for (const root of Object.keys(moduleFiles)) await load(root);
}

/** The public mx namespace. */
export function mx(): Module {
  const module = loaded.get("mx");
  if (module === undefined || module === null) throw new Unsupported("the module mx is not there");
  return module;
}

/** The value behind `mx.linalg.svd` and the like; Unsupported when the library has no such thing. */
export function resolve(name: string): unknown {
  const [root = "", ...path] = name.split(".");
  let value: unknown = loaded.get(root) ?? undefined;
  for (const part of path) {
    if ((typeof value !== "object" && typeof value !== "function") || value === null) value = undefined;
    else value = (value as Module)[camelCase(part)];
  }
  if (value === undefined) throw new Unsupported(`${name} does not exist`);
  return value;
}

/** The function behind a name. */
export function resolveFunction(name: string): Callable {
  const value = resolve(name);
  if (typeof value !== "function") throw new Unsupported(`${name} is not a function`);
  return value as Callable;
}
