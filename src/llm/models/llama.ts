/** The Llama architecture: a decoder of equal blocks, each attention and a gated feed-forward part. */

import * as mx from "../../index.ts";
import { KVCache } from "../cache.ts";
import type { LlamaConfig } from "../config.ts";
import { type Rotation, rotation } from "../rope.ts";
import { embed, linear, type Weight } from "../weights.ts";

/** The numbers of one block. */
export interface LlamaBlock {
  readonly attentionNorm: mx.Array; // (d)
  readonly query: Weight; // (d, heads * D)
  readonly key: Weight; // (d, kvHeads * D)
  readonly value: Weight; // (d, kvHeads * D)
  readonly output: Weight; // (heads * D, d)
  readonly feedNorm: mx.Array; // (d)
  readonly gate: Weight; // (d, inner)
  readonly up: Weight; // (d, inner)
  readonly down: Weight; // (inner, d)
}

export interface LlamaWeights {
  /** As it is stored, (vocab, d). */
  readonly embedding: Weight;
  readonly blocks: readonly LlamaBlock[];
  readonly norm: mx.Array; // (d)
  /** The output matrix (d, vocab); the embedding, turned, where the model ties the two. */
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
    return mx.tidy(() => this.#logits(this.#hidden(ids, cache)).reshape(...ids.shape, this.config.vocabSize));
  }

  /** Scores of every next token after the last of ids (B, T): (B, vocab). Advances the cache by T. */
  next(ids: mx.Array, cache: KVCache): mx.Array {
    return mx.tidy(() => {
      const [batch, length] = ids.shape as [number, number];
      const hidden = this.#hidden(ids, cache); // (B * T, d)
      const last = length === 1 ? hidden : mx.take(hidden.reshape(batch, length, this.config.width), -1, 1); // (B, d)
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
    const [batch, length] = ids.shape as [number, number];
    const step: Step = { batch, length, cache, turn: rotation(this.config, cache.length, length) };
    let x = embed(ids.flatten(), this.#weights.embedding); // (B * T, d)
    for (const [layer, block] of this.#weights.blocks.entries()) {
      // A scope a block, so that what it is built of is freed while it is still at hand.
      x = mx.tidy(() => this.#block(x, block, step, layer));
    }
    cache.advance(length);
    return x; // (B * T, d)
  }

  #logits(x: mx.Array): mx.Array {
    return linear(mx.fast.rmsNorm(x, this.#weights.norm, this.config.normEps), this.#weights.head); // (rows, vocab)
  }

  #block(x: mx.Array, w: LlamaBlock, step: Step, layer: number): mx.Array {
    const { normEps } = this.config;
    const h = x.add(this.#attention(mx.fast.rmsNorm(x, w.attentionNorm, normEps), w, step, layer)); // (B * T, d)
    return h.add(feedForward(mx.fast.rmsNorm(h, w.feedNorm, normEps), w)); // (B * T, d)
  }

  #attention(x: mx.Array, w: LlamaBlock, step: Step, layer: number): mx.Array {
    const { heads, kvHeads, headDim } = this.config;
    const query = step.turn(toHeads(linear(x, w.query), step, heads)); // (B, heads, T, D)
    const key = step.turn(toHeads(linear(x, w.key), step, kvHeads)); // (B, kvHeads, T, D)
    const value = toHeads(linear(x, w.value), step, kvHeads); // (B, kvHeads, T, D)
    const [keys, values] = step.cache.update(layer, key, value); // (B, kvHeads, S, D), S = all positions so far
    const attended = mx.fast.scaledDotProductAttention(query, keys, values, {
      scale: headDim ** -0.5,
      // A single new token may look at everything; among several, each only at those before it.
      mask: step.length > 1 ? "causal" : null,
    }); // (B, heads, T, D)
    return linear(fromHeads(attended, step), w.output); // (B * T, d)
  }

  dispose(): void {
    mx.dispose(this.#weights);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** What all blocks of one step share. */
interface Step {
  readonly batch: number;
  readonly length: number;
  readonly cache: KVCache;
  readonly turn: Rotation;
}

/** (B * T, count * D) as (B, count, T, D). With T = 1 the two axes need no swap. */
function toHeads(x: mx.Array, { batch, length }: Step, count: number): mx.Array {
  if (length === 1) return x.reshape(batch, count, 1, -1);
  return x.reshape(batch, length, count, -1).transpose(0, 2, 1, 3);
}

/** (B, count, T, D) as (B * T, count * D). */
function fromHeads(x: mx.Array, { batch, length }: Step): mx.Array {
  return (length === 1 ? x : x.transpose(0, 2, 1, 3)).reshape(batch * length, -1);
}

function feedForward(x: mx.Array, w: LlamaBlock): mx.Array {
  const gate = linear(x, w.gate); // (B * T, inner)
  const gated = gate.multiply(gate.sigmoid()).multiply(linear(x, w.up)); // silu(gate) * up
  return linear(gated, w.down); // (B * T, d)
}
