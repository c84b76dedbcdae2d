// `bun run fuzz:index [--count N] [--seed S]`: random indices, read and written, against the reference of
// test/property. Each child process runs a few thousand, so that a crash costs no more than its child and is named.
import { parseArgs } from "node:util";
import { resolve } from "node:path";
import { describeEnd, runProcess } from "./gate/process.ts";

const root = resolve(import.meta.dir, "..");
const perChild = 5000;
const limit = 300;

const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    count: { type: "string", default: "100000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    // A child: runs this many itself, one after another.
    run: { type: "string" },
  },
});

function whole(text: string, name: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  console.error(`fuzz:index: --${name} must be a non-negative integer, got "${text}"`);
  process.exit(2);
}

const seed = whole(values.seed, "seed");
if (values.run === undefined) await parent(whole(values.count, "count"));
else await child(whole(values.run, "run"));

async function child(count: number): Promise<void> {
  const { default: fc } = await import("fast-check");
  const { cases, check } = await import("../test/property/checks.ts");
  const { memory } = await import("../src/index.ts");
  const { functions } = await import("../src/ffi.ts");
  const kinds: Record<string, number> = {};
  const property = fc.property(cases, (one) => {
    kinds[one.kind] = (kinds[one.kind] ?? 0) + 1;
    check(one);
  });
  // The first index makes what is made once: the default stream, for one.
  fc.assert(property, { numRuns: 1, seed });
  const handles = (): number[] => [memory().liveHandles, functions.mlxts_live_handles(), memory().rescued];
  const before = handles();
  fc.assert(property, { numRuns: count - 1, seed });
  const left = handles().map((now, i) => now - before[i]!);
  if (left.some((n) => n !== 0)) throw new Error(`handles left, in native code, rescued: ${left.join(", ")}`);
  console.log(JSON.stringify(kinds));
}

async function parent(count: number): Promise<never> {
  const start = performance.now();
  const total: Record<string, number> = {};
  let failed = 0;
  console.log(`${count} random indices, seed ${seed}, ${perChild} a process`);
  for (let done = 0, part = 0; done < count; part++) {
    const size = Math.min(perChild, count - done);
    const args = ["scripts/fuzz-index.ts", "--run", String(size), "--seed", String(seed + part)];
    const result = await runProcess([process.execPath, ...args], { cwd: root, timeout: limit, env: { NO_COLOR: "1" } });
    const problem = describeEnd(result, limit);
    const kinds = /^\{.*\}$/m.exec(result.output)?.[0];
    if (problem !== null || kinds === undefined) {
      failed++;
      console.log(`FAIL bun ${args.join(" ")}: ${problem ?? "said nothing"}\n${result.output}`);
    } else {
      for (const [kind, n] of Object.entries(JSON.parse(kinds) as Record<string, number>)) {
        total[kind] = (total[kind] ?? 0) + n;
      }
    }
    done += size;
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const parts = Object.entries(total).map(([kind, n]) => `${n} ${kind}`);
  console.log(`${parts.join(", ")}: ${failed} processes failed, ${seconds} s`);
  process.exit(failed === 0 ? 0 : 1);
}
