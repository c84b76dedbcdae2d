/** Waiting for a value without blocking the event loop longer than MLX itself does. */

import type { MxArray } from "./array.ts";
import { describe } from "./describe.ts";
import { asyncEval, checkWork, evaluateOne, soundHandle } from "./evaluate.ts";
import { C } from "./native.ts";
import { checkOptions } from "./options.ts";
import { readSlot, slot } from "./slots.ts";

export function readyNow(array: MxArray, operation = "isAvailable"): boolean {
  const handle = soundHandle(array, operation);
  const out = slot();
  checkWork(C._mlx_array_is_available(out, handle), [array], operation);
  return (readSlot(out) & 1) === 1;
}

export interface ReadyOptions {
  /** Ends the wait when it fires: the promise rejects with the signal's reason. What has been started runs on. */
  signal?: AbortSignal | undefined;
}

export async function whenReady(array: MxArray, options?: ReadyOptions): Promise<void> {
  if (options !== undefined) checkOptions(options, ["signal"], "ready");
  const signal = options?.signal;
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError(`ready: signal must be an AbortSignal, got ${describe(signal)}.`);
  }
  signal?.throwIfAborted();
  asyncEval(array);
  // Short waits first, since most values are there within a millisecond.
  for (let wait = 0; !readyNow(array, "ready"); wait = Math.min(wait + 1, 10)) {
    await Bun.sleep(wait);
    signal?.throwIfAborted();
  }
  evaluateOne(array, "ready");
}
