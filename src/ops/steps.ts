/** Intermediate results of composed operations: native arrays that live until the operation ends, and never in the ledger. */

import type { Pointer } from "../backend/types.ts";
import { C, failure, ints, slot } from "../core/call.ts";
import { readSlot } from "../core/slots.ts";
import { holdArray } from "../core/temporaries.ts";

/** The result of one native call on the way; throws the operation's error if it failed. */
export function step(status: number, out: Pointer, op: string, operands: readonly unknown[]): Pointer {
  if (status !== 0) throw failure(op, operands);
  return holdArray(readSlot(out));
}

/** The same elements in another shape. */
export function reshaped(
  array: Pointer,
  shape: readonly number[],
  on: Pointer,
  op: string,
  operands: readonly unknown[],
): Pointer {
  const out = slot();
  return step(C.mlx_reshape(out, array, ints(shape, op, "shape"), shape.length, on), out, op, operands);
}

/** The same elements along one axis. */
export function flattened(array: Pointer, on: Pointer, op: string, operands: readonly unknown[]): Pointer {
  return reshaped(array, [-1], on, op, operands);
}
