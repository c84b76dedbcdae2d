// The process that loads damaged files: io-child.ts FORMAT SEED FIRST END PROGRESS. Before each input its number goes
// to the file PROGRESS, so that a crash or a hang names its input. The last line of the output is a JSON summary.
import { openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import * as mx from "../../src/index.ts";
import { peakRss, resetPeakRss, rss } from "../leak/measure.ts";
import { damagedFile, type Format } from "./io-inputs.ts";

const MB = 1024 * 1024;
/** What loading may take above the size of the arrays. */
const SLACK = 64 * MB;

const [format, seed, first, end, progress] = Bun.argv.slice(2) as [Format, string, string, string, string];
// Beside PROGRESS, in a folder that the runner removes, even after a crash.
const path = join(dirname(progress), `input.${format}`);
const current = openSync(progress, "w");

const summary = {
  loaded: 0,
  refused: 0,
  worstExtraMB: 0,
  /** Errors of another kind than MlxError, handles left behind, memory beyond the bound: the number and the words. */
  problems: [] as [number, string][],
};

type Loaded = mx.Array | Record<string, mx.Array>;

/** From bytes, from a path, or from a path later; gguf has no other way than a path. */
function load(i: number, bytes: Uint8Array): Loaded {
  if (format !== "gguf" && i % 4 !== 0) return mx.loadFromBytes(bytes, { format });
  writeFileSync(path, bytes);
  return mx.load(path, { format, lazy: i % 8 === 0 && (format === "npy" || format === "safetensors") });
}

/** Loads one input and reads what came; the bytes of the arrays, or 0 when it was refused. */
function attempt(i: number, bytes: Uint8Array): number {
  try {
    return mx.tidy(() => {
      const loaded = load(i, bytes);
      const arrays = loaded instanceof mx.Array ? [loaded] : Object.values(loaded);
      mx.eval(arrays);
      for (const array of arrays) if (array.nbytes < MB) array.toTypedArray();
      summary.loaded++;
      return arrays.reduce((sum, array) => sum + array.nbytes, 0);
    });
  } catch (error) {
    if (!(error instanceof mx.MlxError)) summary.problems.push([i, String(error)]);
    summary.refused++;
    return 0;
  }
}

mx.eval(mx.zeros([1]));
const live = mx.memory().liveHandles;
for (let i = Number(first); i < Number(end); i++) {
  writeSync(current, String(i).padEnd(12), 0);
  const bytes = damagedFile(format, Number(seed), i);
  const measured = resetPeakRss();
  const before = rss();
  const size = attempt(i, bytes);
  if (!measured) continue;
  const extra = peakRss() - before - size;
  summary.worstExtraMB = Math.max(summary.worstExtraMB, Math.round(extra / MB));
  if (extra > SLACK) summary.problems.push([i, `${Math.round(extra / MB)} MB above the size of the arrays`]);
}
const left = mx.memory().liveHandles - live;
if (left !== 0) summary.problems.push([Number(end) - 1, `${left} handles left`]);
if (readFileSync(progress).length === 0) throw new Error("no input was tried");
console.log(JSON.stringify(summary));
process.exit(0);
