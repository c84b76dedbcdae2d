/** The elements of a layout as a copy in row-major order, whatever the strides. */

import { check } from "../core/error.ts";
import { backend, C } from "../core/native.ts";
import { spanOf, type StorageLayout } from "./layout.ts";

/**
 * Copies the elements of a layout in row-major order. `bytes` holds what `spanOf` says the layout reaches: it begins with
 * the byte `firstByte` of the layout's buffer. `operation` names who asks.
 */
export function gather(layout: StorageLayout, bytes: ArrayBuffer, operation: string): ArrayBuffer {
  const { shape, strides, itemsize, byteOffset } = layout;
  const { logicalNbytes, firstByte } = spanOf(layout);
  let piece = 1;
  let axes = shape.length;
  while (axes > 0 && (shape[axes - 1] === 1 || strides[axes - 1] === piece)) piece *= shape[--axes]!;
  // All of it lies as it should, or there is nothing.
  if (logicalNbytes === 0 || axes === 0) return bytes.slice(0, logicalNbytes);
  const result = new ArrayBuffer(logicalNbytes);
  const lengths = BigInt64Array.from(shape, BigInt);
  const steps = BigInt64Array.from(strides, BigInt);
  check(
    C.mlxts_gather(
      backend.address(result),
      backend.address(bytes) + byteOffset - firstByte,
      backend.address(lengths.buffer),
      backend.address(steps.buffer),
      shape.length,
      itemsize,
    ),
    operation,
  );
  return result;
}
