// `bun run test:cuda` where it cannot run, and its tables: no reason for a file that is gone.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { runProcess } from "../../scripts/gate/process.ts";
import * as mx from "../../src/index.ts";
import { loadLibrary } from "../../src/core/native.ts";
import { differences } from "../cuda/differences.ts";
import { folders, leftOut } from "../cuda/files.ts";

const root = resolve(import.meta.dir, "../..");
const run = (library: string): ReturnType<typeof runProcess> =>
  runProcess([process.execPath, "scripts/cuda.ts"], { cwd: root, timeout: 60, env: { MLX_TS_LIBRARY: library } });

if (!mx.cuda.isAvailable()) {
  test("without a GPU it says so, and fails: nothing was checked", async () => {
    const { code, output } = await run(loadLibrary().folder);
    const why = process.platform === "linux" && process.arch === "x64" ? "no NVIDIA GPU is available" : "not for ";
    expect(output).toStartWith(`FAIL ${why}`);
    expect(output.trimEnd()).toEndWith("0 passed, 1 failed");
    expect(code).toBe(1);
  });
}

test("without the library it names the command that makes it", async () => {
  const { code, output } = await run(join(root, "nowhere"));
  if (process.platform === "linux" && process.arch === "x64") expect(output).toContain("--platform linux-x64-cuda");
  expect(code).toBe(1);
});

test("what is left out exists, in the folders that are run, and every reason is given", () => {
  for (const [file, reason] of Object.entries(leftOut)) {
    expect(existsSync(join(root, file)), file).toBe(true);
    expect(folders, file).toContain(file.split("/")[1] ?? "");
    expect(reason.length).toBeGreaterThan(10);
  }
  for (const { message, reason } of differences) {
    expect(message.test("")).toBe(false);
    expect(reason).not.toBe("");
  }
});
