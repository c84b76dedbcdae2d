// Child processes for the test gate: each runs in a process group of its own, so that a time limit ends everything it
// started, and nothing outlives the run.
import { spawn } from "node:child_process";
import { constants } from "node:os";

export interface ProcessResult {
  /** Exit code, or null when a signal ended the process. */
  code: number | null;
  signal: string | null;
  timedOut: boolean;
  /** Standard output and standard error in the order in which they arrived. */
  output: string;
  seconds: number;
}

export interface ProcessOptions {
  cwd?: string;
  env?: Record<string, string | undefined>;
  /** Limit in seconds; the whole group is killed when it passes. */
  timeout: number;
  /** Kills the whole group when it fires. */
  signal?: AbortSignal;
  /** Copies the output to this process's own output while it arrives. */
  echo?: boolean;
}

const groups = new Set<number>();

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    // ESRCH: the group is already gone, which is what was wanted. macOS answers EPERM for a group of zombies.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

let armed = false;

/** A runner that is interrupted or ends early takes its children with it. */
function killChildrenAtExit(): void {
  if (armed) return;
  armed = true;
  process.on("exit", () => groups.forEach(killGroup));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => process.exit(128 + constants.signals[signal]));
  }
}

/** Runs a command without standard input; resolves when it ended or was killed, and never rejects for its exit code. */
export function runProcess(command: readonly string[], options: ProcessOptions): Promise<ProcessResult> {
  killChildrenAtExit();
  const [file, ...args] = command;
  if (file === undefined) throw new TypeError("runProcess: the command is empty");
  const { promise, resolve } = Promise.withResolvers<ProcessResult>();
  const start = performance.now();
  const child = spawn(file, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env } as NodeJS.ProcessEnv,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const chunks: string[] = [];
  const collect = (chunk: Buffer): void => {
    chunks.push(chunk.toString("utf8"));
    if (options.echo) process.stdout.write(chunk);
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);

  const { pid } = child;
  if (pid !== undefined) groups.add(pid);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    if (pid !== undefined) killGroup(pid);
  }, options.timeout * 1000);

  options.signal?.addEventListener("abort", () => {
    if (pid !== undefined) killGroup(pid);
  });

  let settled = false;
  const finish = (code: number | null, signal: string | null): void => {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    const seconds = (performance.now() - start) / 1000;
    resolve({ code, signal, timedOut, output: chunks.join(""), seconds });
  };
  child.on("error", (error) => {
    chunks.push(`${file}: ${error.message}\n`);
    finish(127, null);
  });
  child.on("exit", (code, signal) => {
    // What the child left behind would keep the pipes open (and the machine busy).
    if (pid !== undefined) {
      killGroup(pid);
      groups.delete(pid);
    }
    child.on("close", () => finish(code, signal));
    setTimeout(() => finish(code, signal), 2000).unref();
  });
  return promise;
}

/** How a process ended, in words; null when it ended with exit code 0. */
export function describeEnd(result: ProcessResult, limit: number): string | null {
  if (result.timedOut) return `did not end within ${limit} s (killed with everything it started)`;
  if (result.signal !== null) return `crashed with ${result.signal}`;
  if (result.code === null) return "ended without an exit code";
  if (result.code > 128 && result.code < 160) return `crashed (exit code ${result.code}, signal ${result.code - 128})`;
  return result.code === 0 ? null : `exit code ${result.code}`;
}
