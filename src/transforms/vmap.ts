/** vmap: a function of single items as a function of batches. */

import { type MxArray, shapeOf } from "../core/array.ts";
import { callForArrays, handlesAddress, withClosure } from "../core/closure.ts";
import { check } from "../core/error.ts";
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
  const trace = (traced: MxArray[]): MxArray[] => {
    const value = fn(...(input.rebuild(traced) as A));
    output = resultForm(value, "vmap");
    const outs = flatAxes(value, output.arrays, outAxes, "vmap: outAxes", 1);
    check(C.mlxts_vmap_axes(int32Address(outs), outs.length), "vmap");
    return output.arrays;
  };
  const { arrays } = input;
  const values = withClosure(trace, (closure) =>
    callForArrays("vmap", (out) =>
      C.mlxts_vmap(out, closure, handlesAddress(arrays, "vmap"), arrays.length, int32Address(ins), ins.length),
    ),
  );
  return (output as unknown as Form).rebuild(values) as R;
}

function requireOneLength(arrays: readonly MxArray[], axes: readonly number[]): void {
  let length = -1;
  let same = true;
  for (let i = 0; i < axes.length; i++) {
    if (axes[i] === NONE) continue;
    const other = shapeOf(arrays[i]!, "vmap")[axes[i]!]!;
    if (length < 0) length = other;
    else if (other !== length) same = false;
  }
  if (length < 0) throw new RangeError("vmap: inAxes is null for every argument: nothing is mapped.");
  if (same) return;
  const lengths = axes.flatMap((axis, i) => (axis === NONE ? [] : [shapeOf(arrays[i]!, "vmap")[axis]!]));
  throw new RangeError(`vmap: the mapped axes must have one length, and have ${lengths.join(", ")}.`);
}
