/**
 * A short proof, on this very runtime, that values survive the way into native code and back: see slots.ts for what
 * can go wrong. It runs once at first load from a checkout, and in `mlx-ts doctor`.
 */

import { dtypeCodes } from "./dtype.ts";
import { LibraryError } from "./error.ts";
import { backend, C, onLoad } from "./native.ts";
import { int32Address } from "./scratch.ts";
import { readSlot, readSlotI32, slot } from "./slots.ts";

/** Runs the proof; returns how many of the values came back wrong. */
export function selfTest(iterations: number): number {
  let wrong = 0;
  for (let i = 1; i <= iterations; i++) {
    const scalar = C.mlx_array_new_int(i);
    const item = slot();
    C.mlx_array_item_int32(item, scalar);
    if (readSlotI32(item) !== i) wrong++;
    const copy = slot();
    C.mlx_array_set(copy, scalar);
    const handle = readSlot(copy);
    if (handle === 0 || handle === scalar) wrong++;
    const view = C.mlx_array_new_data(int32Address([i, i + 1]), int32Address([2, 1]), 2, dtypeCodes.int32);
    if (C.mlx_array_dim(view, 0) !== 2 || C.mlx_array_dim(view, 1) !== 1) wrong++;
    if (backend.readI32(C.mlx_array_data_int32(view), 4) !== i + 1) wrong++;
    C.mlx_array_free(view);
    C.mlx_array_free(scalar);
    C.mlx_array_free(handle);
  }
  return wrong;
}

onLoad((found) => {
  if (found.source !== "repository") return;
  const wrong = selfTest(2000);
  if (wrong > 0) {
    throw new LibraryError(
      `${wrong} of 8,000 values did not survive the way to native code and back on Bun ${Bun.version}. Results would be wrong, so nothing is computed. Run "mlx-ts doctor", and report its output.`,
    );
  }
});
