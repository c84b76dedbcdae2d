/** Generating tokens: the prompt at once, then one token at a time, each computed while the last one is used. */

import * as mx from "../index.ts";
import type { KVCache } from "./cache.ts";
import type { LlamaConfig } from "./config.ts";
import { type Sampler, sampler, type SamplingOptions } from "./sample.ts";

/** What generation needs of a model. */
export interface CausalModel {
  readonly config: Pick<LlamaConfig, "vocabSize" | "contextLength" | "stopTokens">;
  newCache(): KVCache;
  /** Scores (B, vocab) of the next token after ids (B, T). */
  next(ids: mx.Array, cache: KVCache): mx.Array;
  /** Computes the cache of ids (B, T) without scores. */
  fill(ids: mx.Array, cache: KVCache): void;
}

export interface GenerateOptions extends SamplingOptions {
  /** Default: 256. The context length of the model is a limit too. */
  maxTokens?: number | undefined;
  /** Generation ends after one of these tokens, which is given out as the last. Default: the model's own. */
  stopTokens?: readonly number[] | undefined;
  /**
   * Earlier positions of the same sequence, to go on from. Afterwards it holds the prompt and every token given out
   * but the last one. Default: a cache of its own, disposed at the end.
   */
  cache?: KVCache | undefined;
  /** Ends generation between two tokens, by throwing the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Why generation ended: a stop token, `maxTokens` or the context length, or the reader that went away. */
export type FinishReason = "stop" | "length" | "left";

/** Prompts go through the model in pieces of so many tokens, so that attention needs bounded memory. */
const PREFILL = 512;

/**
 * Generates tokens after a prompt. The result is read once, with `for await`; its figures are true at any time.
 *
 * Throws a RangeError for an empty prompt, a token id outside of the vocabulary, or a prompt that leaves no room in
 * the context. Arrays made on the way are freed, also when the reader leaves the loop early or something throws.
 *
 * @example
 * for await (const token of generate(model, promptIds, { maxTokens: 64, stopTokens: [2] })) console.log(token);
 */
export function generate(model: CausalModel, prompt: readonly number[], options: GenerateOptions = {}): Generation {
  return new Generation(model, prompt, options);
}

export class Generation implements AsyncIterable<number> {
  readonly promptTokens: number;
  /** Tokens given out. */
  tokens = 0;
  /** From the start to the first token. */
  prefillSeconds = 0;
  /** From the first token to the last one. */
  decodeSeconds = 0;
  finishReason: FinishReason | null = null;

  readonly #model: CausalModel;
  readonly #prompt: readonly number[];
  readonly #options: GenerateOptions;
  readonly #limit: number;
  readonly #sample: Sampler;
  #started = false;

  constructor(model: CausalModel, prompt: readonly number[], options: GenerateOptions) {
    this.#model = model;
    this.#prompt = checkedPrompt(prompt, model.config.vocabSize);
    this.#options = options;
    this.promptTokens = prompt.length;
    // The last token is not fed back, so it needs no position.
    const room = model.config.contextLength - (options.cache?.length ?? 0) - prompt.length + 1;
    if (room < 1) {
      throw new RangeError(
        `generate: a prompt of ${prompt.length} tokens does not fit into the context of ${model.config.contextLength}.`,
      );
    }
    this.#limit = Math.min(checkedMax(options.maxTokens ?? 256), room);
    this.#sample = sampler(options);
  }

  /** Prompt tokens a second. */
  get prefillRate(): number {
    return this.promptTokens / this.prefillSeconds;
  }

  /** Tokens a second after the first one. */
  get decodeRate(): number {
    return this.tokens > 1 ? (this.tokens - 1) / this.decodeSeconds : 0;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<number, void, undefined> {
    if (this.#started) throw new TypeError("generate: the tokens were read already; call generate again.");
    this.#started = true;
    const cache = this.#options.cache ?? this.#model.newCache();
    const start = cache.length;
    try {
      yield* this.#run(cache);
    } finally {
      this.#sample[Symbol.dispose]();
      // A step ahead may have been computed for nothing.
      if (this.#options.cache === undefined) cache.dispose();
      else cache.trim(Math.min(cache.length, start + this.promptTokens + Math.max(this.tokens - 1, 0)));
    }
  }

  async *#run(cache: KVCache): AsyncGenerator<number, void, undefined> {
    const { signal, stopTokens = this.#model.config.stopTokens } = this.#options;
    const begin = performance.now();
    let current: mx.Array | null = await this.#prefill(cache); // (1)
    let following: mx.Array | null = null;
    mx.eval(current);
    const first = performance.now();
    this.prefillSeconds = (first - begin) / 1000;
    this.finishReason = "left";
    try {
      while (current !== null) {
        // Start the next step before this token is read, so that the model works while the reader does.
        following = this.tokens + 1 < this.#limit ? this.#step(current, cache) : null;
        await turn();
        const token = Number(current.item());
        current.dispose();
        current = following;
        following = null;
        this.tokens++;
        this.decodeSeconds = (performance.now() - first) / 1000;
        const stop = stopTokens.includes(token);
        if (stop || current === null) this.finishReason = stop ? "stop" : "length";
        yield token;
        if (stop) return;
        signal?.throwIfAborted();
      }
    } finally {
      current?.dispose();
      following?.dispose();
    }
  }

  /** Feeds the prompt; the first token (1), not yet computed. */
  async #prefill(cache: KVCache): Promise<mx.Array> {
    let rest = this.#prompt;
    for (; rest.length > PREFILL; rest = rest.slice(PREFILL)) {
      mx.tidy(() => this.#model.fill(row(rest.slice(0, PREFILL)), cache));
      await turn();
      this.#options.signal?.throwIfAborted();
    }
    this.#options.signal?.throwIfAborted();
    return mx.keep(mx.tidy(() => this.#sample(this.#model.next(row(rest), cache))));
  }

  /** Starts computing the token (1) after `token` (1). */
  #step(token: mx.Array, cache: KVCache): mx.Array {
    const next = mx.keep(mx.tidy(() => this.#sample(this.#model.next(token.reshape(1, 1), cache))));
    mx.asyncEval(next);
    return next;
  }
}

/** A batch of one sequence: (1, T). */
function row(ids: readonly number[]): mx.Array {
  return mx.array([ids], { dtype: "int32" });
}

/** Lets timers, signals and other work of the event loop happen. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function checkedPrompt(prompt: readonly number[], vocabSize: number): readonly number[] {
  if (prompt.length === 0) throw new RangeError("generate: the prompt is empty.");
  for (const [i, id] of prompt.entries()) {
    if (!Number.isInteger(id) || id < 0 || id >= vocabSize) {
      throw new RangeError(`generate: token ${i} of the prompt is ${id}; ids go from 0 to ${vocabSize - 1}.`);
    }
  }
  return [...prompt];
}

function checkedMax(maxTokens: number): number {
  if (Number.isInteger(maxTokens) && maxTokens >= 1) return maxTokens;
  throw new RangeError(`generate: maxTokens must be a whole number from 1 on, got ${maxTokens}.`);
}
