/** The keys and values of the positions seen so far, so that each step computes those of its own tokens only. */

import * as mx from "../index.ts";

/** Room grows by so many positions at a time: a copy of everything once in 256 tokens instead of at each. */
const STEP = 256;

interface Layer {
  keys: mx.Array; // (B, kvHeads, room, D)
  values: mx.Array; // (B, kvHeads, room, D)
  /** Positions that fit. */
  room: number;
}

/**
 * A key-value cache of one sequence (or one batch of equally long ones). It owns its arrays and disposes those that
 * it replaces; they belong to no scope.
 */
export class KVCache implements Disposable {
  #layers: (Layer | null)[];
  #length = 0;

  constructor(layers: number) {
    this.#layers = new Array<Layer | null>(layers).fill(null);
  }

  /** Positions held. The next token stands at this position. */
  get length(): number {
    return this.#length;
  }

  /** Forgets everything from position `length` on. Throws a RangeError when there are fewer positions. */
  trim(length: number): void {
    if (!Number.isInteger(length) || length < 0 || length > this.#length) {
      throw new RangeError(`KVCache.trim: the cache holds ${this.#length} positions, cannot keep ${length}.`);
    }
    this.#length = length;
  }

  /**
   * Writes the keys and values (B, kvHeads, T, D) of the next T positions of a layer, and returns those of all
   * positions up to there: two views (B, kvHeads, length + T, D). `advance` then counts the positions, after the
   * last layer: a step that fails half-way is as if it had not been.
   */
  update(layer: number, keys: mx.Array, values: mx.Array): [keys: mx.Array, values: mx.Array] {
    const end = this.#length + keys.shape[2]!;
    const held = (this.#layers[layer] ??= { keys: empty(keys), values: empty(values), room: 0 });
    if (end > held.room) grow(held, end);
    // Plain numbers, which are checked here: an Array of starts would be limited in the graph where it is not known.
    const start = [this.#length];
    replace(held, "keys", mx.sliceUpdate(held.keys, keys, start, POSITIONS));
    replace(held, "values", mx.sliceUpdate(held.values, values, start, POSITIONS));
    return [firstPositions(held.keys, end, held.room), firstPositions(held.values, end, held.room)];
  }

  /** Counts positions that every layer has written. */
  advance(positions: number): void {
    this.#length += positions;
  }

  dispose(): void {
    mx.dispose(this.#layers);
    this.#layers = this.#layers.map(() => null);
    this.#length = 0;
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  // What makes `mx.eval(cache)` work. A computed name cannot stand in an exported class under isolatedDeclarations.
  static {
    Object.defineProperty(this.prototype, mx.treeState, {
      get(this: KVCache): { get(): unknown; set(value: unknown): void } {
        return {
          get: () => this.#layers,
          set: (value) => {
            this.#layers = value as (Layer | null)[];
          },
        };
      },
    });
  }
}

export interface KVCache extends mx.TreeState {}

/** The axis of positions. */
const POSITIONS = [2] as const;

/** No positions yet, shaped and typed as `like`. */
function empty(like: mx.Array): mx.Array {
  const [batch, heads, , dim] = like.shape as [number, number, number, number];
  return mx.keep(mx.zeros([batch, heads, 0, dim], like.dtype));
}

/** Makes room for positions up to `end`. */
function grow(layer: Layer, end: number): void {
  const room = Math.ceil(end / STEP) * STEP;
  for (const part of ["keys", "values"] as const) {
    const [batch, heads, , dim] = layer[part].shape as [number, number, number, number];
    const more = mx.zeros([batch, heads, room - layer.room, dim], layer[part].dtype);
    replace(layer, part, layer.room === 0 ? more : mx.concatenate([layer[part], more], 2));
  }
  layer.room = room;
}

function replace(layer: Layer, part: "keys" | "values", next: mx.Array): void {
  layer[part].dispose();
  layer[part] = mx.keep(next);
}

function firstPositions(buffer: mx.Array, length: number, room: number): mx.Array {
  return length === room ? buffer : mx.split(buffer, [length], 2)[0]!;
}
