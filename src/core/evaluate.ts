/** Evaluation, now or started in the background, and what a failed one leaves behind. */

import type { Pointer } from "../backend/types.ts";
import type { MxArray } from "./array.ts";
import { check, MlxError, takeNativeMessage } from "./error.ts";
import { type Handle, handleOf } from "./handle.ts";
import { tracer } from "./hooks.ts";
import { type Entry, forEachLive } from "./ledger.ts";
import { C } from "./native.ts";
import { pointerAddress } from "./scratch.ts";
import { leaves } from "./tree.ts";

// How many events of evaluations in the background the shim remembers: a failure may surface at any later call.
let running = 0;

// A placeholder of a transform among the arrays: MLX refuses it before anything runs, so that nothing is spoiled.
const placeholder = /^\[(?:eval\] Attempting to eval an array |async_eval\] Not allowed inside a graph transformation)/;

/**
 * Throws the error of a call that waited for `arrays`, or for work that was started before.
 *
 * A failed evaluation leaves its arrays, those in between included, marked as evaluated though what they hold is not
 * their value, and a second evaluation reports success. So every array that took part in it, or that is made of one
 * that did, is remembered as failed. Rare, and worth a walk over all arrays: the alternative is wrong numbers.
 */
function fail(arrays: readonly Handle[], operation: string): never {
  const error = new MlxError(operation, takeNativeMessage());
  if (placeholder.test(error.reason)) throw error;
  for (const array of arrays) array.entry.poison = error.reason;
  forEachLive("Array", (entry) => {
    if (C.mlxts_array_is_spoiled(entry.handle) === 1) entry.poison = error.reason;
  });
  C.mlxts_forget_evaluations();
  running = 0;
  throw error;
}

/** The handle of an array whose evaluation has not failed. */
export function soundHandle(array: Handle, operation: string): Pointer {
  const handle = handleOf(array, operation, "Array");
  const { poison } = array.entry;
  if (poison !== null) throw new MlxError(operation, `this array has no value, its evaluation failed: ${poison}`);
  return handle;
}

/**
 * Checks the status of a call that may report the failure of work in the background: on success nothing happens.
 * `arrays` are those that the call was about.
 */
export function checkWork(status: number, arrays: readonly Handle[], operation: string): void {
  if (status === 0) return;
  // Only what was started in the background is in question, not what the last evaluation listed.
  C.mlxts_watch(0, false);
  fail(arrays, operation);
}

/** Evaluates one array and returns its handle. */
export function evaluateOne(array: MxArray, operation: string): Pointer {
  const handle = soundHandle(array, operation);
  const span = tracer === null ? null : tracer.begin("eval", operation, { arrays: 1 });
  try {
    check(C.mlxts_watch_one(handle), operation);
    if (C.mlx_array_eval(handle) !== 0) fail([array], operation);
    if (running > 0) running = C.mlxts_settled();
    return handle;
  } finally {
    span?.end();
  }
}

/** True for arrays, and for what pretends to be one, which its use will refuse. */
function isArray({ entry }: { entry?: Entry }): boolean {
  return entry === undefined || entry.kind.name === "Array";
}

function arraysOf(trees: readonly unknown[], operation: string): { arrays: Handle[]; handles: Pointer[] } {
  const arrays = leaves<Handle>(trees).filter(isArray);
  return { arrays, handles: arrays.map((array) => soundHandle(array, operation)) };
}

/** Runs an evaluation of the arrays of the trees; `starts` says that it is not waited for. */
function run(trees: readonly unknown[], operation: string, starts: boolean, call: (vector: Pointer) => number): void {
  const { arrays, handles } = arraysOf(trees, operation);
  if (arrays.length === 0) return;
  const span =
    tracer === null ? null : tracer.begin(starts ? "asyncEval" : "eval", operation, { arrays: arrays.length });
  try {
    const vector = C.mlxts_vector_new(pointerAddress(handles), handles.length);
    // What cannot be computed at all is refused before anything runs: nothing is spoiled then.
    const refused = C.mlxts_watch(vector, starts);
    const status = refused === 0 ? call(vector) : 0;
    C.mlx_vector_array_free(vector);
    check(refused, operation);
    if (status !== 0) fail(arrays, operation);
    if (starts) running = C.mlxts_started();
    else if (running > 0) running = C.mlxts_settled();
  } finally {
    span?.end();
  }
}

/**
 * Computes every array of the given trees before it returns. Throws an MlxError in MLX's words when a computation
 * fails. Python: mx.eval.
 */
export function evaluate(...trees: unknown[]): void {
  run(trees, "eval", false, (vector) => C.mlx_eval(vector));
}

/**
 * Starts computing every array of the given trees; reading one waits for it. On the CPU backend MLX runs part of the
 * work before it returns. Python: mx.async_eval.
 */
export function asyncEval(...trees: unknown[]): void {
  run(trees, "asyncEval", true, (vector) => C.mlx_async_eval(vector));
}
