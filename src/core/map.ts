/** Maps from names to arrays: what files load into. */

import type { Pointer } from "../backend/types.ts";
import { type MxArray, wrapArray } from "./array.ts";
import { check } from "./error.ts";
import { soundHandle } from "./evaluate.ts";
import { backend, C } from "./native.ts";
import { textAddress } from "./scratch.ts";
import { readSlot, slot } from "./slots.ts";

// An iterator is two words by value: its own pointer, which the constructor returns, and the map's.

/** A new native map of live arrays. The caller frees it, and has checked that no name contains NUL. */
export function arrayMapOf(arrays: Readonly<Record<string, MxArray>>, operation: string): Pointer {
  const map = C.mlx_map_string_to_array_new();
  try {
    for (const [name, array] of Object.entries(arrays)) {
      const handle = soundHandle(array, operation);
      check(C.mlx_map_string_to_array_insert(map, textAddress(name), handle), operation);
    }
  } catch (error) {
    C.mlx_map_string_to_array_free(map);
    throw error;
  }
  return map;
}

/** Reads and frees a native map of arrays. The caller owns the arrays. */
export function takeArrayMap(map: Pointer, operation: string): Record<string, MxArray> {
  try {
    return readArrayMap(map);
  } finally {
    C.mlx_map_string_to_array_free(map);
  }
}

/** The arrays of a map that native code lends. */
export function readArrayMap(map: Pointer): Record<string, MxArray> {
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
  }
  return result;
}
