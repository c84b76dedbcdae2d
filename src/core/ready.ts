/** Waiting for a value without blocking the event loop longer than MLX itself does. */

import type { MxArray } from "./array.ts";
import { asyncEval, checkWork, evaluateOne, soundHandle } from "./evaluate.ts";
import { C } from "./native.ts";
import { readSlot, slot } from "./slots.ts";

export function readyNow(array: MxArray, operation = "isAvailable"): boolean {
  const handle = soundHandle(array, operation);
  const out = slot();
  checkWork(C._mlx_array_is_available(out, handle), [array], operation);
  return (readSlot(out) & 1) === 1;
}

export async function whenReady(array: MxArray): Promise<void> {
  asyncEval(array);
  // Short waits first, since most values are there within a millisecond.
  for (let wait = 0; !readyNow(array, "ready"); wait = Math.min(wait + 1, 10)) await Bun.sleep(wait);
  evaluateOne(array, "ready");
}
