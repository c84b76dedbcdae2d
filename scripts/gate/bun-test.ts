// Runs one test file with `bun test` in a process of its own and judges it. `bun test` exits 0 for a file without
// tests and after process.exit(0) inside a test, and a crash takes the files after it along: so nothing here trusts
// the exit code alone, and each file has its own process.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve, sep } from "node:path";
import { parseJUnit } from "./junit.ts";
import { describeEnd, runProcess } from "./process.ts";

export interface FileVerdict {
  /** Path relative to the root, with forward slashes. */
  file: string;
  passed: number;
  failed: number;
  /** What is wrong beside failing tests: a crash, a hang, no report, no tests, a skipped test. */
  problem: string | null;
  seconds: number;
  /** The summary lines of `bun test` itself. */
  summary: string;
  output: string;
}

export interface FileOptions {
  root: string;
  /** Limit for the whole file, in seconds. */
  timeout: number;
  env?: Record<string, string | undefined>;
  /** Limit for one test, in seconds. */
  testTimeout?: number;
  /** More arguments for `bun test`. */
  args?: readonly string[];
  /** The Bun to run; this one when absent. */
  bun?: string;
  /** How many tests those arguments leave out. Any other number of tests that did not run is a problem. */
  leftOut?: number;
}

const summaryLine = /^\s*\d+ (?:pass|fail|skip|todo|error|errors)$|^Ran \d+ tests? across/;

/** Runs a test file and says how many of its tests passed and failed; a file that did not do its job has a problem. */
export async function runTestFile(file: string, options: FileOptions): Promise<FileVerdict> {
  const root = resolve(options.root);
  const path = relative(root, resolve(root, file)).split(sep).join("/");
  const folder = mkdtempSync(join(tmpdir(), "mlx-ts-junit-"));
  const reportFile = join(folder, "report.xml");
  try {
    const limit = options.testTimeout ?? 60;
    const result = await runProcess(
      [
        options.bun ?? process.execPath,
        "test",
        `--timeout=${limit * 1000}`,
        "--reporter=junit",
        `--reporter-outfile=${reportFile}`,
        ...(options.args ?? []),
        `./${path}`,
      ],
      { cwd: root, env: { NO_COLOR: "1", CI: "true", ...options.env }, timeout: options.timeout },
    );
    const report = existsSync(reportFile) ? readFileSync(reportFile, "utf8") : null;
    const { passed, failed, problem } = judge(path, report, describeEnd(result, options.timeout), options.leftOut);
    const summary = result.output
      .split("\n")
      .filter((line) => summaryLine.test(line))
      .map((line) => line.trim())
      .join(", ");
    return { file: path, passed, failed, problem, seconds: result.seconds, summary, output: result.output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The verdict on one file from its JUnit report (null: there is none) and the end of its process (null: exit 0). */
export function judge(
  file: string,
  xml: string | null,
  end: string | null,
  leftOut: number = 0,
): { passed: number; failed: number; problem: string | null } {
  if (xml === null) {
    const problem = end ?? "no test ran, or the process left before the end (process.exit in a test?): no report";
    return { passed: 0, failed: 1, problem };
  }
  let report;
  try {
    report = parseJUnit(xml);
  } catch (error) {
    return { passed: 0, failed: 1, problem: `${(error as Error).message}${end === null ? "" : `; ${end}`}` };
  }
  const passed = report.executed - report.failed;
  const problems: string[] = [];
  if (report.executed === 0) problems.push("no test ran");
  if (!report.files.includes(file)) problems.push(`the report does not mention ${file}`);
  if (report.skipped !== leftOut) {
    problems.push(`${report.skipped} skipped${leftOut === 0 ? "" : `, and not ${leftOut}`}`);
  }
  // A failing test explains exit code 1 by itself; anything else is a problem of its own.
  if (end !== null && !(report.failed > 0 && end === "exit code 1")) problems.push(end);
  if (problems.length === 0) return { passed, failed: report.failed, problem: null };
  return { passed, failed: report.failed + 1, problem: problems.join("; ") };
}
