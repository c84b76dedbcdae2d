/** Axes given for a tree of arrays, as one number for each of its leaves. */

import { type MxArray, shapeOf } from "../core/array.ts";
import { describe } from "../core/describe.ts";
import { formLeaves, isLeaf } from "../core/tree.ts";

/** An axis for all arrays of a tree, null for none of them, or a tree of those, as deep as it needs to be. */
export type Axes = number | null | readonly Axes[] | { readonly [key: string]: Axes };

// How native code is told that an array is not mapped.
export const NONE = -1;

/** The axis of each of the tree's leaves, in order. `extra` is 1 for results, which gain an axis. */
export function flatAxes(tree: unknown, leaves: readonly MxArray[], axes: Axes, name: string, extra: 0 | 1): number[] {
  const flat: number[] = [];
  if (axes === null || typeof axes === "number") {
    for (const leaf of leaves) flat.push(leafAxis(leaf, axes, name, extra));
  } else partAxes(tree, axes, name, extra, flat);
  return flat;
}

function partAxes(tree: unknown, axes: Axes, name: string, extra: 0 | 1, flat: number[]): void {
  if (isLeaf(tree)) {
    flat.push(leafAxis(tree as unknown as MxArray, axes, name, extra));
  } else if (axes === null || typeof axes === "number") {
    for (const leaf of formLeaves<MxArray>(tree, name)) flat.push(leafAxis(leaf, axes, name, extra));
  } else if (Array.isArray(tree)) {
    if (!Array.isArray(axes) || axes.length !== tree.length) {
      throw new TypeError(`${name} must be a list of ${tree.length} where the tree has one, got ${describe(axes)}.`);
    }
    for (let i = 0; i < tree.length; i++) partAxes(tree[i], axes[i] as Axes, name, extra, flat);
  } else if (typeof tree === "object" && tree !== null) {
    const entries = tree instanceof Map ? tree : Object.entries(tree);
    for (const [key, item] of entries) partAxes(item, axisOf(axes, String(key), name), name, extra, flat);
  }
}

function axisOf(axes: Axes, key: string, name: string): Axes {
  if (typeof axes === "object" && axes !== null && !Array.isArray(axes) && key in axes) {
    return (axes as { [key: string]: Axes })[key]!;
  }
  throw new TypeError(`${name} has nothing for "${key}".`);
}

function leafAxis(leaf: MxArray, axis: Axes, name: string, extra: 0 | 1): number {
  if (axis === null) return NONE;
  const ndim = (extra === 0 ? shapeOf(leaf, name).length : leaf.ndim) + extra;
  if (typeof axis !== "number" || !Number.isInteger(axis)) {
    throw new TypeError(`${name} must be integers or null where the arrays are, got ${describe(axis)}.`);
  }
  if (axis < -ndim || axis >= ndim) {
    throw new RangeError(`${name} has ${axis}, out of range for an array of ${ndim} axes.`);
  }
  return axis < 0 ? axis + ndim : axis;
}
