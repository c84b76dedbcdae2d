/** Closures: JavaScript functions over lists of arrays that MLX can call, trace and transform. */

import type { Pointer } from "../backend/types.ts";
import { type MxArray, wrapArrays } from "./array.ts";
import { callClosures, DEEPEST, lastingClosure, nativeClosure, runningOperation } from "./callbacks.ts";
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
import { arrayHandles } from "./vector.ts";

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
  return wrapArrays(arrayHandles(vector, operation), operation);
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
    return applyClosure("apply", handle, inputs);
  }
}

/** The address of the handles of live arrays, for one call. */
export function handlesAddress(arrays: readonly MxArray[], operation: string): Pointer {
  if (!Array.isArray(arrays)) {
    throw new TypeError(`${operation}: the inputs must be a list of Arrays, got ${describe(arrays)}.`);
  }
  const handles: Pointer[] = [];
  for (let i = 0; i < arrays.length; i++) handles.push(soundHandle(arrays[i]!, operation));
  return pointerAddress(handles);
}

/** A new native vector of live arrays. The caller frees it. */
export function vectorOf(arrays: readonly MxArray[], operation: string): Pointer {
  return C.mlxts_vector_new(handlesAddress(arrays, operation), arrays.length);
}

// Result slots by nesting: a call inside of a callback takes the next ones. Each is zeroed right before its use. The
// callbacks are no deeper than that.
const SLOTS = 2 * (DEEPEST + 1);
const memory = new ArrayBuffer(SLOTS * 8);
const view = new DataView(memory);
const base = backend.address(memory);
let taken = 0;

function takeSlot(): number {
  if (taken === SLOTS) throw new RangeError(`transforms are nested more than ${DEEPEST} deep.`);
  const offset = taken++ * 8;
  view.setUint32(offset, 0, true);
  view.setUint32(offset + 4, 0, true);
  return offset;
}

function readResult(offset: number): Pointer {
  return view.getUint32(offset, true) + view.getUint32(offset + 4, true) * 4294967296;
}

/** Makes a native call that may run closures and writes a vector of results. Returns its arrays. */
export function callForArrays(operation: string, call: (out: Pointer) => number): MxArray[] {
  const out = takeSlot();
  try {
    callClosures(operation, () => call(base + out));
    const arrays = wrapArrays(arrayHandles(readResult(out), operation, true), operation);
    if (tracer !== null) tracer.made(operation, arrays);
    return arrays;
  } finally {
    taken--;
  }
}

/** The same for two vectors of results. */
export function callForPair(
  operation: string,
  call: (first: Pointer, second: Pointer) => number,
): [first: MxArray[], second: MxArray[]] {
  const before = taken;
  try {
    const one = takeSlot();
    const two = takeSlot();
    callClosures(operation, () => call(base + one, base + two));
    const handles = arrayHandles(readResult(one), operation, true);
    const count = handles.length;
    for (const handle of arrayHandles(readResult(two), operation, true)) handles.push(handle);
    const arrays = wrapArrays(handles, operation);
    if (tracer !== null) tracer.made(operation, arrays);
    return [arrays.slice(0, count), arrays.slice(count)];
  } finally {
    taken = before;
  }
}

/** Calls with a vector of inputs. */
export function withVector<T>(inputs: readonly MxArray[], operation: string, body: (vector: Pointer) => T): T {
  const vector = vectorOf(inputs, operation);
  try {
    return body(vector);
  } finally {
    C.mlx_vector_array_free(vector);
  }
}

/** Applies a native closure. */
export function applyClosure(operation: string, closure: Pointer, inputs: readonly MxArray[]): MxArray[] {
  return withVector(inputs, operation, (vector) =>
    callForArrays(operation, (out) => C.mlx_closure_apply(out, closure, vector)),
  );
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
    shared = kept(lastingClosure("closure", raw, (callback, payload) => C.mlxts_closure_new(callback, payload)));
  }
  const outer = sharedFunction;
  sharedFunction = fn;
  try {
    return body(shared);
  } finally {
    sharedFunction = outer;
  }
}
