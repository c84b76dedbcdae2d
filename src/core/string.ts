/** mlx_string results. */

import type { Pointer } from "../backend/types.ts";
import { check } from "./error.ts";
import { backend, C } from "./native.ts";
import { readSlot, slot } from "./slots.ts";

/** The text that a native call writes into an mlx_string. */
export function nativeText(operation: string, call: (out: Pointer) => number): string {
  const out = slot();
  check(call(out), operation);
  const handle = readSlot(out);
  try {
    return backend.text(C.mlx_string_data(handle));
  } finally {
    C.mlx_string_free(handle);
  }
}
