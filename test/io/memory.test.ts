// What loading takes: the size of the arrays, not a copy more; and nothing for what a file only claims to hold.
import { afterAll, expect, test } from "bun:test";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as mx from "../../src/index.ts";
import { said } from "../helpers.ts";
import { makeNpy, makeSafetensors, npyHeader } from "./make-files.ts";
import { makeGguf, scratchFolder } from "./make-gguf.ts";

const folder = scratchFolder();
afterAll(folder.remove);

const MB = 1024 * 1024;
const size = 128 * MB;
const none = new Uint8Array(0);

/** A file whose data are zeros that take no room on the disk. */
function sparse(name: string, header: Uint8Array): string {
  const path = join(folder.path, name);
  writeFileSync(path, header);
  truncateSync(path, header.length + size);
  return path;
}

const files = (): string[] => [
  sparse("x.npy", makeNpy(npyHeader("<f4", [size / 4]), none)),
  sparse("y.npy", makeNpy(npyHeader("<f4", [4, size / 16], true), none)),
  sparse("z.npy", makeNpy(npyHeader(">f4", [size / 4]), none)),
  sparse("x.safetensors", makeSafetensors({ x: { dtype: "I8", shape: [size], data_offsets: [0, size] } })),
  sparse("x.gguf", makeGguf({ tensors: [{ name: "x", dims: [size / 4], type: 0 }] })),
  ...mx.tidy(() => {
    const zeros = mx.zeros([size], "int8");
    const paths = ["stored.npz", "deflated.npz"].map((name) => join(folder.path, name));
    mx.savez(paths[0]!, { zeros });
    mx.savezCompressed(paths[1]!, { zeros });
    return paths;
  }),
];

/** Data that deflating does not make smaller, so that the packed bytes count as well. */
function dense(bytes: number): string {
  const path = join(folder.path, "dense.npz");
  mx.tidy(() => mx.savezCompressed(path, { x: mx.random.normal([bytes / 4]) }));
  return path;
}

/** Peak memory of loading, in MB above what was there before. */
const program = (call: string): string => `
  import { readFileSync, writeFileSync } from "node:fs";
  mx.eval(mx.zeros([1]));
  const before = process.memoryUsage.rss();
  writeFileSync("/proc/self/clear_refs", "5");
  let end = "loaded";
  try { mx.eval(${call}); } catch (error) { end = "refused"; }
  const peak = Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]) * 1024;
  say(end + " " + Math.round((peak - before) / ${MB}));`;

if (process.platform === "linux") {
  test("no second copy of the data", async () => {
    for (const path of files()) {
      const [line] = await said(program(`mx.load(${JSON.stringify(path)})`));
      const [, end, peak] = /^(\w+) (-?\d+)$/.exec(line!)!;
      expect(end).toBe("loaded");
      expect(Number(peak)).toBeGreaterThan(size / MB - 32);
      expect(Number(peak)).toBeLessThan(size / MB + 64);
    }
  }, 60_000);

  test("nor of data that does not get smaller", async () => {
    const bytes = 80 * MB;
    const [line] = await said(program(`mx.load(${JSON.stringify(dense(bytes))})`));
    const [, end, peak] = /^(\w+) (-?\d+)$/.exec(line!)!;
    expect(end).toBe("loaded");
    expect(Number(peak)).toBeLessThan(bytes / MB + 64);
  }, 60_000);

  test("a GGUF that MLX converts is mapped beside the arrays", async () => {
    // Q8_0: blocks of 32 weights in 34 bytes, which become as many bytes, and scales and biases of 4.
    const blocks = (64 * MB) / 34;
    const weights = Math.floor(blocks / 4096) * 4096 * 32;
    const path = join(folder.path, "q8.gguf");
    const header = makeGguf({ tensors: [{ name: "x.weight", dims: [4096, weights / 4096], type: 8 }] });
    writeFileSync(path, header);
    const stored = (weights / 32) * 34;
    truncateSync(path, header.length + stored);
    const [line] = await said(program(`mx.load(${JSON.stringify(path)})`));
    const [, end, peak] = /^(\w+) (-?\d+)$/.exec(line!)!;
    expect(end).toBe("loaded");
    expect(Number(peak)).toBeLessThan((weights + weights / 8 + stored) / MB + 64);
  }, 60_000);

  test("nothing for claims", async () => {
    const huge = [2 ** 30, 64];
    const claims = [
      makeNpy(npyHeader("<f4", huge), none),
      makeSafetensors({ x: { dtype: "F32", shape: huge, data_offsets: [0, 2 ** 38] } }),
      makeGguf({ tensors: [{ name: "x", dims: huge, type: 0, data: none }] }),
    ];
    for (const [i, format] of ["npy", "safetensors", "gguf"].entries()) {
      const path = folder.write(`claim.${format}`, claims[i]!);
      const [line] = await said(program(`mx.load(${JSON.stringify(path)})`));
      const [, end, peak] = /^(\w+) (-?\d+)$/.exec(line!)!;
      expect(end).toBe("refused");
      expect(Number(peak)).toBeLessThan(32);
    }
  }, 60_000);
}
