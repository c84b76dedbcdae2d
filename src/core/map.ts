/** Maps from names to arrays and to strings: what files load into. */

import type { Pointer } from "../backend/types.ts";
import { type MxArray, wrapArray } from "./array.ts";
import { check } from "./error.ts";
import { backend, C } from "./native.ts";
import { readSlot, slot } from "./slots.ts";

// An iterator is two words by value: its own pointer, which the constructor returns, and the map's.

/** Reads and frees a native map of arrays. The caller owns the arrays. */
export function takeArrayMap(map: Pointer, operation: string): Record<string, MxArray> {
  const result: Record<string, MxArray> = Object.create(null);
  const iterator = C.mlx_map_string_to_array_iterator_new(map);
  try {
    for (;;) {
      const key = slot();
      const value = slot();
      if (C.mlx_map_string_to_array_iterator_next(key, value, iterator, map) !== 0) break;
      result[backend.text(readSlot(key))] = wrapArray(readSlot(value));
    }
  } finally {
    C.mlx_map_string_to_array_iterator_free(iterator, map);
    C.mlx_map_string_to_array_free(map);
  }
  return result;
}

/** Reads and frees a native map of strings. */
export function takeStringMap(map: Pointer): Record<string, string> {
  const result: Record<string, string> = Object.create(null);
  const iterator = C.mlx_map_string_to_string_iterator_new(map);
  try {
    for (;;) {
      const key = slot();
      const value = slot();
      if (C.mlx_map_string_to_string_iterator_next(key, value, iterator, map) !== 0) break;
      result[backend.text(readSlot(key))] = backend.text(readSlot(value));
    }
  } finally {
    C.mlx_map_string_to_string_iterator_free(iterator, map);
    C.mlx_map_string_to_string_free(map);
  }
  return result;
}
