// What loading takes: the size of the arrays, not a copy more; and nothing for what a file only claims to hold.
import { afterAll, expect, test } from "bun:test";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
];

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
