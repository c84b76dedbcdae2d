// `bun run fuzz:io [--count N] [--formats npy,npz,safetensors,gguf] [--seed S] [--start I] [--batch N]`: loads damaged
// files, N of each format, in processes of many inputs each. A crash, a hang, an error that is no MlxError, a handle
// left behind or memory beyond the arrays and 64 MB is a finding; the file is kept and named. The last line is
// `N passed, N failed`.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { damagedFile, type Format, formats } from "./io-inputs.ts";

const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    count: { type: "string", default: "2000" },
    formats: { type: "string", default: formats.join(",") },
    seed: { type: "string", default: "1" },
    start: { type: "string", default: "0" },
    batch: { type: "string", default: "5000" },
  },
});
const [count, seed, start, batch] = [values.count, values.seed, values.start, values.batch].map(Number) as [
  number,
  number,
  number,
  number,
];
/** Seconds without a new input that count as a hang. */
const HANG = 30;

interface Summary {
  loaded: number;
  refused: number;
  worstExtraMB: number;
  problems: [number, string][];
}

const folder = mkdtempSync(join(tmpdir(), "mlx-ts-fuzz-run-"));
const progress = join(folder, "progress");

function keep(format: Format, i: number, what: string): void {
  const path = join(tmpdir(), `mlx-ts-fuzz-${format}-${seed}-${i}.${format}`);
  writeFileSync(path, damagedFile(format, seed, i));
  console.log(`FAIL ${format} ${i}: ${what}\n     the input: ${path}`);
}

const reached = (): number => Number(readFileSync(progress, "utf8").trim());

/** Runs the inputs from `first` on, at most a batch. Returns where to go on, and what came of them. */
async function runBatch(
  format: Format,
  first: number,
  end: number,
): Promise<{ next: number; summary: Summary | null }> {
  writeFileSync(progress, String(first));
  const child = join(import.meta.dir, "io-child.ts");
  const run = Bun.spawn([process.execPath, child, format, String(seed), String(first), String(end), progress], {
    stdout: "pipe",
    stderr: "pipe",
  });
  let hangs = false;
  let last = { at: first, since: Date.now() };
  const watch = setInterval(() => {
    const at = reached();
    if (at !== last.at) last = { at, since: Date.now() };
    else if (Date.now() - last.since > HANG * 1000) {
      hangs = true;
      run.kill("SIGKILL");
    }
  }, 1000);
  const [code, output, errors] = await Promise.all([run.exited, run.stdout.text(), run.stderr.text()]);
  clearInterval(watch);
  if (code === 0) return { next: end, summary: JSON.parse(output.trimEnd().split("\n").at(-1)!) as Summary };
  const at = reached();
  const how = hangs ? `no end after ${HANG} s` : `the process ended with ${run.signalCode ?? code}`;
  keep(format, at, `${how}\n${errors.trimEnd().split("\n").slice(-5).join("\n")}`);
  return { next: at + 1, summary: null };
}

async function runFormat(format: Format): Promise<{ tried: number; failed: number }> {
  const total = { loaded: 0, refused: 0, worst: 0, failed: 0 };
  const begin = performance.now();
  const end = start + count;
  for (let at = start; at < end;) {
    const { next, summary } = await runBatch(format, at, Math.min(end, at + batch));
    at = next;
    if (summary === null) {
      total.failed++;
      continue;
    }
    total.loaded += summary.loaded;
    total.refused += summary.refused;
    total.worst = Math.max(total.worst, summary.worstExtraMB);
    total.failed += summary.problems.length;
    for (const [i, what] of summary.problems) keep(format, i, what);
  }
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  console.log(
    `${format}: ${count} inputs from ${start}, seed ${seed}: ${total.loaded} loaded, ${total.refused} refused, ` +
      `${total.failed} findings, at most ${total.worst} MB above the arrays, ${seconds} s`,
  );
  return { tried: count, failed: total.failed };
}

let passed = 0;
let failed = 0;
try {
  for (const name of values.formats.split(",")) {
    if (!formats.includes(name as Format))
      throw new Error(`no format is called "${name}"; there are ${formats.join(", ")}`);
    const result = await runFormat(name as Format);
    passed += result.tried - result.failed;
    failed += result.failed;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
