// `bun --hot` and `bun --watch` run a program again when a file changes: with the library loaded, that must not crash.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./run.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "mlx-ts-reload-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program that computes, keeps arrays and a closure alive, and has work in flight when it is run again. */
function program(version: number): string {
  return `
    import * as mx from ${JSON.stringify(join(root, "src/index.ts"))};
    const x = mx.array([${version}, 2, 3]);
    const gradient = mx.grad((a) => a.square().sum())(x);
    console.log("version ${version} " + JSON.stringify(gradient.tolist()));
    globalThis.kept = [x, gradient, new mx.Closure(([a]) => a.add(1))];
    mx.asyncEval(mx.random.normal([512, 512]).matmul(mx.random.normal([512, 512])));
    setInterval(() => {
      mx.dispose(mx.add(x, 1));
      Bun.gc(true);
    }, 20);
  `;
}

describe.each(["--hot", "--watch"])("bun %s", (flag) => {
  test("runs the new program, again and again", async () => {
    const file = join(folder, `program${flag}.ts`);
    writeFileSync(file, program(1));
    const child = spawn(process.execPath, [flag, "--no-clear-screen", file], {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    let end: string | null = null;
    child.on("exit", (code, signal) => (end = `code ${code}, signal ${signal}`));
    try {
      for (let version = 1; version <= 5; version++) {
        if (version > 1) writeFileSync(file, program(version));
        const line = `version ${version} [${2 * version},4,6]`;
        for (let i = 0; i < 200 && !output.includes(line) && end === null; i++) await Bun.sleep(50);
        expect({ output, end }).toEqual({ output: expect.stringContaining(line), end: null });
        await Bun.sleep(100);
      }
    } finally {
      child.kill("SIGKILL");
    }
    expect(output).not.toMatch(/panic|Segmentation|crash/i);
  }, 90_000);
});
