// `bun run test:leak`: every case of test/leak/*.leak.ts in a process of its own, two at a time.
// Words on the command line choose cases whose `file case` contains one of them.
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { describeEnd, runProcess } from "./gate/process.ts";

const root = resolve(import.meta.dir, "..");
const words = Bun.argv.slice(2);
const limit = 240;

interface Job {
  file: string;
  name: string;
}

async function listJobs(): Promise<Job[]> {
  const files = [...new Bun.Glob("test/leak/*.leak.ts").scanSync({ cwd: root })].sort();
  const lists = files.map(async (file) => {
    const result = await runProcess([process.execPath, file, "--list"], { cwd: root, timeout: 60 });
    const problem = describeEnd(result, 60);
    if (problem !== null) throw new Error(`${file} --list: ${problem}\n${result.output}`);
    return result.output
      .trim()
      .split("\n")
      .map((name) => ({ file, name }));
  });
  return (await Promise.all(lists)).flat();
}

const total = { passed: 0, failed: 0 };

async function runJob({ file, name }: Job): Promise<void> {
  const result = await runProcess([process.execPath, join(root, file), name], { cwd: root, timeout: limit });
  const problem = describeEnd(result, limit);
  const totals = /(\d+) passed, (\d+) failed\s*$/.exec(result.output);
  const passed = Number(totals?.[1] ?? 0);
  const failed = Number(totals?.[2] ?? 0);
  total.passed += passed;
  // A process that crashed, hung or printed no totals is a failure of its own.
  total.failed += problem === null && passed > 0 ? failed : Math.max(failed, 1);
  console.log(`${file} ${name} (${result.seconds.toFixed(1)} s)`);
  const lines = result.output.trimEnd().split("\n");
  for (const line of totals === null ? lines : lines.slice(0, -1)) console.log(`  ${line}`);
  if (problem !== null) console.log(`  ${problem}`);
}

const jobs = (await listJobs()).filter(
  ({ file, name }) => words.length === 0 || words.some((word) => `${file} ${name}`.includes(word)),
);
const queue = [...jobs];
const worker = async (): Promise<void> => {
  for (let job = queue.shift(); job !== undefined; job = queue.shift()) await runJob(job);
};
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker));
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed === 0 && total.passed > 0 ? 0 : 1);
