/**
 * The state of a compiled function: arrays that it reads and replaces beside its arguments and results. They live in
 * plain containers, which are changed in place, or in objects with the state protocol, which own what they hold.
 */

import { type MxArray, wrapArray } from "../core/array.ts";
import { check } from "../core/error.ts";
import { handleOf } from "../core/handle.ts";
import { C } from "../core/native.ts";
import { keep } from "../core/scope.ts";
import { readSlot, slot } from "../core/slots.ts";
import { isLeaf, treeState, type TreeState } from "../core/tree.ts";
import { type Form, formOf } from "./trees.ts";

/** A place for arrays: one in a container, or all of an object with the protocol. */
interface Place {
  arrays: MxArray[];
  install(arrays: readonly MxArray[]): void;
}

/** The arrays of a state now, and a way to exchange them. */
export class State {
  readonly #places: Place[];

  constructor(tree: unknown) {
    this.#places = [];
    collect(tree, this.#places, new Set());
  }

  get arrays(): MxArray[] {
    return this.#places.flatMap((place) => place.arrays);
  }

  /** Puts other arrays in place, one for each. */
  install(arrays: readonly MxArray[]): void {
    let at = 0;
    for (const place of this.#places) {
      const count = place.arrays.length;
      place.install(arrays.slice(at, at + count));
      at += count;
    }
    if (at !== arrays.length) throw new Error(`compile: the state has ${at} arrays, and ${arrays.length} came out.`);
  }

  /** The arrays as they are, held for `install`: objects with the protocol free what they replace. */
  backup(): MxArray[] {
    return this.#places.flatMap((place) =>
      place.arrays.map((array) => (place instanceof Protocol ? copy(array) : array)),
    );
  }
}

function copy(array: MxArray): MxArray {
  const out = slot();
  check(C.mlx_array_set(out, handleOf(array, "compile")), "compile");
  return keep(wrapArray(readSlot(out)));
}

class Protocol implements Place {
  readonly #object: TreeState;
  readonly #form: Form;

  constructor(object: TreeState) {
    this.#object = object;
    this.#form = formOf(object[treeState].get(), "compile: the state");
  }

  get arrays(): MxArray[] {
    return this.#form.arrays;
  }

  install(arrays: readonly MxArray[]): void {
    this.#object[treeState].set(this.#form.rebuild(arrays));
  }
}

type Container = { get(key: unknown): unknown; set(key: unknown, value: unknown): void };

function collect(tree: unknown, places: Place[], seen: Set<object>): void {
  if (typeof tree !== "object" || tree === null || seen.has(tree)) return;
  if (isLeaf(tree)) {
    throw new TypeError(
      "compile: state must hold its Arrays in a list, an object or a Map, where they can be replaced; this one stands alone.",
    );
  }
  seen.add(tree);
  if (treeState in tree) {
    places.push(new Protocol(tree as unknown as TreeState));
    return;
  }
  const map = tree instanceof Map;
  const record = tree as Record<string, unknown>;
  const container: Container = map
    ? (tree as Map<unknown, unknown>)
    : { get: (key) => record[key as string], set: (key, value) => (record[key as string] = value) };
  for (const key of map ? tree.keys() : Object.keys(tree)) {
    const value = container.get(key);
    if (!isLeaf(value)) collect(value, places, seen);
    else {
      const arrays = [value as unknown as MxArray];
      places.push({ arrays, install: ([array]) => container.set(key, array) });
    }
  }
}
