/** The bytes of an array in row-major order, straight from MLX's memory. */

import { type MxArray, wrapArray } from "../core/array.ts";
import { C } from "../core/call.ts";
import { check, MlxError } from "../core/error.ts";
import { evaluateOne } from "../core/evaluate.ts";
import { backend } from "../core/native.ts";
import { readSlot, slot } from "../core/slots.ts";
import { readingStreamHandle } from "../core/stream.ts";

/** Views over native memory are limited in size. */
const CHUNK = 1 << 24;

/** Calls `visit` on the bytes, part by part. A part is a view that is good during the call only. */
export function eachPart(array: MxArray, operation: string, visit: (bytes: Uint8Array) => void): void {
  using rows = rowMajor(array, operation);
  const bytes = rows.nbytes;
  if (bytes === 0) return;
  // Any element type's accessor gives the address; the 16-bit floats have none on x86-64.
  const address = C.mlx_array_data_uint8(evaluateOne(rows, operation));
  if (!address) throw new MlxError(operation, "the array has no data: an earlier evaluation of it failed");
  for (let done = 0; done < bytes; done += CHUNK) {
    visit(new Uint8Array(backend.view(address + done, Math.min(CHUNK, bytes - done))));
  }
}

/** The same array in row-major order: itself when it is so already. */
export function rowMajor(array: MxArray, operation: string): MxArray {
  const out = slot();
  check(C.mlx_contiguous(out, evaluateOne(array, operation), false, readingStreamHandle(array.dtype)), operation);
  return wrapArray(readSlot(out));
}
