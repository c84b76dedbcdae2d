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
  const signal = abortSignal(options?.signal, "ready");
  signal?.throwIfAborted();
  asyncEval(array);
  await settled([array], "ready", signal);
}

/**
 * Waits until arrays whose evaluation was started have their values; what went wrong there is thrown. `signal` ends the
 * wait by its reason, not the work.
 */
export async function settled(
  arrays: readonly MxArray[],
  operation: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  // Short waits first, since most values are there within a millisecond.
  for (let wait = 0; !arrays.every((array) => readyNow(array, operation)); wait = Math.min(wait + 1, 10)) {
    await Bun.sleep(wait);
    signal?.throwIfAborted();
  }
  for (const array of arrays) evaluateOne(array, operation);
}

/** The signal of an option, if there is one. */
export function abortSignal(signal: unknown, operation: string): AbortSignal | undefined {
  if (signal === undefined || signal instanceof AbortSignal) return signal;
  throw new TypeError(`${operation}: signal must be an AbortSignal, got ${describe(signal)}.`);
}
