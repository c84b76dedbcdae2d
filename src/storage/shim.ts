/** What native code says of an array's storage: the answers that tests put others in the place of. */

import type { MxArray } from "../core/array.ts";
import { evaluateOne } from "../core/evaluate.ts";
import { backend, C } from "../core/native.ts";
import { readyNow } from "../core/ready.ts";
import { isAvailable as cudaAvailable } from "../platforms/cuda.ts";
import { isAvailable as metalAvailable } from "../platforms/metal.ts";
import type { Pointer } from "../backend/types.ts";

export interface StorageShim {
  metalAvailable(): boolean;
  cudaAvailable(): boolean;
  /** 0 not scheduled, 1 scheduled, 2 available. */
  status(handle: Pointer): number;
  /** Whether a scheduled array's value is there. Throws when its computation has failed. */
  isReady(array: MxArray, operation: string): boolean;
  /** Computes or waits. Throws when that fails, or cannot be done. */
  evaluate(array: MxArray, operation: string): void;
  /** The buffer object, 0 for none, its identity, its bytes, its Metal device, and its address on the host. */
  buffer(handle: Pointer): Pointer;
  bufferId(handle: Pointer): number;
  bufferBytes(handle: Pointer): number;
  device(buffer: Pointer): Pointer;
  hostAddress(handle: Pointer): Pointer;
  offset(handle: Pointer): number;
  dataSize(handle: Pointer): number;
  /** Bit 0 contiguous, bit 1 row-contiguous, bit 2 column-contiguous. */
  flags(handle: Pointer): number;
  strides(handle: Pointer): number[];
}

/** Strides are int64, and a double holds all that a buffer can have. */
function strides(handle: Pointer): number[] {
  const ndim = C.mlx_array_ndim(handle);
  if (ndim === 0) return [];
  const address = C.mlx_array_strides(handle);
  return Array.from(
    { length: ndim },
    (_, axis) => (backend.readI32(address, 8 * axis) >>> 0) + backend.readI32(address, 8 * axis + 4) * 2 ** 32,
  );
}

// A NULL pointer comes as null.
const orZero = (pointer: Pointer | null): Pointer => pointer ?? 0;

export const shim: StorageShim = {
  metalAvailable,
  cudaAvailable,
  status: (handle) => C.mlxts_array_status(handle),
  isReady: readyNow,
  evaluate: (array, operation) => {
    evaluateOne(array, operation);
  },
  buffer: (handle) => orZero(C.mlxts_array_native_buffer(handle)),
  bufferId: (handle) => Number(C.mlxts_array_storage_id(handle)),
  bufferBytes: (handle) => Number(C.mlxts_array_buffer_size(handle)),
  device: (buffer) => orZero(C.mlxts_metal_device(buffer)),
  hostAddress: (handle) => orZero(C.mlxts_array_buffer(handle)),
  offset: (handle) => Number(C.mlxts_array_offset(handle)),
  dataSize: (handle) => Number(C.mlxts_array_data_size(handle)),
  flags: (handle) => C.mlxts_array_flags(handle),
  strides,
};
