/** The namespace mx.metal: what only Apple's GPUs have. */

import { str } from "../core/args.ts";
import { deviceInfo as infoOf } from "../core/device.ts";
import { check, MlxError } from "../core/error.ts";
import { C } from "../core/native.ts";
import { readSlot, slot } from "../core/slots.ts";

export {
  activeMemory,
  cacheMemory,
  clearCache,
  peakMemory,
  resetPeakMemory,
  setCacheLimit,
  setMemoryLimit,
  setWiredLimit,
} from "../core/memory.ts";

/** Whether this build of MLX computes on a Metal GPU, and the machine has one. Python: `mx.metal.is_available()`. */
export function isAvailable(): boolean {
  const out = slot();
  check(C.mlx_metal_is_available(out), "metal.isAvailable");
  return (readSlot(out) & 1) === 1;
}

/** Refuses what builds without Metal would silently do nothing for. */
function requireMetal(op: string): void {
  if (!isAvailable()) throw new MlxError(op, "Metal is not available: this build of MLX or this machine has none");
}

/**
 * Begins to record what the GPU does into a new file, which Xcode opens. Its name ends in ".gputrace".
 *
 * The process must have been started with the variable MTL_CAPTURE_ENABLED=1. Throws an MlxError where Metal is not
 * available, and for a file that exists. Python: `mx.metal.start_capture(path)`.
 */
export function startCapture(path: string): void {
  const address = str(path, "metal.startCapture", "path");
  requireMetal("metal.startCapture");
  check(C.mlx_metal_start_capture(address), "metal.startCapture");
}

/** Ends what `startCapture` began. Throws an MlxError where Metal is not available. Python: `mx.metal.stop_capture()`. */
export function stopCapture(): void {
  requireMetal("metal.stopCapture");
  check(C.mlx_metal_stop_capture(), "metal.stopCapture");
}

/**
 * What MLX knows of the GPU: names, and sizes in bytes. Throws an MlxError where Metal is not available.
 *
 * Python: `mx.metal.device_info()`.
 */
export function deviceInfo(): Record<string, string | number> {
  requireMetal("metal.deviceInfo");
  return infoOf("gpu");
}
