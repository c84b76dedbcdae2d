/** What a compiled function depends on beside its arrays: the form of its arguments and the constants in them. */

import { describe } from "../core/describe.ts";
import { isLeaf } from "../core/tree.ts";

/**
 * The form of the arguments and their constants as text: equal for equal forms and constants, and only for those.
 * Throws a TypeError for what is no array, constant, list, plain object or Map.
 */
export function signature(tree: unknown): string {
  if (isLeaf(tree)) return "A";
  switch (typeof tree) {
    case "number":
      return Object.is(tree, -0) ? "n-0" : `n${tree}`;
    case "bigint":
      return `b${tree}`;
    case "boolean":
    case "undefined":
      return String(tree);
    case "string":
      return JSON.stringify(tree);
    case "object":
      return container(tree);
    default:
      return refuse(tree);
  }
}

function container(tree: object | null): string {
  if (tree === null) return "null";
  if (Array.isArray(tree)) return `[${tree.map(signature).join()}]`;
  if (tree instanceof Map) {
    return `M{${[...tree].map(([key, value]) => `${signature(key)}:${signature(value)}`).join()}}`;
  }
  const prototype = Object.getPrototypeOf(tree) as unknown;
  if (prototype !== Object.prototype && prototype !== null) return refuse(tree);
  return `{${Object.entries(tree)
    .map(([key, value]) => `${JSON.stringify(key)}:${signature(value)}`)
    .join()}}`;
}

function refuse(value: unknown): never {
  throw new TypeError(
    `compile: arguments must be trees of Arrays and constants (numbers, bigints, strings, booleans, null), got ${describe(value)}. Give modules and optimizers as state.`,
  );
}
