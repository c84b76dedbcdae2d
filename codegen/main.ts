// `bun run codegen` writes the files of generated/; `bun run codegen --check` writes none and fails when one differs.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { firstDifference } from "./difference.ts";
import { mlxcSources, readHeaders } from "./headers.ts";
import { outputs } from "./outputs.ts";
import { parseHeaders } from "./parse.ts";
import { pythonApiText } from "./stubs.ts";

const usage = `usage: bun run codegen [--check] [--headers FOLDER] [--into FOLDER] [--python-api]
  --check            write nothing; fail, naming the files, if generated/ is not what the sources give
  --headers FOLDER   an unpacked mlx-c, instead of the one that the native build pins and fetches
  --into FOLDER      where generated/ is, instead of here
  --python-api       read codegen/python-api.json anew from the pinned Python wheel, which is fetched, and stop`;

/** Python's signatures, which the next run of codegen reads. */
async function readPythonApi(root: string, check: boolean): Promise<number> {
  const path = "codegen/python-api.json";
  const text = await pythonApiText();
  const same = readFileSync(join(root, path), "utf8") === text;
  if (!same && !check) writeFileSync(join(root, path), text);
  console.log(`${path}: ${same ? "as it was" : check ? "differs" : "written; run codegen again"}`);
  return same || !check ? 0 : 1;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      check: { type: "boolean" },
      headers: { type: "string" },
      into: { type: "string" },
      "python-api": { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const root = resolve(import.meta.dir, "..");
  if (values["python-api"]) return readPythonApi(root, values.check ?? false);
  const into = values.into === undefined ? root : resolve(values.into);
  const set = readHeaders(values.headers === undefined ? await mlxcSources() : resolve(values.headers));
  const api = await parseHeaders(set);

  let drifted = 0;
  let written = 0;
  for (const { path, emit } of outputs) {
    const file = join(into, path);
    const text = await emit({ set, api, root });
    const old = existsSync(file) ? readFileSync(file, "utf8") : null;
    if (old === text) continue;
    if (values.check) {
      drifted++;
      console.error(`${path} ${old === null ? "does not exist" : `differs\n${firstDifference(old, text)}`}`);
    } else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      written++;
      console.log(`wrote ${path}`);
    }
  }
  if (drifted > 0) {
    console.error(`codegen --check: ${drifted} of ${outputs.length} files differ; run: bun run codegen`);
    return 1;
  }
  const summary = values.check ? "all as generated" : `${written} written, ${outputs.length - written} as they were`;
  console.log(`codegen: mlx-c ${api.version}, ${api.functions.length} functions, ${outputs.length} files, ${summary}`);
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(`codegen: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
