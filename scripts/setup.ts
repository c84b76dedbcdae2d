// `bun run setup`: what a checkout needs before anything runs: dependencies and the native libraries.
import { resolve } from "node:path";
import { missingPrerequisites, type Step, steps } from "./gate/steps.ts";

const root = resolve(import.meta.dir, "..");
const log = (line: string): void => console.log(line);
const missing = missingPrerequisites(root);
for (const line of missing) log(line);
let failed = missing.length > 0;
for (const name of failed ? [] : ["install", "native"]) {
  const step = steps.find((one) => one.name === name) as Step;
  log(step.title);
  const start = performance.now();
  const outcome = await step.run({ root, patterns: [], log });
  log(`${name}: ${outcome.failed === 0 ? "done" : "FAILED"} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
  failed = outcome.failed > 0;
  if (failed) break;
}
process.exit(failed ? 1 : 0);
