/** The call funnel: what every operation imports, and the two ways a native call ends. */

import type { Pointer } from "../backend/types.ts";
import { MxArray, wrapArray, wrapArrays } from "./array.ts";
import { MlxError, takeNativeMessage } from "./error.ts";
import { opHook, tellAll } from "./hooks.ts";
import { C } from "./native.ts";
import { readSlot } from "./slots.ts";
import { defaultStreamHandle, type StreamOptions, streamHandle } from "./stream.ts";
import { dropTemporaries } from "./temporaries.ts";
import { arrayHandles } from "./vector.ts";

export { bool, dtype, float, int, int64s, ints, optionalDtype, optionalFloat, optionalInt, str } from "./args.ts";
export { type ArrayInput, MxArray } from "./array.ts";
export { C } from "./native.ts";
export {
  type IndexInput,
  indexInput,
  input,
  inputDtype,
  inputLike,
  nullable,
  type Pair,
  pair,
  vector,
} from "./operands.ts";
export { checkOptions, isOptions } from "./options.ts";
export { type PrivateSlot, privateSlot, slot } from "./slots.ts";
export type { StreamOptions, StreamOrDevice } from "./stream.ts";
export { refuse } from "./temporaries.ts";

/** The native stream that an operation runs on. */
export function stream(options: StreamOptions | undefined, op: string): Pointer {
  if (options === undefined || options.stream === undefined) return defaultStreamHandle();
  return streamHandle(options.stream, op);
}

/** The error of a failed call, with the shapes and dtypes of its operands. */
export function failure(op: string, operands: readonly unknown[]): MlxError {
  dropTemporaries();
  const reason = takeNativeMessage();
  const shapes = operands
    .flat()
    .map(operandText)
    .filter((text) => text !== "");
  return new MlxError(op, reason, shapes.length === 0 ? "" : `operands: ${shapes.join(", ")}`);
}

function operandText(operand: unknown): string {
  if (operand instanceof MxArray)
    return operand.disposed ? "a disposed Array" : `${operand.dtype}[${operand.shape.join(", ")}]`;
  return typeof operand === "number" || typeof operand === "boolean" || typeof operand === "bigint"
    ? String(operand)
    : "";
}

/** The array that a call wrote into a ring slot. */
export function produce(op: string, slot: Pointer): MxArray {
  dropTemporaries();
  const array = wrapArray(readSlot(slot), op);
  if (opHook !== null) opHook(op, array);
  return array;
}

/** The two arrays of a call with two results. */
export function produce2(op: string, first: Pointer, second: Pointer): [MxArray, MxArray] {
  dropTemporaries();
  const [one, two] = ownAll(op, [readSlot(first), readSlot(second)]);
  return [one!, two!];
}

/** The arrays of a native vector, which is freed. */
export function produceVector(op: string, slot: Pointer): MxArray[] {
  dropTemporaries();
  return ownAll(op, arrayHandles(readSlot(slot), op, true));
}

function ownAll(op: string, handles: readonly Pointer[]): MxArray[] {
  const arrays = wrapArrays(handles, op);
  if (opHook !== null) tellAll(op, arrays);
  return arrays;
}
