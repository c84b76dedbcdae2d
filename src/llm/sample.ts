/** Choosing the next token from the model's scores. */

import * as mx from "../index.ts";

export interface SamplingOptions {
  /** 0 takes the likeliest token each time (greedy); 1 draws with the model's probabilities; more is wilder. Default: 0. */
  temperature?: number | undefined;
  /** Draw only among the likeliest tokens that together have this probability, 0 < topP <= 1. Default: 1, all. */
  topP?: number | undefined;
  /** Makes the draws repeatable. Default: the global random state. */
  seed?: number | bigint | undefined;
}

/** Maps scores (B, vocab) to tokens (B), lazily. */
export type Sampler = ((logits: mx.Array) => mx.Array) & Disposable;

/** Makes a sampler. Throws a RangeError for options out of range. The caller disposes it. */
export function sampler({ temperature = 0, topP = 1, seed }: SamplingOptions = {}): Sampler {
  if (!(temperature >= 0) || !Number.isFinite(temperature)) {
    throw new RangeError(`temperature must be a number from 0 on, got ${temperature}.`);
  }
  if (!(topP > 0 && topP <= 1)) throw new RangeError(`topP must be above 0 and at most 1, got ${topP}.`);
  if (temperature === 0)
    return disposable(
      (logits) => mx.argmax(logits, -1),
      () => undefined,
    );
  const keys = keySequence(seed);
  const draw = (logits: mx.Array): mx.Array =>
    mx.tidy(() => {
      const scores = logits.divide(temperature); // (B, vocab)
      return topP === 1 ? mx.random.categorical(scores, { key: keys.next() }) : nucleus(scores, topP, keys.next());
    });
  return disposable(draw, keys.dispose);
}

function disposable(draw: (logits: mx.Array) => mx.Array, dispose: () => void): Sampler {
  return Object.assign(draw, { [Symbol.dispose]: dispose });
}

/** Draws among the likeliest tokens that together have the probability `topP`; the likeliest one is always in. */
function nucleus(scores: mx.Array, topP: number, key: mx.Array | null): mx.Array {
  const order = mx.argsort(mx.negative(scores), -1); // (B, vocab), likeliest first
  const sorted = mx.takeAlongAxis(scores, order, -1);
  const probabilities = mx.softmax(sorted, -1);
  const before = mx.cumsum(probabilities, -1).subtract(probabilities); // what the likelier ones have together
  const allowed = mx.where(before.less(topP), sorted, Number.NEGATIVE_INFINITY);
  const rank = mx.random.categorical(allowed, { key }).expandDims(-1); // (B, 1), place in the order
  return mx.takeAlongAxis(order, rank, -1).squeeze(-1); // (B)
}

/** A fresh random key for each draw, from a seed; null without one, which means the global state. */
function keySequence(seed: number | bigint | undefined): { next(): mx.Array | null; dispose(): void } {
  if (seed === undefined) return { next: () => null, dispose: () => undefined };
  let state: mx.Array | null = null;
  const next = (): mx.Array => {
    const last = state ?? mx.random.key(seed); // (2)
    const [following, key] = mx.unstack(mx.random.split(last)) as [mx.Array, mx.Array];
    last.dispose();
    state = mx.keep(following);
    return key;
  };
  return { next, dispose: () => state?.dispose() };
}
