/** Vectors: MLX's lists of arrays, integers and strings. Most code never sees one; results are read and freed at once. */

import type { Pointer } from "../backend/types.ts";
import { check } from "./error.ts";
import { Handle, handleOf, internal } from "./handle.ts";
import type { Kind } from "./ledger.ts";
import { backend, C } from "./native.ts";
import { readSlot, readSlotI32, slot } from "./slots.ts";

// Where native code writes the handles of a vector: larger than any before, and never read across a call.
let room = 64;
let view = new DataView(new ArrayBuffer(room * 8));
let address = backend.address(view.buffer as ArrayBuffer);

/**
 * Reads each array handle of a native vector, which is left alone, or freed where `frees` says so. The caller owns the
 * handles.
 */
export function arrayHandles(vector: Pointer, operation: string, frees = false): Pointer[] {
  let size = C.mlxts_vector_handles(vector, frees, address, room);
  if (size > room) {
    room = 2 ** Math.ceil(Math.log2(size));
    view = new DataView(new ArrayBuffer(room * 8));
    address = backend.address(view.buffer as ArrayBuffer);
    size = C.mlxts_vector_handles(vector, frees, address, room);
  }
  if (size < 0) check(1, operation);
  const handles: Pointer[] = [];
  for (let i = 0; i < size; i++) {
    handles.push(view.getUint32(i * 8, true) + view.getUint32(i * 8 + 4, true) * 4294967296);
  }
  return handles;
}

/** Reads and frees a native vector of strings. */
export function takeStrings(vector: Pointer): string[] {
  const size = C.mlx_vector_string_size(vector);
  const strings: string[] = [];
  for (let i = 0; i < size; i++) {
    const out = slot();
    check(C.mlx_vector_string_get(out, vector, i), "VectorString");
    strings.push(backend.text(readSlot(out)));
  }
  C.mlx_vector_string_free(vector);
  return strings;
}

/** Reads and frees a native vector of int32. */
export function takeInts(vector: Pointer): number[] {
  const size = C.mlx_vector_int_size(vector);
  const ints: number[] = [];
  for (let i = 0; i < size; i++) {
    const out = slot();
    check(C.mlx_vector_int_get(out, vector, i), "VectorInt");
    ints.push(readSlotI32(out));
  }
  C.mlx_vector_int_free(vector);
  return ints;
}

const kind: Kind = { name: "VectorArray", free: (handle) => C.mlx_vector_array_free(handle) };

/** MLX's list of arrays, for the raw functions of `mlx-ts/ffi`. */
export class VectorArray extends Handle {
  /** @internal */
  constructor(key: typeof internal, handle: Pointer) {
    super(key, handle, 0, kind);
  }

  static empty(): VectorArray {
    return new VectorArray(internal, C.mlx_vector_array_new());
  }

  get size(): number {
    return C.mlx_vector_array_size(handleOf(this, "size", "VectorArray"));
  }
}
