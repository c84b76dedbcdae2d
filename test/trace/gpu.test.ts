// Metal's capture around a function: what happens without it, here; and with it, with MLX's part replaced.
import { afterEach, expect, test } from "bun:test";
import { C } from "../../src/core/native.ts";
import * as mx from "../../src/index.ts";
import * as trace from "../../src/trace/index.ts";
import { caught, refusal, said, untyped } from "../helpers.ts";

const plain = { ...C };
const variable = process.env["MTL_CAPTURE_ENABLED"];
let calls: string[] = [];

/** As if this were a Mac. */
function withMetal(): void {
  mx.add(1, 1).dispose();
  Object.assign(plain, C);
  calls = [];
  C.mlx_metal_is_available = (out) => {
    const status = plain.mlx_metal_is_available(out);
    // The build says no, and one is what a Mac's would write: a scalar's own function writes it.
    const one = plain.mlx_array_new_bool(true);
    plain.mlx_array_item_bool(out, one);
    plain.mlx_array_free(one);
    return status;
  };
  C.mlx_metal_start_capture = () => {
    calls.push("start");
    return 0;
  };
  C.mlx_metal_stop_capture = () => {
    calls.push("stop");
    return 0;
  };
}

afterEach(() => {
  const { mlx_metal_is_available, mlx_metal_start_capture, mlx_metal_stop_capture } = plain;
  Object.assign(C, { mlx_metal_is_available, mlx_metal_start_capture, mlx_metal_stop_capture });
  if (variable === undefined) delete process.env["MTL_CAPTURE_ENABLED"];
  else process.env["MTL_CAPTURE_ENABLED"] = variable;
});

test("without Metal it says why, and runs the function", async () => {
  const index = JSON.stringify(`${import.meta.dir}/../../src/trace/index.ts`);
  const lines = await said(`import * as trace from ${index};
    const x = trace.captureGpu("a.gputrace", () => mx.add(1, 2).item());
    say(mx.metal.isAvailable() || x);`);
  if (lines.at(-1) === "true") return;
  expect(lines).toContain("3");
  expect(lines.join("\n")).toContain("mlx-ts trace: nothing is captured: Metal is not available");
});

test("with Metal and the variable it captures the function, or the promise that it returns", async () => {
  withMetal();
  process.env["MTL_CAPTURE_ENABLED"] = "1";
  expect(trace.captureGpu("a.gputrace", () => (calls.push("fn"), 1))).toBe(1);
  expect(calls).toEqual(["start", "fn", "stop"]);
  calls = [];
  const slow = trace.captureGpu("a.gputrace", async () => {
    await Bun.sleep(1);
    calls.push("fn");
    return 2;
  });
  expect(calls).toEqual(["start"]);
  expect(await slow).toBe(2);
  expect(calls).toEqual(["start", "fn", "stop"]);
});

test("an error ends the capture", async () => {
  withMetal();
  process.env["MTL_CAPTURE_ENABLED"] = "1";
  const fail = (): never => {
    throw new Error("inside");
  };
  expect(caught(() => trace.captureGpu("a.gputrace", fail)).message).toBe("inside");
  expect(calls).toEqual(["start", "stop"]);
  expect(await trace.captureGpu("a.gputrace", async () => fail()).catch((error: Error) => error.message)).toBe(
    "inside",
  );
  expect(calls).toEqual(["start", "stop", "start", "stop"]);
});

test("with Metal but without the variable it captures nothing", () => {
  withMetal();
  delete process.env["MTL_CAPTURE_ENABLED"];
  expect(trace.captureGpu("a.gputrace", () => 3)).toBe(3);
  expect(calls).toEqual([]);
});

test("a capture that MLX refuses is an error, and the function does not run", () => {
  withMetal();
  process.env["MTL_CAPTURE_ENABLED"] = "1";
  C.mlx_metal_start_capture = () => 1;
  let ran = false;
  expect(caught(() => trace.captureGpu("a.gputrace", () => (ran = true)))).toBeInstanceOf(mx.MlxError);
  expect(ran).toBe(false);
});

test("bad arguments", () => {
  expect(refusal(() => trace.captureGpu("a.txt", () => 1))).toBe(
    'TypeError: trace.captureGpu: path must end in ".gputrace", got "a.txt".',
  );
  expect(refusal(() => trace.captureGpu("a.gputrace", untyped(1)))).toBe(
    "TypeError: trace.captureGpu: expected a function, got 1.",
  );
});
