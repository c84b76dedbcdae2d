// Runs cases in a child process. A crash or a hang costs the one case that caused it: it is recorded as failed, and a
// new child goes on with the next.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeEnd, runProcess } from "../../scripts/gate/process.ts";
import { type Case, type Header, readCases } from "./format.ts";
import type { CaseResult } from "./run-case.ts";

export interface Selection {
  /** Kinds to run; all when absent. */
  kinds?: readonly string[];
  /** Beginnings of function names; all when absent. */
  names?: readonly string[];
  /** Which part of how many, from 0: each takes every so manieth of the chosen cases. All when absent. */
  part?: readonly [index: number, of: number];
}

export interface RunOptions extends Selection {
  /** Seconds that one case may take. */
  caseTimeout?: number;
  /** The script that runs the cases: of the library, unless another is named. */
  child?: string;
  /** What runs the script. Default: this Bun. */
  program?: string;
  /** The folder of the binary inputs of `io` cases. */
  files?: string;
  /** More of the environment of the process that runs the cases. */
  env?: Record<string, string | undefined>;
}

export interface ParityRun {
  header: Header;
  cases: Case[];
  results: CaseResult[];
}

/** The name that a case is reported under: its function, layer, optimizer or schedule, otherwise its form. */
export function nameOf(one: Case): string {
  if (one.fn !== undefined) return one.fn;
  if (typeof one.layer === "string") return `nn.${one.layer}`;
  if (typeof one.name === "string") {
    if (one.kind === "init") return `nn.init.${one.name}`;
    return `optimizers.${one.name}`;
  }
  return one.form ?? one.kind;
}

export function select(cases: readonly Case[], { kinds, names, part }: Selection): Case[] {
  const chosen = cases.filter(
    (one) =>
      (kinds === undefined || kinds.includes(one.kind)) &&
      (names === undefined || names.some((prefix) => nameOf(one).startsWith(prefix))),
  );
  return part === undefined ? chosen : chosen.filter((_, at) => at % part[1] === part[0]);
}

interface Progress {
  results: CaseResult[];
  /** The case that was begun and not ended. */
  open: string | null;
}

function readProgress(file: string): Progress {
  const progress: Progress = { results: [], open: null };
  if (!existsSync(file)) return progress;
  for (const line of readFileSync(file, "utf8").split("\n")) {
    // A process that is killed while it writes leaves half a line; its case is then still open.
    if (!line.startsWith("{") || !line.endsWith("}")) continue;
    const entry = JSON.parse(line) as { start?: string } & CaseResult;
    if (entry.start !== undefined) {
      progress.open = entry.start;
    } else {
      progress.results.push(entry);
      progress.open = null;
    }
  }
  return progress;
}

/** Runs one child until it ends or stands still for too long. */
async function runChild(
  command: string[],
  results: string,
  caseTimeout: number,
  env: Record<string, string | undefined>,
): Promise<string | null> {
  const limit = 3600;
  let last = -1;
  let since = performance.now();
  const abort = new AbortController();
  const watch = setInterval(() => {
    const size = existsSync(results) ? statSync(results).size : 0;
    if (size !== last) since = performance.now();
    last = size;
    if (performance.now() - since > caseTimeout * 1000) abort.abort();
  }, 250);
  try {
    const result = await runProcess(command, { timeout: limit, signal: abort.signal, env });
    if (abort.signal.aborted) return `stood still for ${caseTimeout} s and was killed`;
    const end = describeEnd(result, limit);
    return end === null ? null : `${end}\n${result.output.trim().slice(-600)}`;
  } finally {
    clearInterval(watch);
  }
}

/** Runs the selected cases of a file and returns one result for each. */
export async function runParity(file: string, options: RunOptions = {}): Promise<ParityRun> {
  const { header, cases } = await readCases(file);
  const chosen = select(cases, options);
  const folder = mkdtempSync(join(tmpdir(), "mlx-ts-parity-"));
  const results = join(folder, "results");
  const child = options.child ?? join(import.meta.dir, "child.ts");
  const caseTimeout = options.caseTimeout ?? 30;
  const done = new Map<string, CaseResult>();
  try {
    for (let attempt = 0; done.size < chosen.length; attempt++) {
      const part = `${results}${attempt}`;
      writeFileSync(`${part}.ids`, chosen.flatMap(({ id }) => (done.has(id) ? [] : id)).join("\n"));
      const problem = await runChild(
        [options.program ?? process.execPath, child, file, part, options.files ?? ""],
        part,
        caseTimeout,
        options.env ?? {},
      );
      const { results: ended, open } = readProgress(part);
      for (const result of ended) done.set(result.id, result);
      if (open !== null) {
        done.set(open, { id: open, status: "failed", message: `the process ${problem ?? "ended"} in this case` });
      } else if (ended.length === 0) {
        throw new Error(`the process that runs the cases ${problem ?? "ended without running one"}`);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { header, cases: chosen, results: chosen.map(({ id }) => done.get(id) as CaseResult) };
}
