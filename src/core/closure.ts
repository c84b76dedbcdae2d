/**
 * Closures: JavaScript functions that MLX calls. One native callback serves all of them; the payload that MLX hands
 * back carries the function's number. A function is forgotten when MLX has destroyed the last copy of its closure,
 * which may happen on any thread: the shim queues the number, and the queue is read here.
 */

import type { Callback, Pointer } from "../backend/types.ts";
import { type MxArray, wrapArray } from "./array.ts";
import { describe } from "./describe.ts";
import { check, MlxError, takeNativeMessage } from "./error.ts";
import { soundHandle } from "./evaluate.ts";
import { Handle, handleOf, internal } from "./handle.ts";
import { enterNative } from "./ledger.ts";
import { kindOf } from "./kinds.ts";
import { backend, C } from "./native.ts";
import { refusePromise, requireFunction, tidy } from "./scope.ts";
import { pointerAddress } from "./scratch.ts";
import { privateSlot } from "./slots.ts";
import { arrayHandles } from "./vector.ts";

/** A function over flat lists of arrays. It borrows its inputs; MLX copies what it returns. */
export type ArrayFunction = (inputs: MxArray[]) => MxArray | readonly MxArray[];

const functions = new Map<number, ArrayFunction>();
let owner = 0;
let lastId = 0;
let trampoline: Callback | null = null;

// The very object that a callback threw, and whether there is one: undefined can be thrown too.
let thrown: { error: unknown } | null = null;

function run(out: Pointer, inputs: Pointer, payload: Pointer): number {
  try {
    const fn = functions.get(payload % 4294967296);
    if (fn === undefined) throw new Error("closure: its function is gone");
    tidy(() => {
      writeResults(out, fn(arrayHandles(inputs, "closure").map(wrapArray)));
    });
    return 0;
  } catch (error) {
    thrown = { error };
    return 1;
  }
}

function writeResults(out: Pointer, results: MxArray | readonly MxArray[]): void {
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

const drained = new ArrayBuffer(256 * 4);

/** Forgets the functions whose native closures are gone. */
function drain(): void {
  if (owner === 0) return;
  for (;;) {
    const count = C.mlxts_closure_drain(owner, backend.address(drained), 256);
    const ids = new DataView(drained);
    for (let i = 0; i < count; i++) functions.delete(ids.getUint32(i * 4, true));
    if (count < 256) return;
  }
}

/** How many functions native code still holds. For leak tests. */
export function liveFunctions(): number {
  drain();
  return functions.size;
}

/** A function that MLX can call, trace and transform. */
export class Closure extends Handle {
  constructor(fn: ArrayFunction) {
    requireFunction(fn, "Closure");
    drain();
    if (owner === 0) owner = C.mlxts_owner_new();
    trampoline ??= backend.callback(run, { args: ["ptr", "ptr", "ptr"], returns: "i32" });
    lastId = (lastId + 1) % 4294967296;
    functions.set(lastId, fn);
    const payload = C.mlxts_closure_payload(owner, lastId);
    super(
      internal,
      C.mlx_closure_new_func_payload(trampoline.pointer, payload, closureDestructor()),
      0,
      kindOf("closure"),
    );
  }

  /** Calls the function through MLX. */
  apply(inputs: readonly MxArray[]): MxArray[] {
    const handle = handleOf(this, "apply", "Closure");
    return applyVector("apply", inputs, (out, vector) => C.mlx_closure_apply(out, handle, vector));
  }
}

function closureDestructor(): Pointer {
  return backend.symbolAddress("mlxts_closure_dtor");
}

/** A native call that can run closures: an error thrown inside one comes out as the same object. */
export function callClosures(operation: string, call: () => number): void {
  const outer = thrown;
  thrown = null;
  try {
    const status = enterNative(call);
    const inner = thrown as { error: unknown } | null;
    if (inner !== null) {
      takeNativeMessage();
      throw inner.error;
    }
    if (status !== 0) throw new MlxError(operation, takeNativeMessage());
  } finally {
    thrown = outer;
    drain();
  }
}

/** Calls `call` with a vector of the inputs and reads the vector that it fills. */
export function applyVector(
  operation: string,
  inputs: readonly MxArray[],
  call: (out: Pointer, vector: Pointer) => number,
): MxArray[] {
  if (!Array.isArray(inputs)) {
    throw new TypeError(`${operation}: the inputs must be a list of Arrays, got ${describe(inputs)}.`);
  }
  const handles = Array.from(inputs as readonly MxArray[], (input) => soundHandle(input, operation));
  const vector = C.mlx_vector_array_new_data(pointerAddress(handles), handles.length);
  const out = privateSlot();
  try {
    callClosures(operation, () => call(out.address, vector));
    return takeVector(out.read(), operation);
  } finally {
    C.mlx_vector_array_free(vector);
  }
}

/** Reads and frees a native vector of arrays. */
export function takeVector(vector: Pointer, operation: string): MxArray[] {
  const arrays = arrayHandles(vector, operation).map(wrapArray);
  C.mlx_vector_array_free(vector);
  return arrays;
}
