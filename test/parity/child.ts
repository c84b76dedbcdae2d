// The process that runs cases: child.ts FILE RESULTS, with the ids to run, one a line, in the file RESULTS.ids. Each
// result goes to the file RESULTS at once, and before a case begins its id does: so a crash loses nothing and names
// the case.
import { openSync, readFileSync, writeSync } from "node:fs";
import { readCases } from "./format.ts";
import { loadModules, resolveFunction } from "./names.ts";
import { runCase } from "./run-case.ts";

const [file = "", results = ""] = Bun.argv.slice(2);
const wanted = new Set(readFileSync(`${results}.ids`, "utf8").split("\n"));
const { cases } = await readCases(file);
await loadModules();
// The global random state is made on first use and stays: it must be there before handles are counted.
resolveFunction("mx.random.seed")(0);
const out = openSync(results, "a");
for (const one of cases) {
  if (!wanted.has(one.id)) continue;
  writeSync(out, `${JSON.stringify({ start: one.id })}\n`);
  writeSync(out, `${JSON.stringify(runCase(one))}\n`);
}
process.exit(0);
