// mx.metal and mx.cuda where neither is there: clear refusals, since MLX itself does nothing in silence.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import * as mx from "../../src/index.ts";
import { refusal, untyped } from "../helpers.ts";

const none = "Metal is not available: this build of MLX or this machine has none";

test("metal: what it does, or that there is none", () => {
  expect(refusal(() => mx.metal.startCapture(untyped(1)))).toBe(
    "TypeError: metal.startCapture: path must be a string, got 1.",
  );
  if (mx.metal.isAvailable()) {
    expect(mx.metal.deviceInfo()).toEqual(mx.deviceInfo("gpu"));
    return;
  }
  expect(refusal(() => mx.metal.startCapture("trace.gputrace"))).toBe(`MlxError: metal.startCapture: ${none}`);
  expect(existsSync("trace.gputrace")).toBe(false);
  expect(refusal(() => mx.metal.stopCapture())).toBe(`MlxError: metal.stopCapture: ${none}`);
  expect(refusal(() => mx.metal.deviceInfo())).toBe(`MlxError: metal.deviceInfo: ${none}`);
});

test("what mx.metal says of memory is what mx says", () => {
  expect(mx.metal.activeMemory()).toBe(mx.activeMemory());
  expect(mx.metal.cacheMemory()).toBe(mx.cacheMemory());
  mx.metal.resetPeakMemory();
  expect(mx.metal.peakMemory()).toBe(mx.peakMemory());
  mx.metal.clearCache();
  expect(mx.cacheMemory()).toBe(0);
  const before = mx.metal.setMemoryLimit(1 << 30);
  expect(mx.memoryLimit()).toBe(1 << 30);
  expect(mx.metal.setMemoryLimit(before)).toBe(1 << 30);
  const cache = mx.metal.setCacheLimit(1 << 20);
  expect(mx.metal.setCacheLimit(cache)).toBe(1 << 20);
  expect(mx.metal.setWiredLimit(0)).toBe(0);
});

test("cuda follows the build", () => {
  expect(mx.cuda.isAvailable()).toBe(mx.isAvailable("gpu") && !mx.metal.isAvailable());
});
