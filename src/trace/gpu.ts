/** Metal's own capture of what the GPU does, around a function. */

import { describe } from "../core/describe.ts";
import { requireFunction } from "../core/scope.ts";
import { isAvailable, startCapture, stopCapture } from "../platforms/metal.ts";
import { say } from "./say.ts";

/** Why nothing can be captured here, or null. */
function obstacle(): string | null {
  // MLX's own start of a capture succeeds in builds that have no Metal, and does nothing.
  if (!isAvailable()) return "Metal is not available: this build of MLX or this machine has none";
  if (process.env["MTL_CAPTURE_ENABLED"] === "1") return null;
  return "the process was started without MTL_CAPTURE_ENABLED=1 in its environment, where Metal looks for it";
}

/**
 * Captures what a Mac's GPU does while `fn` runs into a new file, whose name ends in ".gputrace" and which Xcode opens;
 * returns what `fn` returns. Where `fn` returns a promise, the capture ends with it. Evaluate inside of `fn`: what is lazy
 * is not computed there.
 *
 * Without Metal, or without MTL_CAPTURE_ENABLED=1 in the environment, one line on stderr says so and `fn` runs
 * uncaptured. Throws a TypeError for bad arguments, an MlxError for a file that exists.
 */
export function captureGpu<T>(path: string, fn: () => T): T {
  if (typeof path !== "string" || !path.endsWith(".gputrace")) {
    throw new TypeError(`trace.captureGpu: path must end in ".gputrace", got ${describe(path)}.`);
  }
  requireFunction(fn, "trace.captureGpu");
  const reason = obstacle();
  if (reason !== null) {
    say(`mlx-ts trace: nothing is captured: ${reason}.\n`);
    return fn();
  }
  startCapture(path);
  let result: T;
  try {
    result = fn();
  } catch (error) {
    stopCapture();
    throw error;
  }
  if (!(result instanceof Promise)) {
    stopCapture();
    return result;
  }
  return result.finally(stopCapture) as T;
}
