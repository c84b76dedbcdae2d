/**
 * What a call costs beside C and Python, in one command: `bun bench/overhead.ts [rounds]`. The three sides run
 * interleaved, each round in fresh processes, and the minimum of each figure counts, since the machine is shared.
 */

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { pythonWithMlx } from "./python-env.ts";
import { minima } from "./sides.ts";

const rounds = Number(process.argv[2] ?? 5);
const here = join(import.meta.dir, "overhead");
const lib = join(import.meta.dir, "..", "native", "build", "linux-x64");

function buildC(): string {
  const program = join(import.meta.dir, "..", ".cache", "overhead-c");
  mkdirSync(join(import.meta.dir, "..", ".cache"), { recursive: true });
  if (!existsSync(lib)) throw new Error('Build the native libraries first: "bun native/build.ts".');
  const flags = ["-O2", `-I${join(lib, "include")}`, `-L${join(lib, "lib")}`, `-Wl,-rpath,${join(lib, "lib")}`];
  const link = ["-lmlxc", `-Wl,-rpath-link,${join(lib, "lib")}`];
  const result = Bun.spawnSync(["cc", join(here, "overhead.c"), ...flags, ...link, "-o", program]);
  if (result.exitCode !== 0) throw new Error(result.stderr.toString());
  return program;
}

const sides: Record<string, string[]> = {
  C: [buildC()],
  "mlx-ts": [process.execPath, join(here, "overhead.ts")],
  "Python MLX + OpenBLAS": [pythonWithMlx("openblas"), join(here, "overhead.py")],
  "Python MLX stock": [pythonWithMlx("stock"), join(here, "overhead.py"), "matmul"],
};

const best = minima(sides, rounds);

const rows: Record<string, string> = {
  add: "add(scalar, scalar) build + dispose, ns",
  ndim: "a.ndim, ns",
  graph50: "50-op graph build + dispose, ns",
  matmul: "512 x 512 x 512 f32 matmul + eval, ns",
};
console.log(`Minima of ${rounds} interleaved rounds.`);
for (const [name, title] of Object.entries(rows)) {
  console.log(`\n${title}`);
  const floor = best["C"]![name]!;
  for (const [side, kept] of Object.entries(best)) {
    const value = kept[name];
    if (value === undefined) continue;
    const speed = name === "matmul" ? `  ${((2 * 512 ** 3) / value).toFixed(1)} GFLOP/s` : "";
    console.log(`  ${side.padEnd(24)} ${value.toFixed(1).padStart(12)}   ${(value / floor).toFixed(2)}x of C${speed}`);
  }
}
