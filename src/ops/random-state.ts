/** The global random state: one key, split for every operation that is given none. */

import { C, failure, MxArray, slot, stream } from "../core/call.ts";
import type { Pointer } from "../backend/types.ts";
import { wrapArray } from "../core/array.ts";
import { describe } from "../core/describe.ts";
import { check } from "../core/error.ts";
import { evaluate } from "../core/evaluate.ts";
import { keep } from "../core/scope.ts";
import { readSlot } from "../core/slots.ts";
import { onClearStreams } from "../core/stream.ts";
import { holdArray, refuse } from "../core/temporaries.ts";
import { treeState, type TreeState } from "../core/tree.ts";
import { input } from "../core/operands.ts";

const U64 = 18446744073709551615n;

/** A 64-bit seed. A number must be exact. */
function seedValue(seed: unknown, op: string): bigint {
  if (typeof seed !== "number" && typeof seed !== "bigint") {
    throw new TypeError(`${op}: seed must be an integer, got ${describe(seed)}.`);
  }
  if (typeof seed === "number" && !Number.isSafeInteger(seed)) {
    throw new RangeError(`${op}: seed must be an integer; past 2^53 write a bigint. Got ${describe(seed)}.`);
  }
  const value = BigInt(seed);
  if (value < 0n || value > U64) throw new RangeError(`${op}: seed must be from 0 to 2^64 - 1, got ${describe(seed)}.`);
  return value;
}

function makeKey(seed: bigint, op: string): MxArray {
  const out = slot();
  check(C.mlx_random_key(out, seed), op);
  // Not produce: that would free what a running operation has prepared.
  return wrapArray(readSlot(out));
}

/**
 * A random key of a seed: a uint32 array of shape [2].
 *
 * The seed is an integer from 0 to 2^64 - 1, a bigint past 2^53. Throws a RangeError for another.
 * Python: `mx.random.key(seed)`.
 */
export function key(seed: number | bigint): MxArray {
  return makeKey(seedValue(seed, "random.key"), "random.key");
}

/** The key of the global state. It is a tree, so that `compile`, `eval` and `tidy` take it as they take arrays. */
class RandomState implements TreeState {
  #key: MxArray | null = null;
  // Where the key came from, and how often it was split since: enough to compute it again. A bigint is a seed.
  #origin: MxArray | bigint = 0n;
  #splits = 0;

  get [treeState](): { get(): unknown; set(value: unknown): void } {
    return { get: () => [this.#current()], set: (value) => this.#restart((value as readonly MxArray[])[0]!) };
  }

  #current(): MxArray {
    if (this.#key === null || this.#key.disposed) {
      // As a first seed, the time: programs that want the same numbers every time say so.
      this.seed(BigInt(Date.now()));
    } else if (this.#key.entry.poison !== null) {
      this.#recover();
    }
    return this.#key!;
  }

  #restart(key: MxArray, origin: MxArray | bigint = key): void {
    const old = this.#origin;
    this.#replace(key);
    if (MxArray.real(old) && old !== key) old.dispose();
    this.#origin = origin;
    this.#splits = 0;
  }

  #replace(key: MxArray): void {
    const old = this.#key;
    this.#key = keep(key);
    if (old !== null && old !== key && old !== this.#origin) old.dispose();
  }

  /** Keys are lazy, so a failed evaluation that used one takes the state along. The numbers go on as if it had not. */
  #recover(): void {
    const splits = this.#splits;
    const origin = this.#origin;
    if (MxArray.real(origin) && origin.entry.poison !== null) return;
    let key = MxArray.real(origin) ? origin : makeKey(origin, "random");
    for (let i = 1; i <= splits; i++) {
      const [rest, used] = splitHandles(key, "random");
      C.mlx_array_free(used);
      const next = keep(wrapArray(rest));
      if (key !== origin) key.dispose();
      key = next;
      // So that the chain never becomes long.
      if (i % 256 === 0) evaluate(key);
    }
    this.#replace(key);
  }

  /** Computes the key, while the stream that it waits on exists. */
  settle(): void {
    if (this.#key !== null && !this.#key.disposed) evaluate(this.#key);
  }

  seed(seed: bigint): void {
    this.#restart(makeKey(seed, "random.seed"), seed);
  }

  /** Splits the state and gives the half that is used up, as a native array for one call. */
  next(op: string): Pointer {
    const [rest, used] = splitHandles(this.#current(), op);
    const handle = holdArray(used);
    this.#replace(wrapArray(rest));
    this.#splits++;
    return handle;
  }
}

function splitHandles(key: MxArray, op: string): [rest: Pointer, used: Pointer] {
  const rest = slot();
  const used = slot();
  const on = stream(undefined, op);
  if (C.mlx_random_split(rest, used, input(key, op, "state"), on) !== 0) throw failure(op, []);
  return [readSlot(rest), readSlot(used)];
}

const global = new RandomState();
onClearStreams(() => global.settle());

/** The global random state, for `compile`'s `state`. Python: mx.random.state. */
export const state: TreeState = global;

/**
 * Seeds the global random state: the same seed gives the same numbers.
 *
 * The seed is an integer from 0 to 2^64 - 1, a bigint past 2^53. Throws a RangeError for another.
 * Python: `mx.random.seed(seed)`.
 */
export function seed(seed: number | bigint): void {
  const value = seedValue(seed, "random.seed");
  check(C.mlx_random_seed(value), "random.seed");
  global.seed(value);
}

/** The handle of the key that an operation was given, or of a fresh one from the global state. */
export function keyOrNext(key: unknown, op: string, name: string): Pointer {
  if (key === undefined || key === null) return global.next(op);
  if (MxArray.real(key)) return input(key, op, name);
  return refuse(new TypeError(`${op}: ${name} must be an Array made by mx.random.key, got ${describe(key)}.`));
}
