/** Memory of MLX and of the ledger, as counters of the trace. */

import { memory } from "../core/ledger.ts";
import { activeMemory, cacheMemory, peakMemory } from "../core/memory.ts";
import { loadedLibrary } from "../core/native.ts";
import { isMain, threadName } from "./clock.ts";
import type { TraceRecord } from "./record.ts";

// MLX counts for the process, a ledger for its thread.
const own = isMain ? "" : ` (${threadName})`;

function counter(name: string, start: number, details: Record<string, number>): TraceRecord {
  return { shape: "counter", category: "counter", name, start, duration: 0, details };
}

/** What the counters say now. Nothing before the library is loaded: asking would load it. */
export function readCounters(at: number): TraceRecord[] {
  if (loadedLibrary() === null) return [];
  const { liveHandles, liveBytes, rescued } = memory();
  return [
    counter("MLX memory", at, { active: activeMemory(), cache: cacheMemory(), peak: peakMemory() }),
    counter(`live bytes${own}`, at, { liveBytes }),
    counter(`live handles${own}`, at, { liveHandles }),
    counter(`rescued${own}`, at, { rescued }),
  ];
}
