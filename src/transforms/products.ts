/** vjp and jvp: products with the Jacobian, from either side. */

import type { Pointer } from "../backend/types.ts";
import type { MxArray } from "../core/array.ts";
import { callForPair, withClosure, withVector } from "../core/closure.ts";
import { C } from "../core/native.ts";
import { requireFunction } from "../core/scope.ts";
import { arrayList, resultForm } from "./trees.ts";

/** A function of arrays that returns one or several. */
export type FlatFunction = (...inputs: MxArray[]) => MxArray | readonly MxArray[];

type Product = (values: Pointer, products: Pointer, closure: Pointer, primals: Pointer, directions: Pointer) => number;

function product(
  operation: string,
  fn: FlatFunction,
  primals: readonly MxArray[],
  directions: readonly MxArray[],
  native: Product,
  checkResults?: (results: readonly MxArray[]) => void,
): [MxArray[], MxArray[]] {
  return withClosure(
    (inputs) => {
      const { arrays } = resultForm(fn(...inputs), operation);
      checkResults?.(arrays);
      return arrays;
    },
    (closure) =>
      withVector(primals, operation, (at) =>
        withVector(directions, operation, (along) =>
          callForPair(operation, (first, second) => native(first, second, closure, at, along)),
        ),
      ),
  );
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
  requireFunction(fn, "vjp");
  const along = arrayList(cotangents, "vjp", "cotangents");
  return product("vjp", fn, arrayList(primals, "vjp", "primals"), along, C.mlx_vjp, (results) => {
    // MLX looks for too few. It would ignore those that are left over.
    if (along.length <= results.length) return;
    throw new RangeError(`vjp: got ${along.length} cotangents for a function that returns ${results.length} Array(s).`);
  });
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
  requireFunction(fn, "jvp");
  const along = arrayList(tangents, "jvp", "tangents");
  return product("jvp", fn, arrayList(primals, "jvp", "primals"), along, C.mlx_jvp);
}
