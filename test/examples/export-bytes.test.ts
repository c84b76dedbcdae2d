// examples/export-bytes.ts as a user runs it: the file holds the tensor, and the process has not grown by a copy of it.
import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProcess } from "../../scripts/gate/process.ts";
import { root } from "../helpers.ts";

test("64 MB go to a file and through a hash without a copy", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mlx-ts-example-"));
  try {
    const path = join(folder, "waves.safetensors");
    const result = await runProcess([process.execPath, join(root, "examples/export-bytes.ts"), path], {
      cwd: root,
      timeout: 60,
    });
    const lines = result.output.trim().split("\n");
    expect(lines[0]).toBe("before it is computed: arrayNotAvailable");
    expect(lines[1]).toMatch(/^StorageView\(\w+, float32\[4096, 4096\], bytes 0 to 67108864 of \d+\)$/);
    const grown = /^written and hashed 64 MB; the process grew by (-?\d+) MB$/.exec(lines[2]!)?.[1];
    expect(Number(grown)).toBeLessThan(32);
    expect(lines.slice(3)).toEqual([
      "the file holds the tensor: true",
      "the hashes agree: true",
      "after dispose: 0 bytes",
    ]);
    expect(statSync(path).size).toBeGreaterThan(2 ** 26);
    expect(result.code).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 70_000);

test("a flag is no name for a file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mlx-ts-example-"));
  try {
    const command = [process.execPath, join(root, "examples/export-bytes.ts"), "--nosuch"];
    const { code, output } = await runProcess(command, { cwd: folder, timeout: 60 });
    expect(output).toContain("usage: bun examples/export-bytes.ts");
    expect(code).toBe(1);
    expect(existsSync(join(folder, "--nosuch"))).toBe(false);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 30_000);
