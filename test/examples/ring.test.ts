// examples/ring.ts as a user runs it: every rank finds the same line, and a ring that cannot be ends with an error.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { runProcess } from "../../scripts/gate/process.ts";
import { root } from "../helpers.ts";

const example = (...args: string[]): ReturnType<typeof runProcess> =>
  runProcess([process.execPath, join(root, "examples/ring.ts"), ...args], { cwd: root, timeout: 60 });

test("two processes find the line together", async () => {
  const { code, output } = await example();
  expect(output.trim().split("\n").sort()).toEqual(["rank 0 of 2: 3.00 x + 2.00", "rank 1 of 2: 3.00 x + 2.00"]);
  expect(code).toBe(0);
}, 90_000);

test("a ring of one is refused, and the starter says who failed", async () => {
  const { code, output } = await example("1");
  expect(output).toContain("a ring has at least two");
  expect(output).toContain("rank 0 ended with 1");
  expect(code).toBe(1);
}, 90_000);

test("a number of processes that is none is refused", async () => {
  for (const size of ["0", "x", "-1", "1.5"]) {
    const { code, output } = await example(size);
    expect(output).toContain("usage: bun examples/ring.ts");
    expect(code).toBe(1);
  }
}, 30_000);
