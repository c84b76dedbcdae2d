/**
 * Where native functions write their results.
 *
 * The JIT may drop a typed-array store before a native call and reuse a stale load after one. A ring of thousands
 * of slots avoids both: a slot is read once between two refills, so there is no earlier load to reuse, and it is
 * zeroed by `fill`, long before its next use. The ring is refilled by halves: a call that takes several slots may take
 * the last ones of one half and the first of the other, and writes all of them only then. Those that it wrote behind
 * the fill are zeroed with their own half, before they are handed out again. test/leak/slots.leak.ts checks this form, and the private one, over
 * hundreds of thousands of calls.
 */

import type { Pointer } from "../backend/types.ts";
import { backend } from "./native.ts";

const SLOTS = 4096;
const MASK = SLOTS - 1;
const HALF = SLOTS / 2;

const memory = new ArrayBuffer(SLOTS * 8);
const words = new Uint32Array(memory);
const doubles = new Float64Array(memory);
const base = backend.address(memory);
let next = 0;

/** The address of a zeroed 8-byte slot, for one native call that cannot run JavaScript. */
export function slot(): Pointer {
  const index = next;
  if ((index & (HALF - 1)) === 0) words.fill(0, index * 2, (index + HALF) * 2);
  next = (index + 1) & MASK;
  return base + index * 8;
}

/** The handle, pointer or size that a native call wrote into a ring slot. */
export function readSlot(address: Pointer): number {
  const index = (address - base) >>> 2;
  return words[index]! + words[index + 1]! * 4294967296;
}

export function readSlotI32(address: Pointer): number {
  return words[(address - base) >>> 2]! | 0;
}

export function readSlotU32(address: Pointer): number {
  return words[(address - base) >>> 2]!;
}

export function readSlotF64(address: Pointer): number {
  return doubles[(address - base) >>> 3]!;
}

const view = new DataView(memory);

/** A view of the ring and an offset into it, for the rarer element types. */
export function slotView(address: Pointer): { view: DataView; offset: number } {
  return { view, offset: address - base };
}

/**
 * A slot of its own, for calls that can run JavaScript: inside a callback the ring may wrap and hand the same slot
 * out again, and mlx-c would then write the outer result into the inner call's array.
 */
export interface PrivateSlot {
  readonly address: Pointer;
  read(): number;
  /** Zeroes it for another call. */
  clear(): void;
}

export function privateSlot(): PrivateSlot {
  const own = new ArrayBuffer(8);
  const data = new DataView(own);
  return {
    address: backend.address(own),
    read: () => data.getUint32(0, true) + data.getUint32(4, true) * 4294967296,
    clear(): void {
      data.setUint32(0, 0, true);
      data.setUint32(4, 0, true);
    },
  };
}
