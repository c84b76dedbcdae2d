/** vmap: a function of single items as a function of batches. */

import type { Pointer } from "../backend/types.ts";
import { type MxArray, shapeOf } from "../core/array.ts";
import { applyVectors, callVectors, vectorOf, withClosure } from "../core/closure.ts";
import { C } from "../core/native.ts";
import { checkOptions } from "../core/options.ts";
import { int32Address } from "../core/scratch.ts";
import { requireFunction } from "../core/scope.ts";
import { type Axes, flatAxes, NONE } from "./axes.ts";
import { type Form, formOf, resultForm } from "./trees.ts";

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
  return (...args: A) => mapped(fn, args, inAxes, outAxes);
}

function mapped<A extends unknown[], R>(fn: (...args: A) => R, args: A, inAxes: Axes, outAxes: Axes): R {
  const input = formOf(args, "vmap: the arguments");
  if (input.arrays.length === 0) throw new TypeError("vmap: the arguments hold no Array.");
  const ins = flatAxes(args, input.arrays, inAxes, "vmap: inAxes", 0);
  requireOneLength(input.arrays, ins);
  let output: Form | null = null;
  let outs: number[] = [];
  const trace = (traced: MxArray[]): MxArray[] => {
    const value = fn(...(input.rebuild(traced) as A));
    output = resultForm(value, "vmap");
    outs = flatAxes(value, output.arrays, outAxes, "vmap: outAxes", 1);
    return output.arrays;
  };
  // One vector for both calls: the function may dispose what it was given.
  const given = vectorOf(input.arrays, "vmap");
  let traces: Pointer[] = [];
  try {
    traces = withClosure(trace, (closure) =>
      callVectors("vmap", 2, [], ([first, second]) =>
        C.mlx_detail_vmap_trace(first!, second!, closure, given, int32Address(ins), ins.length),
      ),
    );
    const [placeholders, traced] = traces as [Pointer, Pointer];
    const [values] = applyVectors("vmap", 1, [], ([out]) => {
      const [axesIn, axesOut] = [int32Address(ins), int32Address(outs)];
      return C.mlx_detail_vmap_replace(out!, given, placeholders, traced, axesIn, ins.length, axesOut, outs.length);
    });
    return (output as unknown as Form).rebuild(values!) as R;
  } finally {
    C.mlx_vector_array_free(given);
    for (const vector of traces) C.mlx_vector_array_free(vector);
  }
}

function requireOneLength(arrays: readonly MxArray[], axes: readonly number[]): void {
  const lengths: number[] = [];
  for (let i = 0; i < axes.length; i++) {
    if (axes[i] !== NONE) lengths.push(shapeOf(arrays[i]!, "vmap")[axes[i]!]!);
  }
  if (lengths.length === 0) throw new RangeError("vmap: inAxes is null for every argument: nothing is mapped.");
  if (lengths.some((length) => length !== lengths[0])) {
    throw new RangeError(`vmap: the mapped axes must have one length, and have ${lengths.join(", ")}.`);
  }
}
