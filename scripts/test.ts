// `bun run test`: everything that must hold, from a clean clone. Nothing from node_modules is imported here, since the
// first step is what installs it.
//
//   bun run test                     all steps
//   bun run test --fast              without the slow steps
//   bun run test --only types        one step (may be given several times)
//   bun run test test/core mask      only the test files whose path contains one of these words
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { missingPrerequisites, type Step, type StepOutcome, steps } from "./gate/steps.ts";

const root = resolve(import.meta.dir, "..");
const log = (line: string): void => console.log(line);
const names = steps.map((step) => step.name).join(", ");

function choose(): { chosen: readonly Step[]; patterns: string[] } {
  const { values, positionals } = parseArgs({
    args: Bun.argv.slice(2),
    allowPositionals: true,
    options: { only: { type: "string", multiple: true }, fast: { type: "boolean" }, help: { type: "boolean" } },
  });
  if (values.help) {
    log(`usage: bun run test [--fast] [--only STEP] [PART-OF-A-TEST-FILE'S-PATH ...]\nsteps: ${names}`);
    process.exit(0);
  }
  const only = values.only ?? (positionals.length > 0 ? ["tests"] : undefined);
  const unknown = only?.find((name) => !steps.some((step) => step.name === name));
  if (unknown !== undefined) throw new Error(`no step is called "${unknown}"; the steps are ${names}`);
  const chosen = steps.filter((step) => (only === undefined ? !(values.fast && step.slow) : only.includes(step.name)));
  return { chosen, patterns: positionals };
}

async function runStep(step: Step, number: string, patterns: string[]): Promise<StepOutcome> {
  log(`\n[${number}] ${step.title}`);
  const start = performance.now();
  const seconds = (): string => ((performance.now() - start) / 1000).toFixed(1);
  const pulse = setInterval(() => log(`  ... still at it after ${seconds()} s`), 60_000);
  try {
    const outcome = await step.run({ root, patterns, log });
    const ok = outcome.failed === 0 && outcome.passed > 0;
    log(
      `[${number}] ${step.name}: ${ok ? "ok" : "FAILED"} (${outcome.passed} passed, ${outcome.failed} failed, ${seconds()} s)`,
    );
    return ok ? outcome : { passed: outcome.passed, failed: Math.max(1, outcome.failed) };
  } catch (error) {
    log(`[${number}] ${step.name}: FAILED, the step itself broke: ${Bun.inspect(error)}`);
    return { passed: 0, failed: 1 };
  } finally {
    clearInterval(pulse);
  }
}

async function main(): Promise<number> {
  let choice: ReturnType<typeof choose>;
  try {
    choice = choose();
  } catch (error) {
    log(`error: ${error instanceof Error ? error.message : String(error)}`);
    return 2;
  }
  const { chosen, patterns } = choice;
  const missing = missingPrerequisites(root);
  for (const line of missing) log(line);
  const total = { passed: 0, failed: missing.length };
  const timings: string[] = [];
  log(
    `mlx-ts tests on ${process.platform}-${process.arch}, Bun ${Bun.version}: ${chosen.map((s) => s.name).join(", ")}`,
  );
  for (const [index, step] of missing.length > 0 ? [] : chosen.entries()) {
    const start = performance.now();
    const { passed, failed } = await runStep(step, `${index + 1}/${chosen.length}`, patterns);
    total.passed += passed;
    total.failed += failed;
    timings.push(`${step.name} ${((performance.now() - start) / 1000).toFixed(1)} s${failed > 0 ? " (failed)" : ""}`);
    if (failed > 0 && step.essential) {
      log(`\nNothing after "${step.name}" can run without it.`);
      break;
    }
  }
  log(`\n${timings.join(" · ")}`);
  log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 && total.passed > 0 ? 0 : 1;
}

process.exit(await main());
