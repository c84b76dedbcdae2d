/**
 * Plans a second beside the published planner, in one command: `bun bench/planner.ts [rounds]`. dK/dV at n = 131,072,
 * batch 1, 32 heads over 8, d = 128, blocks of 32 rows. The sides run interleaved, each round in fresh processes, and
 * the minimum counts, since the machine is shared.
 */

import { join } from "node:path";
import { publishedPin, publishedPlanner } from "./planner/published.ts";
import { minima } from "./sides.ts";

const rounds = Number(process.argv[2] ?? 5);
const seconds = "2";
const { python, env, script } = publishedPlanner();
const best = minima(
  {
    ours: [process.execPath, join(import.meta.dir, "planner", "own.ts"), seconds],
    theirs: [python, script, "time", seconds],
  },
  rounds,
  env,
);

const titles: Readonly<Record<string, string>> = {
  published: 'strategy "published": the same 320 ranges',
  balanced: 'strategy "balanced"',
  features: '"balanced" with environment, open buffer, shared buffers and memory',
  packed: "the same, packed",
  buffers: "the same, explicit, with its 320 modelled buffers read",
};
const theirs = best["theirs"]!["published"]!;
const rate = (nanoseconds: number): string => Math.round(1e9 / nanoseconds).toLocaleString("en-US");
console.log(`Minima of ${rounds} interleaved rounds, plans a second.`);
console.log(`  ${`mlx-train-perf ${publishedPin.version} (Python)`.padEnd(70)} ${rate(theirs).padStart(9)}`);
for (const [name, title] of Object.entries(titles)) {
  const own = best["ours"]![name]!;
  console.log(`  ${title.padEnd(70)} ${rate(own).padStart(9)}   ${(theirs / own).toFixed(1)}x`);
}
