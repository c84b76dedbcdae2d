/** Closures: JavaScript functions over lists of arrays that MLX can call, trace and transform. */

import type { Pointer } from "../backend/types.ts";
import { type MxArray, wrapArray } from "./array.ts";
import { callClosures, nativeClosure } from "./callbacks.ts";
import { describe } from "./describe.ts";
import { check } from "./error.ts";
import { soundHandle } from "./evaluate.ts";
import { Handle, handleOf, internal } from "./handle.ts";
import { kindOf } from "./kinds.ts";
import { C } from "./native.ts";
import { refusePromise, requireFunction } from "./scope.ts";
import { pointerAddress } from "./scratch.ts";
import { privateSlot } from "./slots.ts";
import { arrayHandles } from "./vector.ts";

/** A function over flat lists of arrays. It borrows its inputs; MLX copies what it returns. */
export type ArrayFunction = (inputs: MxArray[]) => MxArray | readonly MxArray[];

/** Copies what a function returned into the vector that native code gave. */
export function writeResults(out: Pointer, results: MxArray | readonly MxArray[]): void {
  refusePromise(results, "closure", "its arrays are freed when it returns");
  const list = Array.isArray(results) ? (results as readonly MxArray[]) : [results as MxArray];
  const handles = Array.from(list, (result) => {
    if (!(result instanceof Handle) || result.entry.kind.name !== "Array") {
      throw new TypeError(`closure: the function must return an Array or a list of Arrays, got ${describe(result)}.`);
    }
    return soundHandle(result, "closure");
  });
  check(C.mlx_vector_array_set_data(out, pointerAddress(handles), handles.length), "closure");
}

/** The arrays of a vector that native code lends. */
export function takeArrays(vector: Pointer): MxArray[] {
  return arrayHandles(vector, "closure").map(wrapArray);
}

/** A function that MLX can call, trace and transform. */
export class Closure extends Handle {
  constructor(fn: ArrayFunction) {
    requireFunction(fn, "Closure");
    const raw = (out: Pointer, inputs: Pointer): void => writeResults(out, fn(takeArrays(inputs)));
    const handle = nativeClosure("closure", raw, (callback, payload, destructor) =>
      C.mlx_closure_new_func_payload(callback, payload, destructor),
    );
    super(internal, handle, 0, kindOf("closure"));
  }

  /** Calls the function through MLX. */
  apply(inputs: readonly MxArray[]): MxArray[] {
    const handle = handleOf(this, "apply", "Closure");
    return applyVectors("apply", 1, [inputs], ([out], [vector]) => C.mlx_closure_apply(out!, handle, vector!))[0]!;
  }
}

/** A new native vector of live arrays. The caller frees it. */
export function vectorOf(arrays: readonly MxArray[], operation: string): Pointer {
  if (!Array.isArray(arrays)) {
    throw new TypeError(`${operation}: the inputs must be a list of Arrays, got ${describe(arrays)}.`);
  }
  const handles = Array.from(arrays as readonly MxArray[], (array) => soundHandle(array, operation));
  return C.mlx_vector_array_new_data(pointerAddress(handles), handles.length);
}

/**
 * Calls `call` with `results` addresses for result vectors and a vector for each list of inputs, and returns the lists
 * of arrays that came out. The call may run closures.
 */
export function applyVectors(
  operation: string,
  results: number,
  inputs: readonly (readonly MxArray[])[],
  call: (outs: Pointer[], ins: Pointer[]) => number,
): MxArray[][] {
  const ins: Pointer[] = [];
  try {
    for (const list of inputs) ins.push(vectorOf(list, operation));
    const outs = Array.from({ length: results }, privateSlot);
    callClosures(operation, () =>
      call(
        outs.map((out) => out.address),
        ins,
      ),
    );
    return outs.map((out) => takeVector(out.read(), operation));
  } finally {
    for (const vector of ins) C.mlx_vector_array_free(vector);
  }
}

/** Reads and frees a native vector of arrays. */
export function takeVector(vector: Pointer, operation: string): MxArray[] {
  const arrays = arrayHandles(vector, operation).map(wrapArray);
  C.mlx_vector_array_free(vector);
  return arrays;
}
