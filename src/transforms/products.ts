/** vjp and jvp: products with the Jacobian, from either side. */

import type { MxArray } from "../core/array.ts";
import { applyVectors, Closure } from "../core/closure.ts";
import { handleOf } from "../core/handle.ts";
import { C } from "../core/native.ts";
import { requireFunction } from "../core/scope.ts";
import { arrayList, callTraced } from "./trees.ts";

/** A function of arrays that returns one or several. */
export type FlatFunction = (...inputs: MxArray[]) => MxArray | readonly MxArray[];

function traced(fn: FlatFunction, operation: string): Closure {
  requireFunction(fn, operation);
  return new Closure((inputs) => callTraced(fn, inputs, operation).arrays);
}

/**
 * The outputs of `fn` at `primals`, and the product of each input's Jacobian with `cotangents` from the left.
 *
 * `cotangents` has one Array for each output, of its shape; the products have the shapes of the primals. Returns
 * `[outputs, products]`, which the caller owns. Python: mx.vjp.
 */
export function vjp(
  fn: FlatFunction,
  primals: readonly MxArray[],
  cotangents: readonly MxArray[],
): [outputs: MxArray[], products: MxArray[]] {
  using closure = traced(fn, "vjp");
  const handle = handleOf(closure, "vjp");
  const lists = [arrayList(primals, "vjp", "primals"), arrayList(cotangents, "vjp", "cotangents")];
  const [outputs, products] = applyVectors("vjp", 2, lists, ([first, second], [at, along]) =>
    C.mlx_vjp(first!, second!, handle, at!, along!),
  );
  return [outputs!, products!];
}

/**
 * The outputs of `fn` at `primals`, and the product of the Jacobian with `tangents` from the right.
 *
 * `tangents` has one Array for each primal, of its shape; the products have the shapes of the outputs. Returns
 * `[outputs, products]`, which the caller owns. Python: mx.jvp.
 */
export function jvp(
  fn: FlatFunction,
  primals: readonly MxArray[],
  tangents: readonly MxArray[],
): [outputs: MxArray[], products: MxArray[]] {
  using closure = traced(fn, "jvp");
  const handle = handleOf(closure, "jvp");
  const lists = [arrayList(primals, "jvp", "primals"), arrayList(tangents, "jvp", "tangents")];
  const [outputs, products] = applyVectors("jvp", 2, lists, ([first, second], [at, along]) =>
    C.mlx_jvp(first!, second!, handle, at!, along!),
  );
  return [outputs!, products!];
}
