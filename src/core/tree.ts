/**
 * Trees: nested arrays, plain objects, Maps and class instances with handles at the leaves. Pure: this file knows
 * leaves by a brand, not by their class.
 */

/** Brand of everything that counts as a leaf of a tree. */
export const treeLeaf: unique symbol = Symbol.for("mlx-ts.leaf");

/**
 * State protocol: an object that keeps its arrays elsewhere than in enumerable fields gives them by `get` and takes
 * replacements by `set`. Modules, optimizers, caches and random state implement it.
 */
export const treeState: unique symbol = Symbol.for("mlx-ts.state");

export interface TreeState {
  [treeState]: { get(): unknown; set(value: unknown): void };
}

/** What carries the brand. */
export interface Leaf {
  readonly [treeLeaf]: true;
}

export function isLeaf(value: unknown): value is Leaf {
  return typeof value === "object" && value !== null && treeLeaf in value;
}

function hasState(value: object): value is TreeState {
  return treeState in value;
}

/** Calls `visit` on every leaf, in order. Cycles are walked once. */
export function forEachLeaf(tree: unknown, visit: (leaf: object) => void): void {
  if (isLeaf(tree)) return visit(tree);
  walk(tree, visit, new Set());
}

function walk(tree: unknown, visit: (leaf: object) => void, seen: Set<object>): void {
  if (typeof tree !== "object" || tree === null) return;
  if (isLeaf(tree)) return visit(tree);
  if (ArrayBuffer.isView(tree) || tree instanceof ArrayBuffer || seen.has(tree)) return;
  seen.add(tree);
  if (Array.isArray(tree)) {
    for (const item of tree) walk(item, visit, seen);
  } else if (tree instanceof Map || tree instanceof Set) {
    for (const item of tree.values()) walk(item, visit, seen);
  } else if (hasState(tree)) {
    walk(tree[treeState].get(), visit, seen);
  } else {
    for (const item of Object.values(tree)) walk(item, visit, seen);
  }
}

/** The leaves of a tree, in order. */
export function leaves<T extends object>(tree: unknown): T[] {
  const found: T[] = [];
  forEachLeaf(tree, (leaf) => found.push(leaf as T));
  return found;
}

/** A tree of the same form with every leaf replaced; what is not a leaf is copied by reference. */
export function mapLeaves<In extends object>(tree: unknown, replace: (leaf: In) => unknown): unknown {
  if (typeof tree !== "object" || tree === null) return tree;
  if (isLeaf(tree)) return replace(tree as unknown as In);
  if (Array.isArray(tree)) return tree.map((item) => mapLeaves(item, replace));
  if (tree instanceof Map) return new Map([...tree].map(([key, item]) => [key, mapLeaves(item, replace)]));
  if (Object.getPrototypeOf(tree) !== Object.prototype && Object.getPrototypeOf(tree) !== null) return tree;
  return Object.fromEntries(Object.entries(tree).map(([key, item]) => [key, mapLeaves(item, replace)]));
}
