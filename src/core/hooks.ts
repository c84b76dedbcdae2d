/** The one hook of the call funnel. Null costs one test an op; a tracer sets it. */

import type { Handle } from "./handle.ts";

export type OpHook = (operation: string, result: Handle) => void;

export let opHook: OpHook | null = null;

export function setOpHook(hook: OpHook | null): void {
  opHook = hook;
}
