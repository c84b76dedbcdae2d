// `bun run vectors FILE.json`: executes planner vectors and prints what passed, failed and was skipped.
//
// A file is { vectors: [{ name, kind, inputs, expected, source }] }. The first part of a name is its family, which says
// what is computed. Expected values are compared one by one and exactly. A family that is not known fails.
import { readFileSync } from "node:fs";
import { plannerFamilies } from "./vectors/planner.ts";
import { storageFamilies } from "./vectors/storage.ts";
import { type Family, type Outcome, runVectors, type Vector } from "./vectors/run.ts";

const families: Readonly<Record<string, Family>> = { ...plannerFamilies, ...storageFamilies };

/** Executes the vectors of a file's text. Throws where it is none. */
export function runFile(text: string): Outcome {
  const vectors = (JSON.parse(text) as { vectors?: Vector[] } | null)?.vectors;
  if (!Array.isArray(vectors) || vectors.length === 0) throw new Error('expected { "vectors": [...] } with some in it');
  return runVectors(vectors, families);
}

if (import.meta.main) {
  const [file] = process.argv.slice(2);
  if (file === undefined) {
    console.error("usage: bun run vectors FILE.json");
    process.exit(2);
  }
  try {
    const { passed, failed, skipped } = runFile(readFileSync(file, "utf8"));
    for (const { name, problem } of failed) console.log(`FAILED ${name}\n  ${problem.replaceAll("\n", "\n  ")}`);
    console.log(`passed ${passed.length}, failed ${failed.length}, skipped ${skipped.length}`);
    process.exitCode = failed.length === 0 ? 0 : 1;
  } catch (error) {
    console.error(`${file}: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 2;
  }
}
