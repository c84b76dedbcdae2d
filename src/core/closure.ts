/** Closures: JavaScript functions over lists of arrays that MLX can call, trace and transform. */

import type { Pointer } from "../backend/types.ts";
import { type MxArray, wrapArray } from "./array.ts";
import { callClosures, lastingClosure, nativeClosure, runningOperation } from "./callbacks.ts";
import { describe } from "./describe.ts";
import { check } from "./error.ts";
import { soundHandle } from "./evaluate.ts";
import { Handle, handleOf, internal } from "./handle.ts";
import { tracer } from "./hooks.ts";
import { kept } from "./kept.ts";
import { kindOf } from "./kinds.ts";
import { backend, C } from "./native.ts";
import { refusePromise, requireFunction } from "./scope.ts";
import { pointerAddress } from "./scratch.ts";
import { type PrivateSlot, privateSlot, readSlot, slot } from "./slots.ts";

/** A function over flat lists of arrays. It borrows its inputs; MLX copies what it returns. */
export type ArrayFunction = (inputs: MxArray[]) => MxArray | readonly MxArray[];

/** Copies what a function returned into the vector that native code gave. */
export function writeResults(out: Pointer, results: MxArray | readonly MxArray[]): void {
  refusePromise(results, "closure", "its arrays are freed when it returns");
  const list = Array.isArray(results) ? (results as readonly MxArray[]) : [results as MxArray];
  const handles: Pointer[] = [];
  // By index: a hole in the list is a missing Array too.
  for (let i = 0; i < list.length; i++) {
    const result = list[i];
    if (!(result instanceof Handle) || result.entry.kind.name !== "Array") {
      throw new TypeError(`closure: the function must return an Array or a list of Arrays, got ${describe(result)}.`);
    }
    handles.push(soundHandle(result, "closure"));
  }
  if (handles.length === 1) check(C.mlx_vector_array_set_value(out, handles[0]!), "closure");
  else check(C.mlx_vector_array_set_data(out, pointerAddress(handles), handles.length), "closure");
}

/**
 * The same for a function whose graph MLX then walks by recursion, from the results back to the inputs: refuses one for
 * which the stack is too small.
 */
export function writeGraph(out: Pointer, results: MxArray | readonly MxArray[], inputs: Pointer): void {
  writeResults(out, results);
  // `out` is where the handle of the vector stands.
  check(C.mlxts_check_depth(backend.readPointer(out, 0), inputs), runningOperation());
}

/** The arrays of a vector that native code lends. */
export function takeArrays(vector: Pointer, operation = "closure"): MxArray[] {
  const size = C.mlx_vector_array_size(vector);
  const arrays: MxArray[] = [];
  for (let i = 0; i < size; i++) {
    const out = slot();
    check(C.mlx_vector_array_get(out, vector, i), operation);
    arrays.push(wrapArray(readSlot(out)));
  }
  return arrays;
}

const makeClosure = (callback: Pointer, payload: Pointer, destructor: Pointer): Pointer =>
  C.mlx_closure_new_func_payload(callback, payload, destructor);

/** A function that MLX can call, trace and transform. */
export class Closure extends Handle {
  constructor(fn: ArrayFunction) {
    requireFunction(fn, "Closure");
    const raw = (out: Pointer, inputs: Pointer): void => writeGraph(out, fn(takeArrays(inputs)), inputs);
    const handle = nativeClosure("closure", raw, makeClosure);
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
  if (arrays.length === 1) return C.mlx_vector_array_new_value(soundHandle(arrays[0]!, operation));
  const handles: Pointer[] = [];
  for (let i = 0; i < arrays.length; i++) handles.push(soundHandle(arrays[i]!, operation));
  return C.mlx_vector_array_new_data(pointerAddress(handles), handles.length);
}

// Result slots by nesting: a call inside of a callback takes the next ones. Each is zeroed right before its use.
const pool: PrivateSlot[] = [];
let taken = 0;

function takeSlot(): PrivateSlot {
  const own = (pool[taken] ??= privateSlot());
  taken++;
  own.clear();
  return own;
}

/** A native call that writes result vectors and reads input vectors. */
export type VectorCall = (outs: Pointer[], ins: Pointer[]) => number;

/**
 * Calls `call` with `results` addresses for result vectors and a vector for each list of inputs, and returns the result
 * vectors, which the caller frees. The call may run closures.
 */
export function callVectors(
  operation: string,
  results: 1 | 2,
  inputs: readonly (readonly MxArray[])[],
  call: VectorCall,
): Pointer[] {
  const ins: Pointer[] = [];
  const first = taken;
  try {
    for (const list of inputs) ins.push(vectorOf(list, operation));
    const one = takeSlot();
    const two = results === 2 ? takeSlot() : null;
    const outs = two === null ? [one.address] : [one.address, two.address];
    callClosures(operation, () => call(outs, ins));
    return two === null ? [one.read()] : [one.read(), two.read()];
  } finally {
    taken = first;
    for (const vector of ins) C.mlx_vector_array_free(vector);
  }
}

/** The same, with the lists of arrays that came out. */
export function applyVectors(
  operation: string,
  results: 1 | 2,
  inputs: readonly (readonly MxArray[])[],
  call: VectorCall,
): MxArray[][] {
  const vectors = callVectors(operation, results, inputs, call);
  const lists: MxArray[][] = [];
  for (const vector of vectors) lists.push(takeVector(vector, operation));
  if (tracer !== null) tracer.made(operation, lists.flat());
  return lists;
}

let shared: Pointer = 0;
let sharedFunction: ArrayFunction | null = null;

/**
 * Runs `body` with a native closure of `fn` that is good only inside of it: for native calls that do not keep the
 * closure. One closure serves all of them, which saves making and freeing one each time.
 */
export function withClosure<T>(fn: ArrayFunction, body: (closure: Pointer) => T): T {
  if (shared === 0) {
    const raw = (out: Pointer, inputs: Pointer): void => {
      writeGraph(out, sharedFunction!(takeArrays(inputs)), inputs);
    };
    shared = kept(lastingClosure("closure", raw, makeClosure));
  }
  const outer = sharedFunction;
  sharedFunction = fn;
  try {
    return body(shared);
  } finally {
    sharedFunction = outer;
  }
}

/** Reads and frees a native vector of arrays. */
export function takeVector(vector: Pointer, operation: string): MxArray[] {
  const arrays = takeArrays(vector, operation);
  C.mlx_vector_array_free(vector);
  return arrays;
}
