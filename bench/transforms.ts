/**
 * What transforms cost beside Python MLX, in one command: `bun bench/transforms.ts [rounds]`. The sides run
 * interleaved, each round in fresh processes, and the minimum of each figure counts, since the machine is shared; each
 * figure is taken so often that the engine has long compiled what it runs. The BLAS has one thread: with more, who
 * waits for whom decides on a busy machine.
 */

import { join } from "node:path";
import { pythonWithMlx } from "./python-env.ts";
import { minima } from "./sides.ts";

const rounds = Number(process.argv[2] ?? 5);
const here = join(import.meta.dir, "transforms");

const python = "Python MLX + OpenBLAS";
const best = minima(
  {
    "mlx-ts": [process.execPath, join(here, "transforms.ts")],
    [python]: [pythonWithMlx("openblas"), join(here, "transforms.py")],
    "Python MLX stock": [pythonWithMlx("stock"), join(here, "transforms.py"), "train"],
  },
  rounds,
  { OPENBLAS_NUM_THREADS: "1" },
);

const rows: Record<string, [title: string, unit: string, scale: number]> = {
  grad: ["valueAndGrad of a three-layer MLP, built and freed", "us", 1e3],
  compiled: ["a compiled call of that MLP's forward pass, built and freed", "us", 1e3],
  vmap: ["vmap of three operations, built and freed", "us", 1e3],
  train: ["100 steps of Adam, MLP 16-32-32-1, batch 32", "ms", 1e6],
  trainWide: ["100 steps of Adam, MLP 16-256-256-1, batch 32", "ms", 1e6],
  trainCompiled: ["100 compiled steps of Adam, MLP 16-32-32-1, tracing included", "ms", 1e6],
};
console.log(
  `Minima of ${rounds} interleaved rounds: of the best run, and of the middle one, which is less a matter of luck.`,
);
console.log("The factor is how much faster mlx-ts is.");
for (const [name, [title, unit, scale]] of Object.entries(rows)) {
  console.log(`\n${title}`);
  for (const [side, kept] of Object.entries(best)) {
    if (kept[name] === undefined) continue;
    const cells = [name, `${name}Middle`].map((figure) => {
      const factor = side === "mlx-ts" ? "" : `${(kept[figure]! / best["mlx-ts"]![figure]!).toFixed(2)}x`;
      return `${(kept[figure]! / scale).toFixed(1).padStart(10)} ${unit} ${factor.padStart(6)}`;
    });
    console.log(`  ${side.padEnd(24)}${cells.join("   ")}`);
  }
}
