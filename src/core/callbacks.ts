/**
 * JavaScript functions that native code calls. One native callback for each signature serves all functions of it; the
 * payload that MLX hands back carries the function's number. A function is forgotten when MLX has destroyed the last
 * copy of its closure, which may happen on any thread: the shim queues the number, and the queue is read here.
 */

import type { Callback, FFIName, Pointer } from "../backend/types.ts";
import { MlxError, takeNativeMessage } from "./error.ts";
import { tracer } from "./hooks.ts";
import { enterNative } from "./ledger.ts";
import { backend, C } from "./native.ts";
import { enterScope, leaveScope } from "./scope.ts";

/** What a registered function gets: the native arguments of its signature, without the payload. */
export type RawFunction = (...args: Pointer[]) => void;

/** The signatures of mlx-c's closures: how many words come before the payload. */
const words = {
  closure: 2,
  closure_kwargs: 3,
  closure_custom: 4,
  closure_custom_jvp: 5,
  closure_custom_vmap: 5,
} as const;

export type ClosureKind = keyof typeof words;

const functions = new Map<number, RawFunction>();
// Those that stay for the life of the thread.
const lasting = new Map<number, RawFunction>();
const trampolines = new Map<ClosureKind, Callback>();
let owner = 0;
let lastId = 0;

// The engine guards the stack against its own frames only. This leaves room for MLX's, which walk graphs recursively.
export const DEEPEST = 256;
let depth = 0;
let running = "closure";

// The very object that a callback threw, and whether there is one: undefined can be thrown too.
let thrown: { error: unknown } | null = null;

function run(payload: Pointer, count: number, a: Pointer, b: Pointer, c = 0, d = 0, e = 0): number {
  const span = tracer === null ? null : tracer.begin("closure", "closure");
  enterScope();
  try {
    const id = payload - owner * 4294967296;
    const fn = lasting.get(id) ?? functions.get(id);
    if (fn === undefined) throw new Error("closure: its function is gone");
    if (count === 2) fn(a, b);
    else fn(...[a, b, c, d, e].slice(0, count));
    return 0;
  } catch (error) {
    thrown = { error };
    return 1;
  } finally {
    leaveScope();
    span?.end();
  }
}

/** What native code calls. The signatures have 2 to 5 words before the payload. */
const entries: Record<number, (...args: Pointer[]) => number> = {
  2: (a, b, payload) => run(payload!, 2, a!, b!),
  3: (a, b, c, payload) => run(payload!, 3, a!, b!, c!),
  4: (a, b, c, d, payload) => run(payload!, 4, a!, b!, c!, d!),
  5: (a, b, c, d, e, payload) => run(payload!, 5, a!, b!, c!, d!, e!),
};

function trampoline(kind: ClosureKind): Pointer {
  let callback = trampolines.get(kind);
  if (callback === undefined) {
    const args = new Array<FFIName>(words[kind] + 1).fill("ptr");
    callback = backend.callback(entries[words[kind]]!, { args, returns: "i32" });
    trampolines.set(kind, callback);
  }
  return callback.pointer;
}

type MakeClosure = (callback: Pointer, payload: Pointer, destructor: Pointer) => Pointer;

function register(kind: ClosureKind, fn: RawFunction, make: MakeClosure, into: Map<number, RawFunction>): Pointer {
  if (owner === 0) owner = C.mlxts_owner_new();
  do lastId = (lastId + 1) % 4294967296;
  while (functions.has(lastId) || lasting.has(lastId));
  into.set(lastId, fn);
  const payload = C.mlxts_closure_payload(owner, lastId);
  return make(trampoline(kind), payload, backend.symbolAddress("mlxts_closure_dtor"));
}

/** Makes a native closure of a function, given the native constructor of its kind. */
export function nativeClosure(kind: ClosureKind, fn: RawFunction, make: MakeClosure): Pointer {
  drain();
  return register(kind, fn, make, functions);
}

/** The same for a closure that is never freed. */
export function lastingClosure(kind: ClosureKind, fn: RawFunction, make: MakeClosure): Pointer {
  return register(kind, fn, make, lasting);
}

const drained = new ArrayBuffer(256 * 4);
const drainedIds = new DataView(drained);
let drainedAddress: Pointer = 0;

/** Forgets the functions whose native closures are gone. */
function drain(): void {
  if (functions.size === 0) return;
  if (drainedAddress === 0) drainedAddress = backend.address(drained);
  for (;;) {
    const count = C.mlxts_closure_drain(owner, drainedAddress, 256);
    for (let i = 0; i < count; i++) functions.delete(drainedIds.getUint32(i * 4, true));
    if (count < 256) return;
  }
}

/** True while native code runs a function that was given to a transform. */
export function insideTransform(): boolean {
  return depth > 0;
}

/** The operation whose native call runs the innermost function. */
export function runningOperation(): string {
  return running;
}

/** How many functions native code still holds. For leak tests. */
export function liveFunctions(): number {
  drain();
  return functions.size;
}

// What to do about those of MLX's words that name a part which no user wrote.
const hints: readonly (readonly [words: string, operations: RegExp, hint: string])[] = [
  [
    "Not implemented for Depends",
    /./,
    "mx.depends, and the gradient of a checkpoint with it, can be neither batched nor differentiated forwards: take mx.grad(mx.checkpoint((x) => mx.sum(mx.vmap(f)(x)))) for mx.vmap(mx.grad(mx.checkpoint(f))), or leave the checkpoint out",
  ],
  [
    "does not match cotangent shape ()",
    /grad$/i,
    "a gradient is that of one number: let the function return a scalar, by mx.sum or mx.mean",
  ],
];

function refused(operation: string, reason: string): MlxError {
  const found = hints.find(([words, operations]) => reason.includes(words) && operations.test(operation));
  return new MlxError(operation, reason, found?.[2] ?? "");
}

/** A native call that can run closures: an error thrown inside one comes out as the same object. */
export function callClosures(operation: string, call: () => number): void {
  if (depth >= DEEPEST) throw new RangeError(`${operation}: transforms are nested more than ${DEEPEST} deep.`);
  const outer = thrown;
  const around = running;
  thrown = null;
  running = operation;
  depth++;
  const span = tracer === null ? null : tracer.begin("transform", operation);
  try {
    const status = enterNative(call);
    const inner = thrown as { error: unknown } | null;
    if (inner !== null) {
      takeNativeMessage();
      throw inner.error;
    }
    if (status !== 0) throw refused(operation, takeNativeMessage());
  } finally {
    depth--;
    thrown = outer;
    running = around;
    span?.end();
    drain();
  }
}
