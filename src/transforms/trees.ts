/** Functions of trees as functions of flat lists, which is what MLX transforms. */

import type { MxArray } from "../core/array.ts";
import { refusePromise } from "../core/scope.ts";
import { describe } from "../core/describe.ts";
import { formLeaves, isLeaf, mapLeaves } from "../core/tree.ts";

/** A tree whose arrays can be exchanged. */
export interface Form {
  arrays: MxArray[];
  /** A tree of the same form with other arrays in place. */
  rebuild(arrays: readonly MxArray[]): unknown;
}

export function formOf(tree: unknown, what: string): Form {
  return {
    arrays: formLeaves<MxArray>(tree, what),
    rebuild(arrays) {
      let at = 0;
      return mapLeaves(tree, () => arrays[at++]);
    },
  };
}

/** Calls a traced function and returns the form of its result, which must hold at least one Array. */
export function callTraced(fn: (...args: never[]) => unknown, args: unknown, operation: string): Form {
  const value = fn(...(args as never[]));
  refusePromise(value, operation, "its arrays are freed when it returns");
  const form = formOf(value, `${operation}: the function's result`);
  if (form.arrays.length === 0) {
    throw new TypeError(`${operation}: the function must return an Array or a tree of them, got ${describe(value)}.`);
  }
  return form;
}

/** Refuses anything but a list of Arrays. */
export function arrayList(value: unknown, operation: string, name: string): MxArray[] {
  if (Array.isArray(value) && value.every(isLeaf)) return value as unknown as MxArray[];
  throw new TypeError(`${operation}: ${name} must be a list of Arrays, got ${describe(value)}.`);
}
