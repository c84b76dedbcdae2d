// The files that the operations generate, as one table for outputs.ts.

import { emitMethods } from "./emit-methods.ts";
import { emitOpModule, opModules } from "./emit-ops.ts";
import { emitNamespace, emitOpsIndex, namespaceModules } from "./emit-ops-index.ts";
import type { Api } from "./ir.ts";
import type { PythonApi } from "./pyi.ts";
import pythonApi from "./python-api.json" with { type: "json" };
import { planOps } from "./rules.ts";

/** Python's signatures as last read from the wheel. */
export const python = pythonApi as unknown as PythonApi;

const made = new WeakMap<Api, Map<string, string>>();

/** The text of one of the files below. */
export function emitOpFile(api: Api, path: string): string {
  const files = made.get(api) ?? emitOpFiles(api);
  made.set(api, files);
  const text = files.get(path);
  if (text === undefined || files.size !== opPaths.length)
    throw new Error(`codegen: the files of the operations are not ${opPaths.join(", ")}`);
  return text;
}

/** Path -> text of every file that belongs to the operations. */
export function emitOpFiles(api: Api): Map<string, string> {
  const set = planOps(api, python);
  const files = new Map<string, string>();
  for (const module of opModules(set)) files.set(module.path, emitOpModule(api, set, module).text);
  files.set("generated/methods.ts", emitMethods(api, set, python));
  for (const module of namespaceModules(set))
    files.set(`src/ops/namespaces/${module}.ts`, emitNamespace(api, set, module));
  files.set("src/ops/index.ts", emitOpsIndex(api, set, python));
  return files;
}

/** The paths, which outputs.ts lists before any header is read. */
export const opPaths: readonly string[] = [
  "generated/ops.ts",
  "generated/ops-byhand.ts",
  "generated/ops-linalg.ts",
  "generated/ops-linalg-byhand.ts",
  "generated/ops-fft.ts",
  "generated/ops-fft-byhand.ts",
  "generated/ops-random.ts",
  "generated/ops-random-byhand.ts",
  "generated/ops-fast.ts",
  "generated/ops-fast-byhand.ts",
  "generated/methods.ts",
  "src/ops/namespaces/linalg.ts",
  "src/ops/namespaces/fft.ts",
  "src/ops/namespaces/random.ts",
  "src/ops/namespaces/fast.ts",
  "src/ops/index.ts",
];
