/**
 * Native values that live for one call: scalars turned into arrays, lists turned into vectors. They never enter the
 * ledger. `produce` and `failure` free them, and so does every error thrown on the way to the call.
 */

import type { Pointer } from "../backend/types.ts";
import { type Freed, holdFrees } from "./ledger.ts";
import { C } from "./native.ts";

const arrays: Pointer[] = [];
const vectors: Pointer[] = [];
/** Kept constants that others have displaced. */
const constants: Pointer[] = [];
let pending = 0;

// How much of the lists belongs to calls that are being prepared further out, and how many of those there are.
let arrayFloor = 0;
let vectorFloor = 0;
let depth = 0;
/** What was disposed of while a call was being prepared. */
const disposed: Freed[] = [];

export function holdArray(handle: Pointer): Pointer {
  arrays.push(handle);
  pending++;
  return handle;
}

export function holdVector(handle: Pointer): Pointer {
  vectors.push(handle);
  pending++;
  return handle;
}

/** A constant that others have displaced. */
export function holdConstant(handle: Pointer): void {
  constants.push(handle);
  pending++;
}

export function dropTemporaries(): void {
  if (pending === 0) return;
  pending = 0;
  while (arrays.length > arrayFloor) C.mlx_array_free(arrays.pop()!);
  while (vectors.length > vectorFloor) C.mlx_vector_array_free(vectors.pop()!);
  // Any call further out may have taken these.
  if (depth > 0) return;
  while (constants.length > 0) C.mlxts_constant_free(constants.pop()!);
  if (disposed.length === 0) return;
  for (const { kind, handle } of disposed.splice(0)) kind.free(handle);
}

/** Frees what was prepared for the call that now will not happen, and throws. */
export function refuse(error: Error): never {
  dropTemporaries();
  throw error;
}

/**
 * Reads from an object that may be the user's own, in the middle of preparing a call: a getter or a Proxy can run
 * anything, whole operations included. Those must not free what this call has prepared, and what they dispose of may be
 * an operand whose handle was taken already: it lives until the outermost of the calls has ended.
 */
export function aside<T>(read: () => T): T {
  const own = pending;
  const floor = arrayFloor;
  const lower = vectorFloor;
  arrayFloor = arrays.length;
  vectorFloor = vectors.length;
  pending = 0;
  depth++;
  const outer = holdFrees(disposed);
  let done = false;
  try {
    const value = read();
    done = true;
    return value;
  } finally {
    // An operation that failed without a word to us may have left something.
    dropTemporaries();
    holdFrees(outer);
    depth--;
    arrayFloor = floor;
    vectorFloor = lower;
    pending = depth === 0 ? own + disposed.length + constants.length : own;
    if (!done) dropTemporaries();
  }
}
