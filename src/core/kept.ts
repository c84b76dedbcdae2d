/**
 * Native handles that are made once and kept for the life of the thread. They are also written down in memory that a
 * leak checker of the native side can be told of: to it, what only the JavaScript heap knows looks lost.
 */

import type { Pointer } from "../backend/types.ts";
import { backend } from "./native.ts";

const FIRST = 64;
/** How many constants are kept at most: a power of two. */
export const PLACES = 256;

const memory = new ArrayBuffer((FIRST + PLACES) * 8);
const view = new DataView(memory);
let next = 0;

/** Writes a handle down, and returns it. There are few such handles: those past the memory's end are not written. */
export function kept(handle: Pointer): Pointer {
  if (next < FIRST) view.setBigUint64(8 * next++, BigInt(handle), true);
  return handle;
}

/** Writes down the handle of a constant at its place, or 0 for none, and returns it. */
export function keptConstant(place: number, handle: Pointer): Pointer {
  view.setBigUint64(8 * (FIRST + place), BigInt(handle), true);
  return handle;
}

/** Where the handles are written. */
export function keptRegion(): { address: Pointer; bytes: number } {
  return { address: backend.address(memory), bytes: memory.byteLength };
}
