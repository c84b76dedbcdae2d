/** The Llama architecture: a decoder of equal blocks, each attention and a gated feed-forward part. */

import * as mx from "../../index.ts";
import { KVCache } from "../cache.ts";
import type { LlamaConfig } from "../config.ts";
import { type Rotation, rotation } from "../rope.ts";
import { embed, linear, type Weight } from "../weights.ts";

/** The numbers of one block. */
export interface LlamaBlock {
  readonly attentionNorm: mx.Array; // (d)
  readonly query: Weight; // (heads * D, d)
  readonly key: Weight; // (kvHeads * D, d)
  readonly value: Weight; // (kvHeads * D, d)
  readonly output: Weight; // (d, heads * D)
  readonly feedNorm: mx.Array; // (d)
  readonly gate: Weight; // (inner, d)
  readonly up: Weight; // (inner, d)
  readonly down: Weight; // (d, inner)
}

export interface LlamaWeights {
  readonly embedding: Weight; // (vocab, d)
  readonly blocks: readonly LlamaBlock[];
  readonly norm: mx.Array; // (d)
  /** The output matrix (vocab, d); the embedding itself where the model ties the two. */
  readonly head: Weight;
}

/** A Llama model. It owns its weights and frees them when it is disposed. */
export class Llama implements Disposable {
  readonly config: LlamaConfig;
  readonly #weights: LlamaWeights;

  constructor(config: LlamaConfig, weights: LlamaWeights) {
    this.config = config;
    this.#weights = mx.keep(weights);
  }

  /** An empty cache for this model. The caller owns it. */
  newCache(): KVCache {
    return new KVCache(this.config.layers);
  }

  /** Scores of every next token after each of the tokens ids (B, T): (B, T, vocab). Advances the cache by T. */
  forward(ids: mx.Array, cache: KVCache): mx.Array {
    return mx.tidy(() => this.#logits(this.#hidden(ids, cache)));
  }

  /** Scores of every next token after the last of ids (B, T): (B, vocab). Advances the cache by T. */
  next(ids: mx.Array, cache: KVCache): mx.Array {
    return mx.tidy(() => {
      const hidden = this.#hidden(ids, cache); // (B, T, d)
      const last = mx.take(hidden, -1, 1); // (B, d)
      return this.#logits(last); // (B, vocab)
    });
  }

  /** Fills the cache with the tokens ids (B, T) and computes it: the beginning of a long prompt. */
  fill(ids: mx.Array, cache: KVCache): void {
    mx.tidy(() => {
      this.#hidden(ids, cache);
    });
    mx.eval(cache);
  }

  #hidden(ids: mx.Array, cache: KVCache): mx.Array {
    const length = ids.shape[1]!;
    const turn = rotation(this.config, cache.length, length);
    let x = embed(ids, this.#weights.embedding); // (B, T, d)
    for (const [layer, block] of this.#weights.blocks.entries()) x = this.#block(x, block, turn, cache, layer);
    cache.advance(length);
    return x; // (B, T, d)
  }

  #logits(x: mx.Array): mx.Array {
    return linear(mx.fast.rmsNorm(x, this.#weights.norm, this.config.normEps), this.#weights.head); // (..., vocab)
  }

  #block(x: mx.Array, w: LlamaBlock, turn: Rotation, cache: KVCache, layer: number): mx.Array {
    const { normEps } = this.config;
    const h = x.add(this.#attention(mx.fast.rmsNorm(x, w.attentionNorm, normEps), w, turn, cache, layer)); // (B, T, d)
    return h.add(feedForward(mx.fast.rmsNorm(h, w.feedNorm, normEps), w)); // (B, T, d)
  }

  #attention(x: mx.Array, w: LlamaBlock, turn: Rotation, cache: KVCache, layer: number): mx.Array {
    const { heads, kvHeads, headDim } = this.config;
    const [batch, length] = x.shape as [number, number, number];
    const split = (y: mx.Array, count: number): mx.Array =>
      y.reshape(batch, length, count, headDim).transpose(0, 2, 1, 3); // (B, count, T, D)
    const query = turn(split(linear(x, w.query), heads)); // (B, heads, T, D)
    const key = turn(split(linear(x, w.key), kvHeads)); // (B, kvHeads, T, D)
    const value = split(linear(x, w.value), kvHeads); // (B, kvHeads, T, D)
    const [keys, values] = cache.update(layer, key, value); // (B, kvHeads, S, D), S = all positions so far
    const attended = mx.fast.scaledDotProductAttention(query, keys, values, {
      scale: headDim ** -0.5,
      // A single new token may look at everything; among several, each only at those before it.
      mask: length > 1 ? "causal" : null,
    }); // (B, heads, T, D)
    return linear(attended.transpose(0, 2, 1, 3).reshape(batch, length, heads * headDim), w.output); // (B, T, d)
  }

  dispose(): void {
    mx.dispose(this.#weights);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

function feedForward(x: mx.Array, w: LlamaBlock): mx.Array {
  const gate = linear(x, w.gate); // (B, T, inner)
  const gated = gate.multiply(gate.sigmoid()).multiply(linear(x, w.up)); // silu(gate) * up
  return linear(gated, w.down); // (B, T, d)
}
