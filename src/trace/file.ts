/**
 * The trace's file. Threads, child processes and recordings that name the same path share it: whoever writes reads what
 * is there, puts its own events in, and moves the whole into place, so that the file is valid at any moment.
 */

import { lstatSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { MlxError } from "../core/error.ts";
import { ancestorKeys, processKey, tid } from "./clock.ts";
import type { TraceEvent, TraceFile } from "./chrome.ts";
import { put } from "./merge.ts";

/** Names the run: what does not belong to it is overwritten. Children get it through their environment. */
export const sessionVariable = "MLX_TS_TRACE_SESSION";

// Milliseconds that a file is written in at most: whoever holds the lock for longer is not coming back.
const LONGEST = 10_000;

export function session(): string {
  return process.env[sessionVariable] ?? processKey();
}

/** An empty trace whose time begins at `baseUs`. */
export function emptyTrace(baseUs: number): TraceFile {
  return {
    traceEvents: [],
    displayTimeUnit: "ms",
    otherData: { format: "mlx-ts trace", session: session(), baseUs, writers: [] },
  };
}

/** What this run has written to a path, or null: nothing yet, or another run's. */
function existing(path: string): TraceFile | null {
  let file: Partial<TraceFile>;
  try {
    file = JSON.parse(readFileSync(path, "utf8")) as Partial<TraceFile>;
  } catch {
    return null;
  }
  const data = file?.otherData;
  if (data?.format !== "mlx-ts trace") return null;
  // A child may have been given an environment without the session: Bun.spawn gives the one that its parent had at first.
  const ours = [session(), processKey()].includes(data.session) || ancestorKeys().includes(data.session);
  return ours ? (file as TraceFile) : null;
}

/** Whether the process that wrote a lock has gone, or has held it for too long. */
function isStale(lock: string): boolean {
  try {
    if (Date.now() - statSync(lock).mtimeMs > LONGEST) return true;
    const owner = Number(readFileSync(lock, "utf8"));
    // Its owner may not have written its number yet.
    if (owner > 0) process.kill(owner, 0);
    return false;
  } catch (error) {
    // No such process. Where the lock itself has gone meanwhile, the next attempt will tell.
    return (error as { code?: string }).code === "ESRCH";
  }
}

function locked(path: string, work: () => void): void {
  const lock = `${path}.lock`;
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: "wx" });
      break;
    } catch (error) {
      if ((error as { code?: string }).code !== "EEXIST") throw error;
      if (isStale(lock)) rmSync(lock, { force: true });
      else Bun.sleepSync(2);
    }
  }
  try {
    work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Where a link leads to. Throws for what is there and is no file: a device would be replaced. */
function placeOf(path: string): string {
  const target = resolve(path);
  // Another thread may be moving its file into place: on some file systems there is none for a moment.
  if (lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink() === true) return placeOf(realpathSync(target));
  const stat = statSync(target, { throwIfNoEntry: false });
  if (stat === undefined || stat.isFile()) return target;
  throw new Error(stat.isDirectory() ? "it is a folder" : "it is no file");
}

/** Puts the events of a writer into the file; `events` gets the time at which the file begins. */
export function writeTrace(path: string, id: string, baseUs: number, events: (baseUs: number) => TraceEvent[]): void {
  let temporary = "";
  try {
    const target = placeOf(path);
    temporary = `${target}.${process.pid}-${tid}.tmp`;
    locked(target, () => {
      const file = existing(target) ?? emptyTrace(baseUs);
      put(file, id, events(file.otherData.baseUs));
      writeFileSync(temporary, JSON.stringify(file));
      renameSync(temporary, target);
    });
  } catch (error) {
    if (temporary !== "") rmSync(temporary, { force: true });
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    // The system would name the lock.
    const reason = code === "ENOENT" && syscall === "open" ? "there is no such folder" : message;
    throw new MlxError("trace", `${path} cannot be written: ${reason}.`);
  }
}
