/**
 * What tracing costs: `bun bench/trace.ts [processes] [rounds]`. The library is bundled twice, as it is and with the
 * hook's test taken out of the call funnel; each process loads both and times them in turns, so that what else runs on
 * the machine meets both. The library with the test is timed again after it has recorded something.
 */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";

const processes = Number(process.argv[2] ?? 41);
const rounds = Number(process.argv[3] ?? 150);
const here = join(import.meta.dir, "trace");
const root = join(import.meta.dir, "..");
const out = join(root, ".cache", "trace-bench");

const test = /^\s*if \(opHook !== null\) .*;\n/gm;

/** Takes the test out of the funnel; fails when there is none. */
const withoutTest: Plugin = {
  name: "without-test",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/]core[\\/]call\.ts$/ }, async ({ path }) => {
      const source = await Bun.file(path).text();
      const contents = source.replace(test, "");
      if (contents === source || /opHook\(/.test(contents)) throw new Error("the hook's test was not found in call.ts");
      return { contents, loader: "ts" };
    });
  },
};

async function bundle(name: string, plugins: Plugin[]): Promise<string> {
  const outfile = join(out, `${name}.js`);
  await build({
    ...{ entryPoints: [join(here, "side.ts")], outfile, plugins, bundle: true, format: "esm", target: "esnext" },
    ...{ platform: "node", external: ["bun:*"], logLevel: "silent" },
  });
  return outfile;
}

interface Pair {
  tested: number;
  bare: number;
  difference: number;
}
interface Figures {
  before: Pair;
  after: Pair;
  recorded: number;
  alone: number;
}

mkdirSync(out, { recursive: true });
const sides = [await bundle("with", []), await bundle("without", [withoutTest])];
const library =
  process.env["MLX_TS_LIBRARY"] ?? join(root, "native", "build", `${process.platform}-${process.arch}`, "lib");
const figures: Figures[] = [];
for (let i = 0; i < processes; i++) {
  const result = Bun.spawnSync([process.execPath, join(here, "pair.ts"), ...sides, String(i), String(rounds)], {
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, MLX_TS_LIBRARY: library },
  });
  if (result.exitCode !== 0) throw new Error(result.stderr.toString());
  figures.push(JSON.parse(result.stdout.toString()) as Figures);
}

const median = (list: number[]): number => list.toSorted((x, y) => x - y)[list.length >> 1]!;

function line(title: string, pairs: Pair[]): string {
  const bare = median(pairs.map((pair) => pair.bare));
  const difference = median(pairs.map((pair) => pair.difference));
  const sorted = pairs.map((pair) => pair.difference).toSorted((x, y) => x - y);
  const quartile = (part: number): string => sorted[Math.floor(part * sorted.length)]!.toFixed(1);
  // Where the compiler puts the code of either build differs from process to process, and costs or saves more.
  const range = `half of the processes between ${quartile(0.25)} and ${quartile(0.75)}`;
  const percent = ((100 * difference) / bare).toFixed(2);
  return `  ${title.padEnd(44)} ${bare.toFixed(1).padStart(7)} ns without the test, ${difference.toFixed(2)} ns more with it: ${percent} % (${range})`;
}

console.log(`add(scalar, scalar), built and disposed; ${processes} processes of ${rounds} rounds in turns, medians`);
console.log(
  line(
    "off",
    figures.map(({ before }) => before),
  ),
);
console.log(
  line(
    "off again, after a recording",
    figures.map(({ after }) => after),
  ),
);
console.log(
  line(
    "both together",
    figures.flatMap(({ before, after }) => [before, after]),
  ),
);
console.log(
  `  ${"recording".padEnd(44)} ${median(figures.map(({ recorded }) => recorded))
    .toFixed(0)
    .padStart(7)} ns an operation`,
);
console.log(
  `  ${"the comparison alone, in an empty loop".padEnd(44)} ${median(figures.map(({ alone }) => alone))
    .toFixed(2)
    .padStart(7)} ns`,
);
