// One build of a folder at a time.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withLock } from "../../native/lock.ts";

let folder = "";
const quiet = (): void => undefined;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "mlx-ts-lock-"));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test("a second holder waits, says so once, and both results come back", async () => {
  const path = join(folder, "deep", "one.lock");
  const order: string[] = [];
  const lines: string[] = [];
  const hold = (name: string): Promise<string> =>
    withLock(
      path,
      (line) => lines.push(line),
      async () => {
        order.push(`${name} in`);
        await Bun.sleep(150);
        order.push(`${name} out`);
        return name;
      },
    );
  expect(await Promise.all([hold("first"), hold("second")])).toEqual(["first", "second"]);
  expect(order).toEqual(["first in", "first out", "second in", "second out"]);
  expect(lines).toEqual(["another build of the same folder is running: waiting for it"]);
  expect(existsSync(path)).toBe(false);
});

test("a failure releases the lock and comes through", async () => {
  const path = join(folder, "failing.lock");
  const failing = withLock(path, quiet, async () => {
    throw new Error("broken off");
  });
  expect(failing).rejects.toThrow("broken off");
  await failing.catch(quiet);
  expect(existsSync(path)).toBe(false);
});

test("the lock of a process that died is taken over", async () => {
  const path = join(folder, "stale.lock");
  const dead = Bun.spawn([process.execPath, "--version"], { stdout: "ignore" });
  await dead.exited;
  writeFileSync(path, String(dead.pid));
  expect(await withLock(path, quiet, async () => "taken")).toBe("taken");
});
