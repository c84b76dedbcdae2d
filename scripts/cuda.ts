// `bun run test:cuda`: on a Linux machine with an NVIDIA GPU, runs the checks of test/cuda, the parity data with the GPU
// as default device, and the unit tests that hold on any device. Words on the command line choose among them. It is no
// part of `bun run test`, which runs on the library of the CPU.
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { type Difference, differences } from "../test/cuda/differences.ts";
import { folders, leftOut } from "../test/cuda/files.ts";
import { nameOf, runParity } from "../test/parity/runner.ts";
import { runTestFile } from "./gate/bun-test.ts";
import { describeEnd, runProcess } from "./gate/process.ts";
import { tail } from "./gate/tests.ts";

const root = resolve(import.meta.dir, "..");
const words = Bun.argv.slice(2);
const total = { passed: 0, failed: 0 };
const library = process.env["MLX_TS_LIBRARY"] || join(root, "native/build/linux-x64-cuda/lib");
// Products of float32 round to TF32 on this hardware unless MLX is told not to: numbers could not be compared.
const env = { MLX_TS_LIBRARY: library, MLX_ENABLE_TF32: "0" };

function line(ok: boolean, text: string): void {
  console.log(`${ok ? "ok  " : "FAIL"} ${text}`);
}

function finish(): never {
  console.log(`${total.passed} passed, ${total.failed} failed`);
  process.exit(total.failed === 0 && total.passed > 0 ? 0 : 1);
}

function fail(text: string): void {
  total.failed++;
  line(false, text);
}

/** Why nothing can be run here, in a sentence; null where it can. */
async function obstacle(): Promise<string | null> {
  const here = `${process.platform}-${process.arch}`;
  if (here !== "linux-x64") return `not for ${here}: this runs on Linux x86-64 with an NVIDIA GPU`;
  if (!existsSync(library)) {
    return `there is no ${library}: bun native/build.ts --platform linux-x64-cuda makes it`;
  }
  const ask = `import * as mx from "./src/index.ts"; console.log(mx.cuda.isAvailable() ? "CUDA is available" : "no NVIDIA GPU is available to this library");`;
  const { output } = await runProcess([process.execPath, "-e", ask], { cwd: root, env, timeout: 60 });
  if (output.trim() === "CUDA is available") return null;
  return /LibraryError: (.*)/.exec(output)?.[1] ?? (output.trim().split("\n").at(-1) || "the library cannot be asked");
}

interface Job {
  name: string;
  run: () => Promise<void>;
}

async function caseJobs(): Promise<Job[]> {
  const files = [...new Bun.Glob("test/cuda/*.cuda.ts").scanSync({ cwd: root })].sort();
  const lists = files.map(async (file) => {
    const result = await runProcess([process.execPath, file, "--list"], { cwd: root, env, timeout: 60 });
    const problem = describeEnd(result, 60);
    if (problem !== null) throw new Error(`${file} --list: ${problem}\n${result.output}`);
    return result.output
      .trim()
      .split("\n")
      .map((name) => ({ name: `${file} ${name}`, run: () => runCase(file, name) }));
  });
  return (await Promise.all(lists)).flat();
}

async function runCase(file: string, name: string): Promise<void> {
  const result = await runProcess([process.execPath, file, name], { cwd: root, env, timeout: 120 });
  const problem = describeEnd(result, 120);
  const seen = /^seen: (.*)$/m.exec(result.output)?.[1];
  if (problem === null && seen !== undefined) {
    total.passed++;
    line(true, `${file} ${name}: ${seen}`);
    return;
  }
  fail(`${file} ${name}: ${problem ?? "it said nothing"}`);
  for (const text of tail(result.output, 30)) console.log(`     ${text}`);
}

function known(name: string, message: string): Difference | undefined {
  return differences.find(
    (one) =>
      one.message.test(message) && (one.names === undefined || one.names.some((prefix) => name.startsWith(prefix))),
  );
}

async function runCases(kind: string, part: readonly [number, number]): Promise<void> {
  const label = `parity ${kind}${part[1] > 1 ? ` ${part[0] + 1}/${part[1]}` : ""}`;
  const file = join(root, "test/parity/data/cases.jsonl.gz");
  // A case may have to wait for several kernels to be compiled.
  const run = await runParity(file, {
    kinds: [kind],
    part,
    env,
    caseTimeout: 120,
    files: join(root, "test/parity/data/files"),
  });
  const counts = new Map<string, number>();
  let passed = 0;
  let unsupported = 0;
  const wrong: string[] = [];
  run.results.forEach((result, at) => {
    const name = nameOf(run.cases[at]!);
    if (result.status === "passed") passed++;
    else if (result.status === "unsupported") unsupported++;
    else {
      const difference = known(name, result.message);
      if (difference === undefined) wrong.push(`${result.id} ${name}: ${result.message.split("\n")[0]!.slice(0, 200)}`);
      else counts.set(difference.reason, (counts.get(difference.reason) ?? 0) + 1);
    }
  });
  total.passed += passed;
  total.failed += wrong.length;
  const otherwise = [...counts].map(([reason, count]) => `${count} as known (${reason})`);
  const rest = unsupported > 0 ? [`${unsupported} not for this library`] : [];
  line(
    wrong.length === 0,
    `${label}: ${[`${passed} passed`, ...otherwise, ...rest, `${wrong.length} wrong`].join(", ")}`,
  );
  for (const text of wrong) console.log(`     ${text}`);
}

function parityJobs(): Job[] {
  const whole = ["error", "print", "dtype", "io"].map((kind) => [kind, 1] as const);
  const parts = [
    ["program", 6],
    ["call", 4],
    ["update", 3],
    ["index", 2],
  ] as const;
  return [...parts, ...whole].flatMap(([kind, of]) =>
    Array.from({ length: of }, (_, i) => ({ name: `parity ${kind}`, run: () => runCases(kind, [i, of]) })),
  );
}

function testJobs(): Job[] {
  const files = folders.flatMap((folder) => [...new Bun.Glob(`test/${folder}/*.test.ts`).scanSync({ cwd: root })]);
  return files
    .filter((file) => leftOut[file] === undefined)
    .sort()
    .map((file) => ({ name: file, run: () => runFile(file) }));
}

async function runFile(file: string): Promise<void> {
  const verdict = await runTestFile(join(root, file), { root, env, timeout: 300, testTimeout: 120 });
  total.passed += verdict.passed;
  total.failed += verdict.failed;
  line(verdict.failed === 0, `${file}  ${verdict.summary} (${verdict.seconds.toFixed(1)} s)`);
  if (verdict.failed === 0) return;
  if (verdict.problem !== null) console.log(`     ${verdict.problem}`);
  for (const text of tail(verdict.output, 60)) console.log(`     ${text}`);
}

async function together(jobs: readonly Job[], lanes: number): Promise<void> {
  const queue = jobs.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
  const lane = async (): Promise<void> => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) await job.run();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

const why = await obstacle();
if (why !== null) {
  fail(why);
  finish();
}
try {
  // Figures of time and memory come first, with nothing beside them.
  await together(await caseJobs(), 1);
  await together([...parityJobs(), ...testJobs()], Math.max(1, Math.min(12, availableParallelism() - 2)));
  for (const [file, reason] of Object.entries(leftOut)) console.log(`not run: ${file}: ${reason}`);
} catch (error) {
  fail((error as Error).message);
}
finish();
