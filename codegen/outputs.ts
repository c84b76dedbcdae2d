// Every generated file and what writes it: the one table that main.ts and the drift test go through.

import { emitOpFile, opPaths } from "./emit-all-ops.ts";
import { coverage, emitCoverage } from "./emit-coverage.ts";
import { emitEnums, emitHandles, emitHeaderInfo } from "./emit-handles.ts";
import { emitShimSymbols } from "./emit-shim-symbols.ts";
import { emitSymbols } from "./emit-symbols.ts";
import { readShimHeader } from "./headers.ts";
import type { Api, HeaderSet } from "./ir.ts";
import { parseShim } from "./parse.ts";

/** What an emitter may look at. */
export interface EmitContext {
  /** The headers of mlx-c, as read and as parsed. */
  set: HeaderSet;
  api: Api;
  /** The project's folder. */
  root: string;
}

/**
 * Path from the project's folder -> its text. In order: coverage.json is last, since it reads the sources, the files
 * generated before it among them.
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
  ...opPaths.map((path) => ({ path, emit: ({ api }: EmitContext) => emitOpFile(api, path) })),
  { path: "generated/coverage.json", emit: ({ api, root }) => emitCoverage(coverage(api, root)) },
];
