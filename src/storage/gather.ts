/** The elements of a layout as a copy in row-major order, whatever the strides. */

import type { Pointer } from "../backend/types.ts";
import { check } from "../core/error.ts";
import { backend, C } from "../core/native.ts";
import type { StorageLayout } from "./layout.ts";

/**
 * Copies the elements of a layout in row-major order, `first` being the address of the one at index 0. `operation` names
 * who asks.
 */
export function gather(layout: StorageLayout, first: Pointer, operation: string): ArrayBuffer {
  const { shape, strides, itemsize } = layout;
  let run = 1;
  let axes = shape.length;
  while (axes > 0 && (shape[axes - 1] === 1 || strides[axes - 1] === run)) run *= shape[--axes]!;
  // All of it lies as it should.
  if (axes === 0) return backend.view(first, run * itemsize).slice(0);
  const result = new ArrayBuffer(shape.reduce((size, length) => size * length, itemsize));
  if (result.byteLength === 0) return result;
  const lengths = BigInt64Array.from(shape, BigInt);
  const steps = BigInt64Array.from(strides, BigInt);
  const [to, along, by] = [result, lengths.buffer, steps.buffer].map(backend.address) as [Pointer, Pointer, Pointer];
  check(C.mlxts_gather(to, first, along, by, shape.length, itemsize), operation);
  return result;
}
