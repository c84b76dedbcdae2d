/** customFunction: a function whose derivatives and batching are given instead of derived. */

import type { Pointer } from "../backend/types.ts";
import { type MxArray, shapeOf } from "../core/array.ts";
import { nativeClosure } from "../core/callbacks.ts";
import { applyClosure, Closure, takeArrays, writeResults } from "../core/closure.ts";
import { describe } from "../core/describe.ts";
import { check } from "../core/error.ts";
import { handleOf } from "../core/handle.ts";
import { NativeHandle } from "../core/kinds.ts";
import { backend, C } from "../core/native.ts";
import { checkOptions } from "../core/options.ts";
import { int32Address } from "../core/scratch.ts";
import { requireFunction } from "../core/scope.ts";
import { privateSlot } from "../core/slots.ts";
import { formLeaves } from "../core/tree.ts";
import { type Axes, flatAxes } from "./axes.ts";
import { type Form, formOf, resultForm } from "./trees.ts";

/** The arguments as one value: the argument itself where there is one, else the list of them. Python's rule. */
export type Bundle<A extends unknown[]> = A extends [infer Only] ? Only : A;

export interface CustomRules<A extends unknown[], R> {
  /** The gradients of the arguments, in their form, from those of the results. */
  vjp?: ((primals: Bundle<A>, cotangents: R, outputs: R) => unknown) | undefined;
  /** The tangents of the results from those of the arguments; null stands for an argument that is not differentiated. */
  jvp?: ((primals: Bundle<A>, tangents: Bundle<A>) => unknown) | undefined;
  /** The batched results and their axes, from batched arguments and theirs. */
  vmap?: ((inputs: Bundle<A>, axes: unknown) => [outputs: unknown, axes: Axes]) | undefined;
}

/**
 * A function with the values of `fn` and the given rules: `vjp` for gradients, `jvp` for tangents, `vmap` for batching.
 * What is not given is derived from `fn`. Arguments and results are trees of arrays. Python: mx.custom_function.
 */
export function customFunction<A extends unknown[], R>(
  fn: (...args: A) => R,
  rules: CustomRules<A, R>,
): (...args: A) => R {
  requireFunction(fn, "customFunction");
  checkOptions(rules, ["vjp", "jvp", "vmap"], "customFunction");
  for (const rule of Object.values(rules)) if (rule !== undefined) requireFunction(rule, "customFunction");
  // As Python's: without a rule there is nothing custom, and gradients reach what the function closes over.
  if (Object.values(rules).every((rule) => rule === undefined)) return fn;
  return (...args: A) => apply(fn, rules, args);
}

function apply<A extends unknown[], R>(fn: (...args: A) => R, rules: CustomRules<A, R>, args: A): R {
  const call: Call = { input: formOf(args, "customFunction: the arguments"), output: null, shapes: [] };
  using closure = new Closure((traced) => {
    const form = resultForm(fn(...(call.input.rebuild(traced) as A)), "customFunction");
    if (call.output === null) {
      call.output = form;
      call.shapes = form.arrays.map((array) => array.shape);
    }
    return form.arrays;
  });
  using vjp = rules.vjp === undefined ? null : vjpClosure(call, rules.vjp as Rule);
  using jvp = rules.jvp === undefined ? null : jvpClosure(call, rules.jvp as Rule);
  using vmap = rules.vmap === undefined ? null : vmapClosure(call, rules.vmap as Rule);
  const handle = (rule: NativeHandle | null): Pointer => (rule === null ? 0 : handleOf(rule, "customFunction"));
  const made = privateSlot();
  check(
    C.mlx_custom_function(made.address, handleOf(closure, "customFunction"), handle(vjp), handle(jvp), handle(vmap)),
    "customFunction",
  );
  using transform = new NativeHandle("closure", made.read());
  const values = applyClosure("customFunction", handleOf(transform, "customFunction"), call.input.arrays);
  return call.output!.rebuild(values) as R;
}

type Rule = (...args: unknown[]) => unknown;

/** One call of a custom function: the forms that its rules need. */
interface Call {
  input: Form;
  output: Form | null;
  /** The shapes of the results: their arrays are gone when a rule runs. */
  shapes: number[][];
}

function bundle(tree: unknown): unknown {
  const args = tree as unknown[];
  return args.length === 1 ? args[0] : args;
}

/**
 * The arrays of what a rule returned: one for each of `shapes`, of that shape. MLX checks neither, and would read past
 * the list or go on with the wrong gradient.
 */
function ruleResults(value: unknown, shapes: readonly (readonly number[])[], rule: string, place: string): MxArray[] {
  const arrays = formLeaves<MxArray>(value, `customFunction: the result of ${rule}`);
  if (arrays.length !== shapes.length) {
    throw new TypeError(
      `customFunction: ${rule} must return one Array for each of the ${shapes.length} ${place}s, got ${describe(value)}.`,
    );
  }
  for (const [i, array] of arrays.entries()) requireShape(shapeOf(array, "customFunction"), shapes[i]!, i, rule, place);
  return arrays;
}

function requireShape(got: readonly number[], want: readonly number[], i: number, rule: string, place: string): void {
  if (got.length === want.length && got.every((length, axis) => length === want[axis])) return;
  throw new RangeError(
    `customFunction: ${rule} returned the shape [${got.join(", ")}] for ${place} ${i}, whose shape is [${want.join(", ")}].`,
  );
}

function vjpClosure(call: Call, rule: Rule): NativeHandle {
  const raw = (out: Pointer, primals: Pointer, cotangents: Pointer, outputs: Pointer): void => {
    const { input, output } = call;
    const given = takeArrays(primals);
    const shapes = given.map((array) => array.shape);
    const value = rule(
      bundle(input.rebuild(given)),
      output!.rebuild(takeArrays(cotangents)),
      output!.rebuild(takeArrays(outputs)),
    );
    writeResults(out, ruleResults(value, shapes, "vjp", "argument"));
  };
  const handle = nativeClosure("closure_custom", raw, (callback, payload, destructor) =>
    C.mlx_closure_custom_new_func_payload(callback, payload, destructor),
  );
  return new NativeHandle("closure_custom", handle);
}

function readInts(address: Pointer, count: number): number[] {
  return Array.from({ length: count }, (_, i) => backend.readI32(address, i * 4));
}

function jvpClosure(call: Call, rule: Rule): NativeHandle {
  const raw = (out: Pointer, primals: Pointer, tangents: Pointer, argnums: Pointer, count: Pointer): void => {
    const { input } = call;
    const given = takeArrays(tangents);
    const places = readInts(argnums, count);
    const all = input.arrays.map((_, i) => given[places.indexOf(i)] ?? null);
    const value = rule(bundle(input.rebuild(takeArrays(primals))), bundle(input.rebuild(all)));
    writeResults(out, ruleResults(value, call.shapes, "jvp", "result"));
  };
  const handle = nativeClosure("closure_custom_jvp", raw, (callback, payload, destructor) =>
    C.mlx_closure_custom_jvp_new_func_payload(callback, payload, destructor),
  );
  return new NativeHandle("closure_custom_jvp", handle);
}

/** What each item of a batch looks like must be what the function itself returns. */
function requireSingle(single: readonly number[][], shapes: readonly number[][], value: unknown): void {
  if (single.length !== shapes.length) {
    throw new TypeError(
      `customFunction: vmap must return one Array for each of the ${shapes.length} results, got ${describe(value)}.`,
    );
  }
  for (const [i, shape] of single.entries()) requireShape(shape, shapes[i]!, i, "vmap, without its axis,", "result");
}

function vmapClosure(call: Call, rule: Rule): NativeHandle {
  const raw = (out: Pointer, outAxes: Pointer, inputs: Pointer, axes: Pointer, count: Pointer): void => {
    const { input } = call;
    const ins = readInts(axes, count).map((axis) => (axis < 0 ? null : axis));
    const result = rule(bundle(input.rebuild(takeArrays(inputs))), bundle(input.rebuild(ins)));
    if (!Array.isArray(result) || result.length !== 2) {
      throw new TypeError(`customFunction: vmap must return [outputs, axes], got ${describe(result)}.`);
    }
    const [value, given] = result as [unknown, Axes];
    const arrays = formLeaves<MxArray>(value, "customFunction: the result of vmap");
    const outs = flatAxes(value, arrays, given, "customFunction: the axes of vmap's result", 0);
    const single = arrays.map((array, i) => array.shape.filter((_, axis) => axis !== outs[i]));
    requireSingle(single, call.shapes, value);
    writeResults(out, arrays);
    check(C.mlx_vector_int_set_data(outAxes, int32Address(outs), outs.length), "customFunction");
  };
  const handle = nativeClosure("closure_custom_vmap", raw, (callback, payload, destructor) =>
    C.mlx_closure_custom_vmap_new_func_payload(callback, payload, destructor),
  );
  return new NativeHandle("closure_custom_vmap", handle);
}
