/** The arrays of a tree by dotted name: what a file calls them. */

import { MxArray } from "../core/call.ts";
import { describe } from "../core/describe.ts";
import { soundHandle } from "../core/evaluate.ts";
import { isLeaf, treeState } from "../core/tree.ts";

/**
 * The arrays of nested objects, Maps, lists and modules, in order: `{ a: { b: [x] } }` is `a.b.0`. Throws a TypeError
 * that names the place for anything else than an Array, for two places of one name, and for a name that is no text
 * of a file; a DisposedError for an array that is gone.
 */
export function namedArrays(tree: unknown, operation: string): Map<string, MxArray> {
  const found = new Map<string, MxArray>();
  const above = new Set<object>();
  const visit = (node: unknown, path: string): void => {
    if (node instanceof MxArray) return add(node, path);
    const parts = partsOf(node);
    if (parts === null) {
      const place = path === "" ? "the tree" : JSON.stringify(path);
      throw new TypeError(
        `${operation}: ${place} must be an Array, or an object or a list of Arrays, got ${describe(node)}.`,
      );
    }
    if (above.has(node as object))
      throw new TypeError(`${operation}: the tree holds itself, at ${JSON.stringify(path)}.`);
    above.add(node as object);
    for (const [key, item] of parts) visit(item, path === "" ? String(key) : `${path}.${String(key)}`);
    above.delete(node as object);
  };
  const add = (array: MxArray, name: string): void => {
    if (name === "") throw new TypeError(`${operation}: an array needs a name; give an object or a list of Arrays.`);
    if (name.includes("\0"))
      throw new TypeError(`${operation}: the name ${JSON.stringify(name)} contains a NUL character.`);
    if (!name.isWellFormed())
      throw new TypeError(`${operation}: the name ${JSON.stringify(name)} has half of a character.`);
    if (found.has(name))
      throw new TypeError(`${operation}: two arrays of the tree are called ${JSON.stringify(name)}.`);
    soundHandle(array, operation);
    found.set(name, array);
  };
  visit(tree, "");
  return found;
}

function partsOf(node: unknown): Iterable<[unknown, unknown]> | null {
  if (typeof node !== "object" || node === null || isLeaf(node)) return null;
  if (Array.isArray(node)) return Array.from(node, (item: unknown, i): [unknown, unknown] => [i, item]);
  if (node instanceof Map) return node;
  if (treeState in node) return partsOf((node as { [treeState]: { get(): unknown } })[treeState].get());
  const prototype = Object.getPrototypeOf(node) as unknown;
  return prototype === Object.prototype || prototype === null ? Object.entries(node) : null;
}
