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
  if (typeof tree !== "object" || tree === null) return;
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

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as unknown;
  return prototype === Object.prototype || prototype === null;
}

/**
 * The leaves that `mapLeaves` replaces, one for each place: a leaf or a list that stands at two places counts twice.
 * `other` sees every other value. Throws a TypeError that begins with `what` for a form that cannot be rebuilt: leaves
 * inside of a class instance or a Set, or a tree that holds itself.
 */
export function formLeaves<T extends object>(tree: unknown, what: string, other?: (value: unknown) => void): T[] {
  const found: T[] = [];
  // The containers that the walk is inside of: a few, so a list is faster than a Set.
  formWalk(tree, what, other, found as object[], []);
  return found;
}

type Other = ((value: unknown) => void) | undefined;

function formWalk(node: unknown, what: string, other: Other, found: object[], above: object[]): void {
  if (typeof node !== "object" || node === null) {
    other?.(node);
    return;
  }
  if (isLeaf(node)) {
    found.push(node);
    return;
  }
  if (above.includes(node)) throw new TypeError(`${what} holds itself.`);
  above.push(node);
  if (Array.isArray(node)) for (let i = 0; i < node.length; i++) formWalk(node[i], what, other, found, above);
  else if (node instanceof Map) for (const item of node.values()) formWalk(item, what, other, found, above);
  else if (isPlain(node)) {
    for (const key of Object.keys(node)) formWalk((node as Record<string, unknown>)[key], what, other, found, above);
  } else if (leaves(node).length > 0) {
    throw new TypeError(`${what} holds Arrays inside of a ${node.constructor.name}: use lists, plain objects or Maps.`);
  }
  above.pop();
}

/**
 * A tree of the same form with every leaf replaced; what is not a leaf is copied by reference. `formLeaves` says first
 * whether the tree has such a form.
 */
export function mapLeaves<In extends object>(tree: unknown, replace: (leaf: In) => unknown): unknown {
  if (typeof tree !== "object" || tree === null) return tree;
  if (isLeaf(tree)) return replace(tree as unknown as In);
  // Plain loops: transforms walk their arguments and results in every call.
  if (Array.isArray(tree)) {
    const list: unknown[] = [];
    for (let i = 0; i < tree.length; i++) list.push(mapLeaves(tree[i], replace));
    return list;
  }
  if (tree instanceof Map) {
    const map = new Map<unknown, unknown>();
    for (const [key, item] of tree) map.set(key, mapLeaves(item, replace));
    return map;
  }
  if (!isPlain(tree)) return tree;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(tree)) {
    const item = mapLeaves((tree as Record<string, unknown>)[key], replace);
    if (key !== "__proto__") result[key] = item;
    else Object.defineProperty(result, key, { value: item, enumerable: true, writable: true, configurable: true });
  }
  return result;
}
