/**
 * JavaScript functions that native code calls. One native callback for each signature serves all functions of it; the
 * payload that MLX hands back carries the function's number. A function is forgotten when MLX has destroyed the last
 * copy of its closure, which may happen on any thread: the shim queues the number, and the queue is read here.
 */

import type { Callback, FFIName, Pointer } from "../backend/types.ts";
import { MlxError, takeNativeMessage } from "./error.ts";
import { enterNative } from "./ledger.ts";
import { backend, C } from "./native.ts";
import { tidy } from "./scope.ts";

/** What a registered function gets: the native arguments of its signature, without the payload. */
export type RawFunction = (...args: Pointer[]) => void;

/** The signatures of mlx-c's closures: how many words come before the payload. */
const words = { closure: 2, closure_custom: 4, closure_custom_jvp: 5, closure_custom_vmap: 5 } as const;

export type ClosureKind = keyof typeof words;

const functions = new Map<number, RawFunction>();
const trampolines = new Map<ClosureKind, Callback>();
let owner = 0;
let lastId = 0;

// The very object that a callback threw, and whether there is one: undefined can be thrown too.
let thrown: { error: unknown } | null = null;

function run(...args: Pointer[]): number {
  try {
    const fn = functions.get(args[args.length - 1]! % 4294967296);
    if (fn === undefined) throw new Error("closure: its function is gone");
    tidy(() => fn(...args.slice(0, -1)));
    return 0;
  } catch (error) {
    thrown = { error };
    return 1;
  }
}

function trampoline(kind: ClosureKind): Pointer {
  let callback = trampolines.get(kind);
  if (callback === undefined) {
    const args = new Array<FFIName>(words[kind] + 1).fill("ptr");
    callback = backend.callback(run, { args, returns: "i32" });
    trampolines.set(kind, callback);
  }
  return callback.pointer;
}

/** Makes a native closure of a function, given the native constructor of its kind. */
export function nativeClosure(
  kind: ClosureKind,
  fn: RawFunction,
  make: (callback: Pointer, payload: Pointer, destructor: Pointer) => Pointer,
): Pointer {
  drain();
  if (owner === 0) owner = C.mlxts_owner_new();
  lastId = (lastId + 1) % 4294967296;
  functions.set(lastId, fn);
  const payload = C.mlxts_closure_payload(owner, lastId);
  return make(trampoline(kind), payload, backend.symbolAddress("mlxts_closure_dtor"));
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
