/** How long our plans take: prints one JSON line of nanoseconds a plan, the least of all rounds. */

import { attentionWork, metalLimits, planRanges, type PlanOptions } from "../../src/planner/index.ts";

const seconds = Number(process.argv[2] ?? 2);

// dK/dV of 131,072 rows. The rate is the planned one, as the published planner takes it.
const work = attentionWork({ pass: "dkv", n: 131_072, d: 128, hq: 32, hkv: 8 });
const limits = metalLimits("applegpu_g13s");
const plain: PlanOptions = { ...work, rate: 9.2897e11, safetyFactor: 1, blockAlign: 32, limits };

/** All that the published planner does not look at: environment, what is open, shared buffers, memory. */
function withFeatures(): PlanOptions {
  const fused = attentionWork({
    ...{ pass: "dkv", n: 131_072, d: 128, hq: 32, hkv: 8 },
    bufferIds: { q: "qkv", k: "qkv", v: "qkv" },
  });
  return {
    ...plain,
    inputs: fused.inputs,
    limits: metalLimits("applegpu_g13s", { environment: { MLX_MAX_OPS_PER_BUFFER: "2000" } }),
    initial: { ops: 3, elements: 1_000_000, seconds: 0.01, seen: ["rope"] },
    memory: { ...work.memory, workspaceBytes: 2 ** 26, limitBytes: 2 ** 34 },
  };
}

const features = withFeatures();
const sides: Record<string, () => unknown> = {
  published: () => planRanges({ ...plain, strategy: "published" }),
  balanced: () => planRanges(plain),
  features: () => planRanges(features),
  packed: () => planRanges({ ...features, mode: "packed" }),
  buffers: () => planRanges(features).buffers,
};

const best: Record<string, number> = {};
let kept: unknown;
const end = performance.now() + seconds * 1000;
while (performance.now() < end) {
  for (const [name, plan] of Object.entries(sides)) {
    const start = Bun.nanoseconds();
    for (let i = 0; i < 200; i++) kept = plan();
    best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, (Bun.nanoseconds() - start) / 200);
  }
}
if (kept === undefined) throw new Error("nothing was planned");
console.log(JSON.stringify(best));
