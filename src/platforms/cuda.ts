/** The namespace mx.cuda. */

import { check } from "../core/error.ts";
import { C } from "../core/native.ts";
import { readSlot, slot } from "../core/slots.ts";

/** Whether this build of MLX computes on an NVIDIA GPU, and the machine has one. Python: `mx.cuda.is_available()`. */
export function isAvailable(): boolean {
  const out = slot();
  check(C.mlx_cuda_is_available(out), "cuda.isAvailable");
  return (readSlot(out) & 1) === 1;
}
