/**
 * Native values that live for one call: scalars turned into arrays, lists turned into vectors. They never enter the
 * ledger. `produce` and `failure` free them, and so does every error thrown on the way to the call.
 */

import type { Pointer } from "../backend/types.ts";
import { C } from "./native.ts";

const arrays: Pointer[] = [];
const vectors: Pointer[] = [];
const constants: Pointer[] = [];
let pending = 0;

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
  while (arrays.length > 0) C.mlx_array_free(arrays.pop()!);
  while (vectors.length > 0) C.mlx_vector_array_free(vectors.pop()!);
  while (constants.length > 0) C.mlxts_constant_free(constants.pop()!);
}

/** Frees what was prepared for the call that now will not happen, and throws. */
export function refuse(error: Error): never {
  dropTemporaries();
  throw error;
}
