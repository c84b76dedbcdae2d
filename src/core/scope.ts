/** Scopes: `tidy` frees what was born inside, except what is returned or kept. */

import { describe } from "./describe.ts";
import { currentScope, type Entry, release, type Scope, setScope } from "./ledger.ts";
import { forEachLeaf } from "./tree.ts";

/** A leaf that owns a ledger entry. */
interface Owner {
  readonly entry: Entry;
}

class TidyScope implements Scope {
  entries: Entry[] = [];
  #compactAt = 4096;

  add(entry: Entry): void {
    entry.scope = this;
    this.entries.push(entry);
    if (this.entries.length > this.#compactAt) {
      this.entries = this.entries.filter((held) => held.handle !== 0 && held.scope === this);
      this.#compactAt = Math.max(4096, this.entries.length * 2);
    }
  }

  releaseAll(): void {
    const { entries } = this;
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i]!;
      if (entry.scope === this) release(entry);
    }
    entries.length = 0;
  }
}

class CallScope extends TidyScope {
  outer: Scope | null = null;
}

/** Refuses a function that returns a promise: its arrays would be freed before it continues. */
export type NotPromise<T> = T extends PromiseLike<unknown> ? never : T;

/**
 * Runs `fn` and frees every array made inside, except those in the returned tree and those given to `keep`. What
 * survives belongs to the enclosing `tidy`, if there is one. If `fn` throws, everything made inside is freed.
 *
 * `fn` must be synchronous: a promise is a type error, and throws a TypeError. Across `await`, own arrays by `using`.
 */
export function tidy<T>(fn: () => NotPromise<T>): NotPromise<T> {
  requireFunction(fn, "tidy");
  const outer = currentScope();
  const scope = new TidyScope();
  setScope(scope);
  let result: NotPromise<T>;
  try {
    result = fn();
    refusePromise(result, "tidy", "its arrays are freed when it returns");
    // The whole walk first: a getter in the tree may throw, and then nothing survives.
    const survivors: Entry[] = [];
    forEachLeaf(result, (leaf) => survivors.push((leaf as Owner).entry));
    for (const entry of survivors) if (entry.scope === scope) promote(entry, outer);
  } finally {
    setScope(outer);
    scope.releaseAll();
  }
  return result;
}

function promote(entry: Entry, outer: Scope | null): void {
  entry.scope = null;
  if (outer !== null && entry.handle !== 0) outer.add(entry);
}

/** Refuses what is no function with an error of its own, not the engine's. */
export function requireFunction(fn: unknown, operation: string): void {
  if (typeof fn !== "function") throw new TypeError(`${operation}: expected a function, got ${describe(fn)}.`);
}

// The scopes of callbacks by nesting. Once released, no live entry names one, so each serves again.
const callScopes: CallScope[] = [];
let callDepth = 0;

/** The scope of a callback, which returns nothing: everything made until `leaveScope` is freed there. */
export function enterScope(): void {
  const scope = (callScopes[callDepth] ??= new CallScope());
  callDepth++;
  scope.outer = currentScope();
  setScope(scope);
}

/** Frees what was made since. Never throws. */
export function leaveScope(): void {
  const scope = callScopes[--callDepth]!;
  setScope(scope.outer);
  scope.outer = null;
  scope.releaseAll();
}

/** Refuses a promise as the result of a function whose surroundings end with it. */
export function refusePromise(result: unknown, operation: string, reason: string): void {
  if (typeof result !== "object" || result === null || !("then" in result)) return;
  if (typeof result.then !== "function") return;
  // Its rejection has nobody else to go to, and this error already says what is wrong.
  (result as PromiseLike<unknown>).then(undefined, () => undefined);
  throw new TypeError(
    `${operation}: the function returned a promise, but ${reason}. Make it synchronous, or own arrays by "using" across await.`,
  );
}

/** Takes every array of a tree out of all scopes: it lives until it is disposed or forgotten. Returns the tree. */
export function keep<T>(tree: T): T {
  forEachLeaf(tree, (leaf) => {
    (leaf as Owner).entry.scope = null;
  });
  return tree;
}

/** The same for a plain list of arrays. */
export function keepAll(owners: readonly Owner[]): void {
  for (let i = 0; i < owners.length; i++) owners[i]!.entry.scope = null;
}

/** Disposes every array of a tree. What is disposed already is left alone. */
export function dispose(tree: unknown): void {
  forEachLeaf(tree, (leaf) => release((leaf as Owner).entry));
}
