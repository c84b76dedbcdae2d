/** Llama models in GGUF files: what must be in one, and how it becomes weights. Anything else is refused by name. */

import * as mx from "../index.ts";
import type { LlamaConfig } from "./config.ts";
import type { LlamaBlock, LlamaWeights } from "./models/llama.ts";
import { dense, type Weight } from "./weights.ts";

/** "float32": dequantized, the fastest on a CPU. "quantized": as stored, an eighth of the memory at 4 bits. */
export type WeightMode = "float32" | "quantized";

/** Keys of the llama family that this reader understands. One that it does not may change what the model computes. */
const understood = new Set(
  [
    "block_count",
    "context_length",
    "embedding_length",
    "feed_forward_length",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.value_length",
    "attention.layer_norm_rms_epsilon",
    "rope.freq_base",
    "rope.dimension_count",
    "vocab_size",
  ].map((key) => `llama.${key}`),
);

/** GGUF's name of each part of a block, without the block's number. */
const parts: Readonly<Record<keyof LlamaBlock, string>> = {
  attentionNorm: "attn_norm",
  query: "attn_q",
  key: "attn_k",
  value: "attn_v",
  output: "attn_output",
  feedNorm: "ffn_norm",
  gate: "ffn_gate",
  up: "ffn_up",
  down: "ffn_down",
};

const EOS = "tokenizer.ggml.eos_token_id";

/** Reads the metadata of a GGUF file, and says in which file a key is missing or wrong. */
export class GgufMetadata {
  readonly #header: mx.GgufHeader;

  constructor(header: mx.GgufHeader) {
    this.#header = header;
  }

  refuse(what: string): never {
    throw new mx.MlxError("llm.load", `${this.#header.path}: ${what}`);
  }

  #value<T>(key: string, kind: string, is: (value: unknown) => value is T, fallback: T | undefined): T {
    const value = this.#header.metadata.get(key)?.value ?? fallback;
    if (value === undefined) this.refuse(`the metadata key "${key}" is missing.`);
    if (!is(value)) this.refuse(`the metadata key "${key}" should be ${kind}, but is ${String(value).slice(0, 60)}.`);
    return value;
  }

  /** A whole number above 0. */
  size(key: string, fallback?: number): number {
    return this.#value(key, "a whole number above 0", isSize, fallback);
  }

  /** The number of a token. */
  id(key: string): number {
    return this.#value(key, "the number of a token", isId, undefined);
  }

  /** A number above 0. */
  number(key: string, fallback?: number): number {
    return this.#value(key, "a number above 0", isPositive, fallback);
  }

  text(key: string, fallback?: string): string {
    return this.#value(key, "a text", isText, fallback);
  }

  flag(key: string, fallback?: boolean): boolean {
    return this.#value(key, "true or false", isFlag, fallback);
  }

  texts(key: string): readonly string[] {
    return this.#value(key, "a list of texts", isTexts, undefined);
  }

  numbers(key: string): readonly number[] {
    return this.#value(key, "a list of numbers", isNumbers, undefined);
  }

  has(key: string): boolean {
    return this.#header.metadata.has(key);
  }
}

const isPositive = (value: unknown): value is number =>
  typeof value === "number" && value > 0 && Number.isFinite(value);
const isSize = (value: unknown): value is number => isPositive(value) && Number.isInteger(value);
const isId = (value: unknown): value is number => value === 0 || isSize(value);
const isText = (value: unknown): value is string => typeof value === "string";
const isFlag = (value: unknown): value is boolean => typeof value === "boolean";
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);
const isNumbers = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((item) => typeof item === "number");

/**
 * The configuration in a GGUF header. Throws an MlxError that names the key or tensor when the file is of another
 * architecture, lacks something, or has something that this loader would have to ignore.
 */
export function llamaConfig(header: mx.GgufHeader): LlamaConfig {
  const metadata = new GgufMetadata(header);
  const architecture = metadata.text("general.architecture");
  if (architecture !== "llama") {
    metadata.refuse(`the metadata key "general.architecture" is "${architecture}"; only "llama" can be loaded.`);
  }
  for (const key of header.metadata.keys()) {
    if (key.startsWith("llama.") && !understood.has(key)) {
      metadata.refuse(`the metadata key "${key}" is not understood, and may change what the model computes.`);
    }
  }
  const width = metadata.size("llama.embedding_length");
  const heads = metadata.size("llama.attention.head_count");
  const kvHeads = metadata.size("llama.attention.head_count_kv", heads);
  const headDim = metadata.size("llama.attention.key_length", width / heads);
  if (heads % kvHeads !== 0) {
    metadata.refuse(
      `the metadata key "llama.attention.head_count_kv" is ${kvHeads}, which does not divide ${heads} heads.`,
    );
  }
  for (const key of ["llama.attention.value_length", "llama.rope.dimension_count"]) {
    const length = metadata.size(key, headDim);
    if (length !== headDim)
      metadata.refuse(`the metadata key "${key}" is ${length}; only ${headDim}, the length of a head, can be loaded.`);
  }
  if (headDim % 2 !== 0) metadata.refuse(`heads of length ${headDim}: an odd length cannot be rotated in pairs.`);
  const embedding = header.tensors.get("token_embd.weight");
  const vocabSize = metadata.size("llama.vocab_size", embedding?.shape[0]);
  const config = {
    layers: metadata.size("llama.block_count"),
    width,
    innerWidth: metadata.size("llama.feed_forward_length"),
    heads,
    kvHeads,
    headDim,
    vocabSize,
    contextLength: metadata.size("llama.context_length"),
    normEps: metadata.number("llama.attention.layer_norm_rms_epsilon"),
    ropeBase: metadata.number("llama.rope.freq_base", 10000),
    // The converter to GGUF reorders queries and keys so that neighbours are rotated.
    ropeTraditional: true,
    stopTokens: metadata.has(EOS) ? [metadata.id(EOS)] : [],
  };
  checkTensors(header, config, metadata);
  return config;
}

/** Name and shape of every tensor of such a model; `output.weight` is absent where the embedding serves twice. */
function expectedTensors(config: LlamaConfig): Map<string, readonly number[]> {
  const { layers, width, innerWidth, heads, kvHeads, headDim, vocabSize } = config;
  const shapes: Readonly<Record<keyof LlamaBlock, readonly number[]>> = {
    attentionNorm: [width],
    query: [heads * headDim, width],
    key: [kvHeads * headDim, width],
    value: [kvHeads * headDim, width],
    output: [width, heads * headDim],
    feedNorm: [width],
    gate: [innerWidth, width],
    up: [innerWidth, width],
    down: [width, innerWidth],
  };
  const expected = new Map<string, readonly number[]>([
    ["token_embd.weight", [vocabSize, width]],
    ["output_norm.weight", [width]],
  ]);
  for (let layer = 0; layer < layers; layer++) {
    for (const part of Object.keys(parts) as (keyof LlamaBlock)[]) {
      expected.set(`blk.${layer}.${parts[part]}.weight`, shapes[part]);
    }
  }
  return expected;
}

function checkTensors(header: mx.GgufHeader, config: LlamaConfig, metadata: GgufMetadata): void {
  if (config.layers > header.tensors.size) {
    metadata.refuse(
      `the metadata key "llama.block_count" is ${config.layers}, but there are only ${header.tensors.size} tensors.`,
    );
  }
  const expected = expectedTensors(config);
  if (header.tensors.has("output.weight")) expected.set("output.weight", [config.vocabSize, config.width]);
  for (const [name, shape] of expected) {
    const tensor = header.tensors.get(name);
    if (tensor === undefined) metadata.refuse(`the tensor "${name}" is missing.`);
    if (tensor.shape.join() !== shape.join()) {
      metadata.refuse(`the tensor "${name}" has shape [${tensor.shape}], but the metadata ask for [${shape}].`);
    }
    if (/^I\d/.test(tensor.type.name))
      metadata.refuse(`the tensor "${name}" is of type ${tensor.type.name}, not a weight.`);
  }
  for (const name of header.tensors.keys()) {
    if (!expected.has(name)) metadata.refuse(`the tensor "${name}" is not one that a llama model has.`);
  }
}

/** Reads and computes the weights of a checked file. The caller owns them. */
export function loadLlamaWeights(header: mx.GgufHeader, config: LlamaConfig, mode: WeightMode): LlamaWeights {
  return mx.tidy(() => {
    const arrays = mx.load(header.path, { format: "gguf" }) as Record<string, mx.Array>;
    const stored = (name: string): Weight => prepare(takeWeight(arrays, header, name), mode);
    const weight = (name: string): Weight => turned(stored(name));
    const embedding = stored("token_embd");
    const blocks = Array.from({ length: config.layers }, (_, layer) => {
      const entries = Object.entries(parts).map(([part, name]) => [part, weight(`blk.${layer}.${name}`)]);
      return Object.fromEntries(entries) as LlamaBlock;
    });
    const head = header.tensors.has("output.weight") ? weight("output") : turned(embedding);
    return { embedding, blocks, norm: weight("output_norm") as mx.Array, head };
  });
}

/** One tensor, out of the loaded arrays: a quantized one arrives as three. */
function takeWeight(arrays: Record<string, mx.Array>, header: mx.GgufHeader, name: string): Weight {
  const weight = arrays[`${name}.weight`]!;
  const { type } = header.tensors.get(`${name}.weight`)!;
  if (type.loads !== "quantized") return weight;
  const scales = arrays[`${name}.scales`]!;
  const biases = arrays[`${name}.biases`]!;
  return { weight, scales, biases, bits: type.name.startsWith("Q8") ? 8 : 4, groupSize: type.weights };
}

/**
 * Brings a weight into its form for computing, and frees what it was made of before the next one is read.
 *
 * Quantized products with float16 scales are some forty times slower on the CPU than with float32 ones, and the
 * conversion is exact.
 */
function prepare(weight: Weight, mode: WeightMode): Weight {
  const ready = mx.tidy(() => {
    if (weight instanceof mx.Array) return weight.astype("float32");
    const { scales, biases } = weight;
    const exact = { ...weight, scales: scales.astype("float32"), biases: biases.astype("float32") };
    return mode === "quantized" ? exact : dense(exact);
  });
  mx.eval(ready);
  const kept = new Set(leaves(ready));
  mx.dispose(leaves(weight).filter((array) => !kept.has(array)));
  return ready;
}

/** A stored matrix (out, in) as one to multiply by. A vector stays as it is. */
function turned(weight: Weight): Weight {
  if (!(weight instanceof mx.Array)) return weight;
  const view = weight.T;
  mx.eval(view);
  return view;
}

function leaves(weight: Weight): mx.Array[] {
  return weight instanceof mx.Array ? [weight] : [weight.weight, weight.scales, weight.biases];
}
