/**
 * Short-lived native arguments: integer arrays, single elements, text. They live in a ring of explicit memory that
 * one call cannot wrap; anything larger than a quarter of it gets a buffer of its own.
 */

import type { Pointer } from "../backend/types.ts";
import { backend } from "./native.ts";

const SIZE = 65536;
const memory = new ArrayBuffer(SIZE);
const view = new DataView(memory);
const bytes = new Uint8Array(memory);
const base = backend.address(memory);
let next = 0;

// Large arguments are kept reachable until this many more have been made: far longer than one call.
const pinned: ArrayBuffer[] = new Array<ArrayBuffer>(64);
let pin = 0;

interface Room {
  view: DataView;
  bytes: Uint8Array;
  offset: number;
  address: Pointer;
}

const shared: Room = { view, bytes, offset: 0, address: 0 };

function room(size: number): Room {
  if (size > SIZE / 4) {
    const own = new ArrayBuffer(size);
    pinned[pin] = own;
    pin = (pin + 1) % pinned.length;
    return { view: new DataView(own), bytes: new Uint8Array(own), offset: 0, address: backend.address(own) };
  }
  const start = (next + 7) & ~7;
  shared.offset = start + size > SIZE ? 0 : start;
  next = shared.offset + size;
  shared.address = base + shared.offset;
  return shared;
}

/** The address of an int32 array with these elements; an empty list still gets a valid address. */
export function int32Address(values: readonly number[]): Pointer {
  const at = room(Math.max(values.length, 1) * 4);
  for (let i = 0; i < values.length; i++) at.view.setInt32(at.offset + i * 4, values[i]!, true);
  return at.address;
}

export function int64Address(values: readonly (number | bigint)[]): Pointer {
  const at = room(Math.max(values.length, 1) * 8);
  for (let i = 0; i < values.length; i++) at.view.setBigInt64(at.offset + i * 8, BigInt(values[i]!), true);
  return at.address;
}

/** The address of an array of handles or pointers. */
export function pointerAddress(values: readonly number[]): Pointer {
  const at = room(Math.max(values.length, 1) * 8);
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    at.view.setUint32(at.offset + i * 8, value >>> 0, true);
    at.view.setUint32(at.offset + i * 8 + 4, Math.floor(value / 4294967296), true);
  }
  return at.address;
}

/** Room for one element of up to 8 bytes, written by `write`. */
export function elementAddress(write: (view: DataView, offset: number) => void): Pointer {
  const at = room(8);
  write(at.view, at.offset);
  return at.address;
}

const encoder = new TextEncoder();

/** The address of a NUL-terminated UTF-8 copy. The caller has refused text that contains NUL. */
export function textAddress(text: string): Pointer {
  const at = room(text.length * 3 + 1);
  const written = encoder.encodeInto(text, at.bytes.subarray(at.offset)).written;
  at.view.setUint8(at.offset + written, 0);
  return at.address;
}

const constants = new Map<string, { address: Pointer; buffer: ArrayBuffer }>();

/** Like `textAddress` for the few words that options are made of: encoded once and kept. */
export function constantAddress(text: string): Pointer {
  const known = constants.get(text);
  if (known !== undefined) return known.address;
  const encoded = encoder.encode(text);
  const buffer = new ArrayBuffer(encoded.length + 1);
  new Uint8Array(buffer).set(encoded);
  const entry = { address: backend.address(buffer), buffer };
  if (constants.size < 256) constants.set(text, entry);
  else return textAddress(text);
  return entry.address;
}
