/** MLX's own memory counters and limits. The ledger's are in ledger.ts. */

import { describe } from "./describe.ts";
import { check } from "./error.ts";
import { C } from "./native.ts";
import { readSlot, slot } from "./slots.ts";

function read(operation: string, call: (out: number) => number): number {
  const out = slot();
  check(call(out), operation);
  return readSlot(out);
}

function bytesOf(value: unknown, operation: string): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > Number.MAX_SAFE_INTEGER) {
    throw new RangeError(`${operation}: the limit must be a whole number of bytes, 0 or more, got ${describe(value)}.`);
  }
  return value;
}

/** Bytes that live arrays use now, the cache not included. Python: mx.get_active_memory. */
export function activeMemory(): number {
  return read("activeMemory", (out) => C.mlx_get_active_memory(out));
}

/** The most bytes in use at once since the start or the last `resetPeakMemory`. Python: mx.get_peak_memory. */
export function peakMemory(): number {
  return read("peakMemory", (out) => C.mlx_get_peak_memory(out));
}

/** Bytes of freed buffers that MLX keeps for the next arrays. Python: mx.get_cache_memory. */
export function cacheMemory(): number {
  return read("cacheMemory", (out) => C.mlx_get_cache_memory(out));
}

/** Starts `peakMemory` anew. Python: mx.reset_peak_memory. */
export function resetPeakMemory(): void {
  check(C.mlx_reset_peak_memory(), "resetPeakMemory");
}

/** The memory limit in bytes. Python has only the setter. */
export function memoryLimit(): number {
  return read("memoryLimit", (out) => C.mlx_get_memory_limit(out));
}

/** Sets how many bytes MLX uses before it waits or frees; returns the former limit. Python: mx.set_memory_limit. */
export function setMemoryLimit(bytes: number): number {
  return read("setMemoryLimit", (out) => C.mlx_set_memory_limit(out, bytesOf(bytes, "setMemoryLimit")));
}

/** Sets how many bytes of freed buffers MLX keeps; returns the former limit. Python: mx.set_cache_limit. */
export function setCacheLimit(bytes: number): number {
  return read("setCacheLimit", (out) => C.mlx_set_cache_limit(out, bytesOf(bytes, "setCacheLimit")));
}

/** Sets how many bytes stay wired in memory on a Mac; returns the former limit. Python: mx.set_wired_limit. */
export function setWiredLimit(bytes: number): number {
  return read("setWiredLimit", (out) => C.mlx_set_wired_limit(out, bytesOf(bytes, "setWiredLimit")));
}

/** Gives the freed buffers back to the system. Python: mx.clear_cache. */
export function clearCache(): void {
  check(C.mlx_clear_cache(), "clearCache");
}
