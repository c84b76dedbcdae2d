// Finds the test files and runs them, each in its own process, two at a time.
import { availableParallelism } from "node:os";
import { join, sep } from "node:path";
import { type FileVerdict, runTestFile } from "./bun-test.ts";
import type { StepOutcome } from "./steps.ts";

/** Files that watch time or memory run one after another, with nothing beside them. */
const alone = /^test\/(?:crash|leak|package|scripts)\//;

/** Test files under test/, relative to the root; patterns are parts of a path, as for `bun test`. */
export function findTestFiles(root: string, patterns: readonly string[] = []): string[] {
  const files = [...new Bun.Glob("test/**/*.test.ts").scanSync({ cwd: root })].map((file) => file.split(sep).join("/"));
  const wanted = (file: string): boolean => patterns.length === 0 || patterns.some((p) => file.includes(p));
  return files.filter((file) => !file.includes("/fixtures/") && wanted(file)).sort();
}

export interface TestRun {
  root: string;
  patterns: readonly string[];
  /** Only files for which this is true. */
  only?: (file: string) => boolean;
  log: (line: string) => void;
  /** Limit for one file, in seconds. */
  timeout?: number;
  env?: Record<string, string | undefined>;
}

/** Runs the files that match and adds up what happened. No file at all is a failure. */
export async function runTestFiles(run: TestRun): Promise<StepOutcome> {
  const files = findTestFiles(run.root, run.patterns).filter(run.only ?? (() => true));
  if (files.length === 0) {
    run.log(`no test file ${run.patterns.length === 0 ? "under test/" : `matches ${run.patterns.join(", ")}`}`);
    return { passed: 0, failed: 1 };
  }
  const verdicts: FileVerdict[] = [];
  const worker = async (queue: string[]): Promise<void> => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      const verdict = await runTestFile(join(run.root, file), {
        root: run.root,
        timeout: run.timeout ?? 240,
        ...(run.env === undefined ? {} : { env: run.env }),
      });
      verdicts.push(verdict);
      report(verdict, run.log);
    }
  };
  const together = files.filter((file) => !alone.test(file));
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, () => worker(together)));
  await worker(files.filter((file) => alone.test(file)));

  const passed = verdicts.reduce((sum, verdict) => sum + verdict.passed, 0);
  const failed = verdicts.reduce((sum, verdict) => sum + verdict.failed, 0);
  const missing = files.filter((file) => !verdicts.some((verdict) => verdict.file === file));
  for (const file of missing) run.log(`  ${file} never ran`);
  run.log(`  ${verdicts.length} files: ${passed} pass, ${failed} fail`);
  return { passed, failed: failed + missing.length };
}

function report(verdict: FileVerdict, log: (line: string) => void): void {
  const bad = verdict.failed > 0;
  const what = verdict.summary === "" ? "no summary" : verdict.summary;
  log(`  ${bad ? "FAIL" : "ok  "} ${verdict.file}  ${what}`);
  if (!bad) return;
  if (verdict.problem !== null) log(`       ${verdict.file}: ${verdict.problem}`);
  for (const line of tail(verdict.output, 120)) log(`       ${line}`);
}

/** The last lines of an output: enough to see what failed, without flooding the log. */
export function tail(text: string, count: number): string[] {
  const lines = text.trimEnd().split("\n");
  return lines.length <= count ? lines : [`... (${lines.length - count} lines before)`, ...lines.slice(-count)];
}
