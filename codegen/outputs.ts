// Every generated file and what writes it: the one table that main.ts and the drift test go through.

import { emitOpFile, opPaths } from "./emit-all-ops.ts";
import { emitApiTable, readTests } from "./emit-api-table.ts";
import { coverage, emitCoverage } from "./emit-coverage.ts";
import { emitEnums, emitHandles, emitHeaderInfo } from "./emit-handles.ts";
import { emitOperands } from "./emit-operands.ts";
import { emitShimSymbols } from "./emit-shim-symbols.ts";
import { emitSymbols } from "./emit-symbols.ts";
import { readShimHeader } from "./headers.ts";
import type { Api, HeaderSet } from "./ir.ts";
import { parseShim } from "./parse.ts";
import type { PythonApi } from "./pyi.ts";
import python from "./python-api.json" with { type: "json" };

/** What an emitter may look at. */
export interface EmitContext {
  /** The headers of mlx-c, as read and as parsed. */
  set: HeaderSet;
  api: Api;
  /** The project's folder. */
  root: string;
}

/**
 * Path from the project's folder -> its text. In order: the accounts are last, since they read the sources, the files
 * generated before them among them.
 */
export const outputs: readonly { path: string; emit: (context: EmitContext) => string | Promise<string> }[] = [
  { path: "generated/header-info.ts", emit: ({ api }) => emitHeaderInfo(api) },
  { path: "generated/symbols.ts", emit: ({ api }) => emitSymbols(api) },
  {
    path: "generated/shim-symbols.ts",
    emit: async ({ set, root }) => emitShimSymbols(await parseShim(readShimHeader(root, set.version), set)),
  },
  { path: "generated/enums.ts", emit: ({ api }) => emitEnums(api) },
  { path: "generated/handles.ts", emit: ({ api }) => emitHandles(api) },
  { path: "generated/operands.ts", emit: ({ api }) => emitOperands(api) },
  ...opPaths.map((path) => ({ path, emit: ({ api }: EmitContext) => emitOpFile(api, path) })),
  { path: "generated/coverage.json", emit: ({ api, root }) => emitCoverage(coverage(api, root)) },
  {
    path: "docs/coverage.md",
    emit: ({ api, root }) => emitApiTable(python as unknown as PythonApi, coverage(api, root), readTests(root), root),
  },
];
