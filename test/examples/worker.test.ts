// The Worker recipe: the event loop goes on while a Worker computes.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { runProcess } from "../../scripts/gate/process.ts";
import { root } from "../helpers.ts";

test("the event loop ticks while a Worker evaluates, and both end by themselves", async () => {
  const result = await runProcess([process.execPath, join(root, "examples/worker.ts")], { cwd: root, timeout: 60 });
  expect(result.code).toBe(0);
  const { answer, ms, ticks, kept } = JSON.parse(result.output) as Record<string, number>;
  expect(answer).toBeCloseTo(0.25923434, 5);
  expect(ms).toBeGreaterThan(0);
  // On a quiet machine nearly all ticks come; a busy one may lose many, a blocked loop loses all.
  expect(ticks).toBeGreaterThan(2);
  expect(kept).toBeGreaterThan(20);
}, 70_000);
