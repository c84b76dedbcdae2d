/** Functions of trees as functions of flat lists, which is what MLX transforms. */

import type { MxArray } from "../core/array.ts";
import { refusePromise } from "../core/scope.ts";
import { describe } from "../core/describe.ts";
import { formLeaves, isLeaf, mapLeaves } from "../core/tree.ts";

/** A tree whose arrays can be exchanged. */
export interface Form {
  arrays: MxArray[];
  /** A tree of the same form with other arrays in place. */
  rebuild(arrays: readonly unknown[]): unknown;
}

export function formOf(tree: unknown, what: string): Form {
  // An array alone, which is what most functions return.
  if (isLeaf(tree)) return { arrays: [tree as unknown as MxArray], rebuild: first };
  return { arrays: formLeaves<MxArray>(tree, what), rebuild: (arrays) => mapForm(tree, arrays) };
}

const first = (arrays: readonly unknown[]): unknown => arrays[0];

/** A tree of the same form with other arrays in place, in order. */
export function mapForm(tree: unknown, arrays: readonly unknown[]): unknown {
  let at = 0;
  return mapLeaves(tree, () => arrays[at++]);
}

// Stands for any array.
const place = Symbol("array");

/** Whether two forms differ in nothing but their arrays. */
export function sameForm(a: Form, b: Form): boolean {
  if (a.arrays.length !== b.arrays.length) return false;
  const places = a.arrays.map(() => place);
  return sameTree(a.rebuild(places), b.rebuild(places));
}

function sameTree(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => sameTree(item, b[i]));
  if (a instanceof Map && b instanceof Map) return sameTree([...a].flat(), [...b].flat());
  const plain = (value: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(value) as never);
  return !Array.isArray(a) && plain(a) && plain(b) && sameTree(Object.entries(a), Object.entries(b));
}

/** The form of what a traced function returned, which must hold at least one Array. */
export function resultForm(value: unknown, operation: string): Form {
  refusePromise(value, operation, "its arrays are freed when it returns");
  const form = formOf(value, `${operation}: the function's result`);
  if (form.arrays.length > 0) return form;
  throw new TypeError(`${operation}: the function must return an Array or a tree of them, got ${describe(value)}.`);
}

/** Refuses anything but a list of Arrays. */
export function arrayList(value: unknown, operation: string, name: string): MxArray[] {
  if (Array.isArray(value) && value.every(isLeaf)) return value as unknown as MxArray[];
  throw new TypeError(`${operation}: ${name} must be a list of Arrays, got ${describe(value)}.`);
}
