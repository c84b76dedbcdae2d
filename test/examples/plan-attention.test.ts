// The backward pass of attention in ranges, as a user runs the example: equal to the gradient in one piece, with no more
// memory than was planned.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { runProcess } from "../../scripts/gate/process.ts";
import { root } from "../helpers.ts";

interface Pass {
  ranges: number;
  window: number;
  peak: number;
  estimate: number;
  /** Of which one range. */
  range: number;
  rows: number[][];
  inFlight: number[];
}

function passOf(lines: readonly string[], name: string): Pass {
  const at = lines.findIndex((line) => line.startsWith(`${name}: `));
  const [, ranges, window] = /: (\d+) ranges, at most (\d+) alive$/.exec(lines[at] ?? "")!;
  const told = lines
    .slice(at + 1, at + 1 + Number(ranges))
    .map((line) => /^ {2}(\d+)\/(\d+): rows (\d+) to (\d+), (\d+) in flight/.exec(line)!.slice(1).map(Number));
  const figures = /^ {2}peak ([\d.]+) MiB of ([\d.]+) MiB estimated \([\d.]+ MiB \+ \d+ x ([\d.]+) MiB\)/;
  const [, peak, estimate, range] = figures.exec(lines[at + 1 + Number(ranges)] ?? "")!;
  return {
    ranges: Number(ranges),
    window: Number(window),
    peak: Number(peak),
    estimate: Number(estimate),
    range: Number(range),
    rows: told.map(([, , r0, r1]) => [r0!, r1!]),
    inFlight: told.map((fields) => fields[4]!),
  };
}

async function run(args: string): Promise<{ code: number | null; lines: string[] }> {
  const { code, output } = await runProcess(
    [process.execPath, join(root, "examples/plan-attention.ts"), ...args.split(" ")],
    { cwd: root, timeout: 120 },
  );
  return { code, lines: output.trimEnd().split("\n") };
}

test.each([
  ["causal", 2048, "--heads 4 --kv-heads 2 --dim 32 --rate 1e9"],
  ["not causal", 2048, "--full --heads 4 --kv-heads 2 --dim 32 --rate 2e9"],
  [
    "a head of keys for each of queries, one range alive",
    1001,
    "--n 1001 --heads 2 --kv-heads 2 --dim 16 --rate 1e8 --window 1",
  ],
  ["three ranges alive", 1001, "--full --n 1001 --heads 6 --kv-heads 2 --dim 16 --rate 4e8 --window 3"],
])(
  "%s",
  async (_, n, args) => {
    const { code, lines } = await run(args);
    const differences = lines.flatMap((line) => /^ {2}(d[QKV]) differs by (\S+)$/.exec(line)?.slice(1) ?? []);
    expect(differences.filter((_text, i) => i % 2 === 0)).toEqual(["dQ", "dK", "dV"]);
    for (const text of differences.filter((_text, i) => i % 2 === 1)) {
      expect(Number(text)).toBeLessThanOrEqual(1e-4);
    }
    for (const pass of [passOf(lines, "dK, dV"), passOf(lines, "dQ")]) {
      expect(pass.ranges).toBeGreaterThan(1);
      expect(pass.rows[0]![0]).toBe(0);
      expect(pass.rows.at(-1)![1]).toBe(n);
      for (let i = 1; i < pass.ranges; i++) expect(pass.rows[i]![0]).toBe(pass.rows[i - 1]![1]!);
      expect(Math.max(...pass.inFlight)).toBeLessThan(pass.window);
      expect(pass.peak).toBeLessThanOrEqual(1.2 * pass.estimate);
      // The estimate is a model of what happens, not a bound that anything would keep: how many ranges really overlap is
      // a matter of time, but one is as large as it says.
      expect(pass.peak).toBeGreaterThan(0.8 * pass.range);
    }
    expect(lines.at(-1)).toBe("equal, within the estimate");
    expect(code).toBe(0);
  },
  130_000,
);

test("a plan that cannot be is the planner's own error", async () => {
  const { code, lines } = await run("--n 512 --heads 2 --kv-heads 1 --dim 16 --rate 1");
  expect(lines.at(-1)).toStartWith("error: planner: budgetSeconds: ");
  expect(code).toBe(1);
}, 130_000);

test.each([
  ["--n 1.5", 'error: --n: expected an integer of at least 1, not "1.5"'],
  ["--heads 3", "error: --heads: 3 is no multiple of the 2 of --kv-heads"],
  ["--rate 1e9 --window 0", "error: planner: memory.window: expected an integer from 1 to"],
  ["--bogus", "error: Unknown option '--bogus'"],
])("%s is an error without a stack", async (args, message) => {
  const { code, lines } = await run(args);
  expect(lines.at(-1)).toStartWith(message);
  expect(lines.join("\n")).not.toMatch(/^ +at /m);
  expect(code).toBe(1);
});

test("one row, whose gradient of queries and keys is nothing", async () => {
  const { code, lines } = await run("--n 1 --heads 2 --kv-heads 1 --dim 16 --rate 1e9");
  expect(lines.at(-1)).toBe("equal, within the estimate");
  expect(code).toBe(0);
});
