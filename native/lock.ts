// Two builds of one folder at a time would trip over each other: the second waits for the first, then finds it done.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Runs `body` while this process holds the lock file at `path`. A lock whose process has died is taken over. */
export async function withLock<T>(path: string, log: (line: string) => void, body: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(path), { recursive: true });
  let waiting = false;
  while (!tryLock(path)) {
    if (holderIsDead(path)) {
      rmSync(path, { force: true });
      continue;
    }
    if (!waiting) log("another build of the same folder is running: waiting for it");
    waiting = true;
    await Bun.sleep(100);
  }
  try {
    return await body();
  } finally {
    rmSync(path, { force: true });
  }
}

function tryLock(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

function holderIsDead(path: string): boolean {
  if (!existsSync(path)) return false;
  const holder = Number.parseInt(readFileSync(path, "utf8"), 10);
  // A holder that has not written its number yet is alive.
  if (!Number.isInteger(holder)) return false;
  try {
    process.kill(holder, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
