/** Loading a language model from a file. */

import * as mx from "../index.ts";
import type { LlamaConfig } from "./config.ts";
import { generate, type GenerateOptions, type Generation } from "./generate.ts";
import { llamaConfig, loadLlamaWeights, type WeightMode } from "./gguf.ts";
import { ggufTokenizer } from "./gguf-tokenizer.ts";
import { Llama } from "./models/llama.ts";
import { type Message, Tokenizer } from "./tokenizer.ts";

export interface LoadModelOptions {
  /**
   * "float32" dequantizes the weights: on a CPU twice as fast as "quantized", with eight times the memory at 4 bits.
   * Default: "float32".
   */
  weights?: WeightMode | undefined;
}

/** A loaded model without its tokenizer: token ids in, token ids out. */
export function loadModel(path: string, { weights = "float32" }: LoadModelOptions = {}): Llama {
  return fromHeader(mx.readGgufHeader(path), weights);
}

/**
 * Loads a language model and its tokenizer from a GGUF file of the llama architecture.
 *
 * The whole file is checked first: an MlxError names the key or tensor that is missing, damaged or not understood.
 * The caller disposes the result.
 *
 * @example
 * using lm = await load("SmolLM2-135M-Instruct.Q4_1.gguf");
 * for await (const text of lm.chat([{ role: "user", content: "Are dogs real?" }])) process.stdout.write(text);
 */
export async function load(path: string, { weights = "float32" }: LoadModelOptions = {}): Promise<LanguageModel> {
  const header = mx.readGgufHeader(path);
  const config = llamaConfig(header);
  const tokenizer = await Tokenizer.from(ggufTokenizer(header));
  return new LanguageModel(fromHeader(header, weights, config), tokenizer);
}

function fromHeader(header: mx.GgufHeader, weights: WeightMode, config: LlamaConfig = llamaConfig(header)): Llama {
  if (weights !== "float32" && weights !== "quantized") {
    throw new TypeError(`llm.load: weights must be "float32" or "quantized", got ${JSON.stringify(weights)}.`);
  }
  return new Llama(config, loadLlamaWeights(header, config, weights));
}

/** A model and its tokenizer: text in, text out. */
export class LanguageModel implements Disposable {
  readonly model: Llama;
  readonly tokenizer: Tokenizer;

  constructor(model: Llama, tokenizer: Tokenizer) {
    this.model = model;
    this.tokenizer = tokenizer;
  }

  /** Answers a conversation: the text comes piece by piece, and `generation` has the figures. */
  chat(messages: readonly Message[], options: GenerateOptions = {}): TextGeneration {
    return new TextGeneration(generate(this.model, this.tokenizer.encodeChat(messages), options), this.tokenizer);
  }

  dispose(): void {
    this.model.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** A generation read as text. */
export class TextGeneration implements AsyncIterable<string> {
  readonly generation: Generation;
  /** The ids of the tokens given out so far, a stop token included. */
  readonly ids: number[] = [];
  readonly #tokenizer: Tokenizer;

  constructor(generation: Generation, tokenizer: Tokenizer) {
    this.generation = generation;
    this.#tokenizer = tokenizer;
  }

  /** Pieces of text, each of whole characters; a token inside a character gives no piece. */
  async *[Symbol.asyncIterator](): AsyncGenerator<string, void, undefined> {
    const stream = this.#tokenizer.stream();
    for await (const token of this.generation) {
      this.ids.push(token);
      const text = stream.push(token);
      if (text !== "") yield text;
    }
    const rest = stream.end();
    if (rest !== "") yield rest;
  }
}
