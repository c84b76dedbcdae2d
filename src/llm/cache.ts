/** The keys and values of the positions seen so far, so that each step computes those of its own tokens only. */

import * as mx from "../index.ts";

/** Room grows by so many positions at a time: a copy of everything once in 256 tokens instead of at each. */
const STEP = 256;

interface Layer {
  keys: mx.Array;
  values: mx.Array;
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
    const held = (this.#layers[layer] ??= { keys: room(keys), values: room(values) });
    replace(held, "keys", write(held.keys, keys, this.#length));
    replace(held, "values", write(held.values, values, this.#length));
    return [firstPositions(held.keys, end), firstPositions(held.values, end)];
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

/** Empty room for the first positions of a layer, shaped and typed as `like`. */
function room(like: mx.Array): mx.Array {
  const [batch, heads, positions, dim] = like.shape as [number, number, number, number];
  return mx.keep(mx.zeros([batch, heads, roundUp(positions), dim], like.dtype));
}

function roundUp(positions: number): number {
  return Math.ceil(positions / STEP) * STEP;
}

/** `buffer` with `rows` at the positions from `start` on, made longer where they do not fit. */
function write(buffer: mx.Array, rows: mx.Array, start: number): mx.Array {
  const [batch, heads, capacity, dim] = buffer.shape as [number, number, number, number];
  const missing = roundUp(start + rows.shape[2]!) - capacity;
  const longer =
    missing <= 0 ? buffer : mx.concatenate([buffer, mx.zeros([batch, heads, missing, dim], buffer.dtype)], 2);
  return mx.sliceUpdate(longer, rows, [start], [2]);
}

function replace(layer: Layer, part: keyof Layer, next: mx.Array): void {
  layer[part].dispose();
  layer[part] = mx.keep(next);
}

function firstPositions(buffer: mx.Array, length: number): mx.Array {
  return length === buffer.shape[2] ? buffer : mx.split(buffer, [length], 2)[0]!;
}
