/** vmap: a function of single items as a function of batches. */

import type { MxArray } from "../core/array.ts";
import { applyVectors, Closure } from "../core/closure.ts";
import { handleOf } from "../core/handle.ts";
import { C } from "../core/native.ts";
import { checkOptions } from "../core/options.ts";
import { int32Address } from "../core/scratch.ts";
import { dispose, requireFunction, tidy } from "../core/scope.ts";
import { type Axes, flatAxes, NONE } from "./axes.ts";
import { callTraced, type Form, formOf } from "./trees.ts";

export interface VmapOptions {
  /** The axis of each argument that the function does not see: one for all, or a list with one for each. Default 0. */
  inAxes?: Axes | undefined;
  /** Where that axis stands in the results: one for all, or a tree as the result's. Default 0. */
  outAxes?: Axes | undefined;
}

/**
 * A function that runs `fn` over an axis of its arguments at once. Arguments and results are trees of arrays; null in
 * `inAxes` leaves an argument as it is. At least one argument must be mapped, and all mapped axes must have one length.
 * Negative axes count from the end. Python: mx.vmap.
 */
export function vmap<A extends unknown[], R>(fn: (...args: A) => R, options?: VmapOptions): (...args: A) => R {
  requireFunction(fn, "vmap");
  if (options !== undefined) checkOptions(options, ["inAxes", "outAxes"], "vmap");
  const { inAxes = 0, outAxes = 0 } = options ?? {};
  return (...args: A) => tidy(() => mapped(fn, args, inAxes, outAxes) as never) as R;
}

function mapped<A extends unknown[], R>(fn: (...args: A) => R, args: A, inAxes: Axes, outAxes: Axes): R {
  const input = formOf(args, "vmap: the arguments");
  if (input.arrays.length === 0) throw new TypeError("vmap: the arguments hold no Array.");
  const ins = flatAxes(args, inAxes, "vmap: inAxes", 0);
  if (ins.every((axis) => axis === NONE))
    throw new RangeError("vmap: inAxes is null for every argument: nothing is mapped.");
  requireOneLength(input.arrays, ins);
  let output: Form | null = null;
  using closure = new Closure((traced) => {
    output = callTraced(fn as never, input.rebuild(traced), "vmap");
    return output.arrays;
  });
  const handle = handleOf(closure, "vmap");
  const [tracedIn, tracedOut] = applyVectors("vmap", 2, [input.arrays], ([first, second], [vector]) =>
    C.mlx_detail_vmap_trace(first!, second!, handle, vector!, int32Address(ins), ins.length),
  );
  const result = output as Form | null;
  if (result === null) throw new Error("vmap: MLX did not call the function");
  const placeholder = result.rebuild(tracedOut!);
  const outs = flatAxes(placeholder, outAxes, "vmap: outAxes", 1);
  const lists = [input.arrays, tracedIn!, tracedOut!];
  const [values] = applyVectors("vmap", 1, lists, ([out], [given, from, to]) =>
    C.mlx_detail_vmap_replace(out!, given!, from!, to!, int32Address(ins), ins.length, int32Address(outs), outs.length),
  );
  dispose([tracedIn, tracedOut]);
  return result.rebuild(values!) as R;
}

function requireOneLength(arrays: readonly MxArray[], axes: readonly number[]): void {
  const lengths = arrays.flatMap((array, i) => (axes[i] === NONE ? [] : [array.shape[axes[i]!]!]));
  if (lengths.some((length) => length !== lengths[0])) {
    throw new RangeError(`vmap: the mapped axes must have one length, and have ${lengths.join(", ")}.`);
  }
}
