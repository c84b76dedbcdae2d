/** The clock of a thread, and who the thread is. */

import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import { isMainThread, threadId } from "node:worker_threads";

/** Nanoseconds since the thread began. */
export const now = (): number => Bun.nanoseconds();

/** Microseconds since 1970 at which the thread's clock was zero. */
export const epoch: number = performance.timeOrigin * 1000;

function read<T>(from: () => T): T | null {
  try {
    return from();
  } catch {
    return null;
  }
}

/** The system's number of this thread where it tells; else the process's for the main thread, and one past it. */
function systemThread(): number {
  const link = read(() => readlinkSync("/proc/thread-self"));
  const tid = Number(link?.split("/").at(-1));
  return Number.isInteger(tid) && tid > 0 ? tid : process.pid + threadId;
}

export const pid: number = process.pid;
export const tid: number = systemThread();
export const isMain: boolean = isMainThread;
export const threadName: string = isMainThread ? "main" : `Worker ${threadId}`;

/** "bun train.ts" */
export function processName(): string {
  return ["bun", ...process.argv.slice(1, 2).map((path) => basename(path))].join(" ");
}

/** What Linux tells of a process: the number of its parent, and when it began. */
function processStat(id: number | "self"): { parent: number; started: string } | null {
  const stat = read(() => readFileSync(`/proc/${id}/stat`, "utf8"));
  // The name before may hold anything.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields === undefined ? null : { parent: Number(fields[1]), started: fields[19]! };
}

/**
 * The same in all threads of one process, and in no other process: a process may get the number of one that is gone,
 * so the time of its start is part of it where the system tells.
 */
export function processKey(): string {
  const stat = processStat("self");
  return stat === null ? String(pid) : `${pid}-${stat.started}`;
}

/** The keys of the processes that this one descends from, as far as the system tells: else its parent's alone. */
export function ancestorKeys(): string[] {
  const keys: string[] = [];
  for (let id = process.ppid; id > 0;) {
    const stat = processStat(id);
    keys.push(stat === null ? String(id) : `${id}-${stat.started}`);
    id = stat?.parent ?? 0;
  }
  return keys;
}
