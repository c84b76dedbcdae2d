/** Gradients of functions of trees. */

import type { Pointer } from "../backend/types.ts";
import { type MxArray, wrapArray } from "../core/array.ts";
import { callForPair, withClosure, withVector } from "../core/closure.ts";
import { describe } from "../core/describe.ts";
import { check } from "../core/error.ts";
import { handleOf } from "../core/handle.ts";
import { kept } from "../core/kept.ts";
import { C } from "../core/native.ts";
import { checkOptions } from "../core/options.ts";
import { dispose, refusePromise, requireFunction } from "../core/scope.ts";
import { readSlot, slot } from "../core/slots.ts";
import { defaultStreamHandle } from "../core/stream.ts";
import { formLeaves, isLeaf, mapLeaves } from "../core/tree.ts";

type Argnums = number | readonly number[];

export interface GradOptions<N extends Argnums = Argnums> {
  /** Which arguments to differentiate: a position, or a list of them. Default 0. */
  argnums?: N | undefined;
}

/** The argument at a position; any of them where the position counts from the end. */
type At<A extends unknown[], N> = N extends number ? (`${N}` extends `-${string}` ? A[number] : A[N]) : never;

/** The gradient of an argument has the argument's own form; a list of positions gives a list of gradients. */
export type GradOf<A extends unknown[], N extends Argnums> = N extends readonly number[]
  ? { -readonly [I in keyof N]: At<A, N[I]> }
  : At<A, N>;

/** A value and its gradients, which own their arrays together. */
export type ValueAndGrads<V, G> = [value: V, grads: G] & Disposable;

function positions(argnums: Argnums | undefined, count: number, operation: string): number[] {
  const list = argnums === undefined ? [0] : Array.isArray(argnums) ? (argnums as number[]) : [argnums as number];
  if (list.length === 0) throw new RangeError(`${operation}: argnums must name at least one argument.`);
  const found = Array.from(list, (position) => {
    if (!Number.isInteger(position) || position < -count || position >= count) {
      throw new RangeError(
        `${operation}: argnums has ${describe(position)}, but the function was called with ${count} argument(s).`,
      );
    }
    return position < 0 ? position + count : position;
  });
  if (new Set(found).size < found.length) {
    throw new RangeError(`${operation}: argnums ${describe(list)} names an argument twice.`);
  }
  return found;
}

/** The arrays of an argument to differentiate. A number among them would come out as its own gradient. */
function variables(argument: unknown, position: number, operation: string): MxArray[] {
  const what = `${operation}: argument ${position}`;
  return formLeaves<MxArray>(argument, what, (value) => {
    if (typeof value !== "number" && typeof value !== "bigint") return;
    throw new TypeError(
      `${what} holds ${describe(value)}, which has no gradient: make it an Array, or pass it beside.`,
    );
  });
}

/** The arrays of what the function returned, the scalar to differentiate first. */
function resultsOf(value: unknown, operation: string): MxArray[] {
  const results = formLeaves<MxArray>(value, `${operation}: the function's result`);
  if (isLeaf(value) || (Array.isArray(value) && isLeaf(value[0]))) return results;
  throw new TypeError(
    `${operation}: the function must return a scalar Array, or a list that begins with one, got ${describe(value)}.`,
  );
}

/**
 * A function that returns the value of `fn` and its gradients. `fn` takes trees of arrays and returns a scalar Array,
 * or a list whose first element is that scalar. The gradient of one argument has its form; `argnums` as a list gives
 * a list of gradients. `fn` borrows its arguments and runs in an implicit `tidy`. An error thrown inside it comes out
 * as the same object. Python: mx.value_and_grad.
 */
export function valueAndGrad<A extends unknown[], V, const N extends Argnums = 0>(
  fn: (...args: A) => V,
  options?: GradOptions<N>,
): (...args: A) => ValueAndGrads<V, GradOf<A, N>> {
  requireFunction(fn, "valueAndGrad");
  if (options !== undefined) checkOptions(options, ["argnums"], "valueAndGrad");
  return (...args: A) => differentiate("valueAndGrad", fn, options?.argnums, args);
}

/** Like `valueAndGrad`, but returns the gradients alone. Python: mx.grad. */
export function grad<A extends unknown[], const N extends Argnums = 0>(
  fn: (...args: A) => unknown,
  options?: GradOptions<N>,
): (...args: A) => GradOf<A, N> {
  requireFunction(fn, "grad");
  if (options !== undefined) checkOptions(options, ["argnums"], "grad");
  return (...args: A) => {
    const [value, grads] = differentiate<A, unknown, N>("grad", fn, options?.argnums, args);
    dispose(value);
    return grads;
  };
}

function differentiate<A extends unknown[], V, N extends Argnums>(
  operation: string,
  fn: (...args: A) => V,
  argnums: N | undefined,
  args: A,
): ValueAndGrads<V, GradOf<A, N>> {
  const wanted = positions(argnums, args.length, operation);
  const flat = wanted.flatMap((position) => variables(args[position], position, operation));
  if (flat.length === 0) throw new TypeError(`${operation}: the differentiated arguments hold no Array.`);
  let form: unknown;
  const [values, products] = withClosure(
    (traced) => {
      let at = 0;
      const rebuilt: unknown[] = [...args];
      for (const position of wanted) rebuilt[position] = mapLeaves(args[position], () => traced[at++]);
      form = fn(...(rebuilt as A));
      refusePromise(form, operation, "its arrays are freed when it returns");
      const results = resultsOf(form, operation);
      for (let i = 1; i < results.length; i++) results[i] = stopped(results[i]!, operation);
      return results;
    },
    (closure) =>
      withVector(flat, operation, (at) =>
        callForPair(operation, (first, second) => C.mlx_vjp(first, second, closure, at, seed())),
      ),
  );
  let at = 0;
  const value = mapLeaves(form, () => values[at++]) as V;
  at = 0;
  const trees = wanted.map((position) => mapLeaves(args[position], () => products[at++]));
  const result = [value, Array.isArray(argnums) ? trees : trees[0]] as unknown as ValueAndGrads<V, GradOf<A, N>>;
  Object.defineProperty(result, Symbol.dispose, disposal);
  return result;
}

const disposal = {
  value(this: unknown[]): void {
    dispose([...this]);
  },
};

// What flows in from the scalar: a vector of a one, made once. MLX casts it to the result's dtype.
let ones: Pointer = 0;

function seed(): Pointer {
  if (ones === 0) {
    const one = C.mlx_array_new_float32(1);
    ones = kept(C.mlx_vector_array_new_value(one));
    C.mlx_array_free(one);
  }
  return ones;
}

/** What comes back beside the scalar is not differentiated. */
function stopped(array: MxArray, operation: string): MxArray {
  const out = slot();
  check(C.mlx_stop_gradient(out, handleOf(array, operation), defaultStreamHandle()), operation);
  return wrapArray(readSlot(out));
}
