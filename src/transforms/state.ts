/**
 * The state of a compiled function: arrays that it reads and replaces beside its arguments and results. They live in
 * plain containers, which are changed in place, or in objects with the state protocol, which own what they hold.
 */

import { type MxArray, wrapArray } from "../core/array.ts";
import { check } from "../core/error.ts";
import { handleOf } from "../core/handle.ts";
import { C } from "../core/native.ts";
import { dispose, keep } from "../core/scope.ts";
import { readSlot, slot } from "../core/slots.ts";
import { isLeaf, leaves, treeState, type TreeState } from "../core/tree.ts";
import { type Form, formOf } from "./trees.ts";

/** The arrays of one container or object: its own, not those of containers inside of it. */
interface Place {
  readonly arrays: readonly MxArray[];
  /** Takes the arrays that are there now. False when anything else has changed: then they are of no use. */
  reread(): boolean;
  /** Forgets the arrays. */
  clear(): void;
  /** Puts other arrays in place, one for each. */
  install(arrays: readonly MxArray[]): void;
  /** What puts everything back as it is now. */
  save(): Saved;
}

interface Saved {
  restore(): void;
  /** Frees what `restore` would have needed. */
  drop(): void;
}

/** The arrays of a state now, and ways to exchange them. */
export class State {
  readonly #places: Place[] = [];
  /** All arrays, in order. */
  readonly arrays: MxArray[] = [];
  /** Where they are, as text: equal only for states of the same form. */
  readonly form: string;

  constructor(tree: unknown) {
    this.form = collect(tree, this.#places, new Set());
    for (const place of this.#places) for (const array of place.arrays) this.arrays.push(array);
  }

  /** Reads the arrays again. False when the form is another one, or may be: then a new State is needed. */
  reread(): boolean {
    this.arrays.length = 0;
    for (const place of this.#places) {
      if (!place.reread()) return false;
      for (const array of place.arrays) this.arrays.push(array);
    }
    return true;
  }

  /** Lets go of the arrays, which would live on with a State that is kept for the next call. */
  clear(): void {
    this.arrays.length = 0;
    for (const place of this.#places) place.clear();
  }

  install(arrays: readonly MxArray[]): void {
    let at = 0;
    for (const place of this.#places) {
      const count = place.arrays.length;
      place.install(arrays.slice(at, at + count));
      at += count;
    }
    if (at !== arrays.length) throw new Error(`compile: the state has ${at} arrays, and ${arrays.length} came out.`);
  }

  save(): Saved {
    const saved = this.#places.map((place) => place.save());
    return {
      restore: () => saved.forEach((one) => one.restore()),
      drop: () => saved.forEach((one) => one.drop()),
    };
  }
}

function copy(array: MxArray): MxArray {
  const out = slot();
  check(C.mlx_array_set(out, handleOf(array, "compile")), "compile");
  return keep(wrapArray(readSlot(out)));
}

class Protocol implements Place {
  readonly #object: TreeState;
  #form: Form;
  readonly #count: number;

  constructor(object: TreeState) {
    this.#object = object;
    this.#form = this.#read();
    this.#count = this.arrays.length;
  }

  get arrays(): readonly MxArray[] {
    return this.#form.arrays;
  }

  #read(): Form {
    return formOf(this.#object[treeState].get(), "compile: the state");
  }

  reread(): boolean {
    this.#form = this.#read();
    return this.arrays.length === this.#count;
  }

  clear(): void {
    this.#form = empty;
  }

  get text(): string {
    return `P${this.arrays.length},`;
  }

  install(arrays: readonly MxArray[]): void {
    this.#object[treeState].set(this.#form.rebuild(arrays));
  }

  /** Copies: the object frees what it replaces. */
  save(): Saved {
    const copies = this.arrays.map(copy);
    return { restore: () => this.install(copies), drop: () => dispose(copies) };
  }
}

const empty: Form = { arrays: [], rebuild: () => undefined };

/** A list, an object or a Map. */
class Container implements Place {
  readonly #tree: object;
  /** The keys of the arrays. */
  readonly #keys: unknown[] = [];
  /** Every key of an object, arrays and containers alike, and the container at it; null for an array. */
  readonly #items: [key: unknown, inner: object | null][] = [];
  readonly arrays: MxArray[] = [];

  constructor(tree: object) {
    this.#tree = tree;
  }

  add(key: unknown, value: object): void {
    const isArray = isLeaf(value);
    this.#items.push([key, isArray ? null : value]);
    if (!isArray) return;
    this.#keys.push(key);
    this.arrays.push(value as unknown as MxArray);
  }

  reread(): boolean {
    const { arrays } = this;
    const items = this.#items;
    const tree = this.#tree;
    arrays.length = 0;
    let at = 0;
    const differs = (key: unknown, value: unknown): boolean => {
      if (typeof value !== "object" || value === null) return false;
      const item = items[at++];
      if (item === undefined || item[0] !== key) return true;
      if (item[1] !== null) return item[1] !== value;
      if (!isLeaf(value)) return true;
      arrays.push(value as unknown as MxArray);
      return false;
    };
    if (tree instanceof Map) {
      for (const [key, value] of tree) if (differs(key, value)) return false;
    } else if (tree instanceof Set) {
      return false;
    } else if (!ArrayBuffer.isView(tree)) {
      for (const key of Object.keys(tree)) if (differs(key, (tree as Record<string, unknown>)[key])) return false;
    }
    return at === items.length;
  }

  clear(): void {
    this.arrays.length = 0;
  }

  install(arrays: readonly MxArray[]): void {
    const tree = this.#tree;
    for (let i = 0; i < arrays.length; i++) {
      if (tree instanceof Map) tree.set(this.#keys[i], arrays[i]);
      else (tree as Record<string, unknown>)[this.#keys[i] as string] = arrays[i];
    }
  }

  save(): Saved {
    const tree = this.#tree as Record<string, unknown>;
    const entries: [unknown, unknown][] = tree instanceof Map ? [...tree] : Object.entries(tree);
    return {
      restore(): void {
        if (tree instanceof Map) {
          tree.clear();
          for (const [key, value] of entries) tree.set(key, value);
          return;
        }
        const before = new Set(entries.map(([key]) => key));
        if (Array.isArray(tree)) tree.length = entries.length;
        for (const key of Object.keys(tree)) if (!before.has(key)) delete tree[key];
        for (const [key, value] of entries) if (tree[key as string] !== value) tree[key as string] = value;
      },
      drop: () => undefined,
    };
  }
}

/** Adds the places of a tree to `places` and returns its form. */
function collect(tree: unknown, places: Place[], seen: Set<object>): string {
  if (typeof tree !== "object" || tree === null) return "";
  if (isLeaf(tree)) {
    throw new TypeError(
      "compile: state must hold its Arrays in a list, an object or a Map, where they can be replaced; this one stands alone.",
    );
  }
  if (seen.has(tree)) return "R,";
  seen.add(tree);
  if (treeState in tree) {
    const place = new Protocol(tree as unknown as TreeState);
    places.push(place);
    return place.text;
  }
  if (tree instanceof Set && leaves(tree).length > 0) {
    throw new TypeError("compile: state must not hold Arrays in a Set: use a list, an object or a Map.");
  }
  const place = new Container(tree);
  places.push(place);
  let text = "{";
  const visit = (key: unknown, value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    text += `${String(key).length}:${String(key)}`;
    place.add(key, value);
    text += isLeaf(value) ? "," : collect(value, places, seen);
  };
  if (tree instanceof Map) for (const [key, value] of tree) visit(key, value);
  else if (!ArrayBuffer.isView(tree)) {
    for (const key of Object.keys(tree)) visit(key, (tree as Record<string, unknown>)[key]);
  }
  return `${text}}`;
}
