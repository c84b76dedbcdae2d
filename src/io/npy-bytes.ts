/** The bytes of an npy file in memory, as MLX writes them. */

import { C, type MxArray, str } from "../core/call.ts";
import { check } from "../core/error.ts";
import { evaluateOne } from "../core/evaluate.ts";
import { backend } from "../core/native.ts";

/** Room for the header is left below what one buffer holds. */
const LARGEST = 2 ** 32 - 2 ** 20;

/** Calls `use` on the file; the bytes are good during the call only. */
export function npyBytes<T>(array: MxArray, operation: string, use: (bytes: Uint8Array<ArrayBuffer>) => T): T {
  if (array.nbytes > LARGEST) {
    throw new RangeError(`${operation}: an array of ${array.nbytes} bytes is more than one buffer holds.`);
  }
  const handle = evaluateOne(array, operation);
  const writer = C.mlxts_writer_to_memory(str("npy", operation, "label"));
  check(writer ? 0 : 1, operation);
  try {
    check(C.mlx_save_writer(writer, handle), operation);
    return use(new Uint8Array(backend.view(C.mlxts_writer_data(writer), Number(C.mlxts_writer_size(writer)))));
  } finally {
    C.mlx_io_writer_free(writer);
  }
}
