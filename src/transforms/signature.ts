/** What a compiled function depends on beside its arrays: the form of its arguments and the constants in them. */

import type { MxArray } from "../core/array.ts";
import { describe } from "../core/describe.ts";
import { isLeaf } from "../core/tree.ts";

// Deeper than any real argument: what holds itself has no end.
const DEEPEST = 500;

/**
 * The form of the arguments and their constants as text: equal for equal forms and constants, and only for those.
 * Adds the arrays to `arrays`, in order. Throws a TypeError for what is no array, constant, list, plain object or Map.
 */
export function signature(tree: unknown, arrays: MxArray[], depth = 0): string {
  switch (typeof tree) {
    case "object":
      return tree === null ? "0" : container(tree, arrays, depth);
    case "number":
      return Object.is(tree, -0) ? "n-0" : `n${tree}`;
    case "bigint":
      return `b${tree}`;
    case "boolean":
      return tree ? "T" : "F";
    case "undefined":
      return "U";
    case "string":
      return quoted(tree);
    default:
      return refuse(tree);
  }
}

/** Text that no other text begins with. */
function quoted(text: string): string {
  return `s${text.length}:${text}`;
}

function container(tree: object, arrays: MxArray[], depth: number): string {
  if (isLeaf(tree)) {
    arrays.push(tree as unknown as MxArray);
    return "A";
  }
  if (depth > DEEPEST) throw new TypeError("compile: the arguments hold themselves.");
  let text: string;
  if (Array.isArray(tree)) {
    text = "[";
    for (let i = 0; i < tree.length; i++) text += `${signature(tree[i], arrays, depth + 1)},`;
    return `${text}]`;
  }
  if (tree instanceof Map) {
    text = "M";
    for (const [key, value] of tree) {
      if (typeof key === "object" && key !== null) {
        throw new TypeError(`compile: the keys of a Map must be constants, got ${describe(key)}.`);
      }
      text += `${signature(key, arrays, depth + 1)}=${signature(value, arrays, depth + 1)},`;
    }
    return `${text}]`;
  }
  const prototype = Object.getPrototypeOf(tree) as unknown;
  if (prototype !== Object.prototype && prototype !== null) return refuse(tree);
  text = "{";
  for (const key of Object.keys(tree)) {
    text += `${quoted(key)}=${signature((tree as Record<string, unknown>)[key], arrays, depth + 1)},`;
  }
  return `${text}]`;
}

function refuse(value: unknown): never {
  throw new TypeError(
    `compile: arguments must be trees of Arrays and constants (numbers, bigints, strings, booleans, null), got ${describe(value)}. Give modules and optimizers as state.`,
  );
}
