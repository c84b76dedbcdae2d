// A Llama small enough to test in milliseconds, as a GGUF file made by hand: random numbers, a real tokenizer.
import {
  float32,
  floats,
  int32s,
  makeGguf,
  type Parts,
  type Tensor,
  text,
  texts,
  uint32,
  type Value,
} from "../io/make-gguf.ts";

const layers = 2;
const width = 32;
const inner = 64;
const heads = 4;
const kvHeads = 2;
const headDim = 8;
/** The bytes as GPT-2 writes them, one merge, and two special tokens. */
const vocabulary: readonly string[] = ["<|im_start|>", "<|im_end|>", ...byteLetters(), "th"];

/** The letter that byte-level BPE writes for each of the 256 bytes. */
function byteLetters(): string[] {
  const printable = (byte: number): boolean => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  let spare = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(printable(byte) ? byte : spare++));
}

/** Repeatable numbers between -1 and 1. */
export function noise(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

export const chatTemplate =
  "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

export const tinyMetadata: Readonly<Record<string, Value>> = {
  "general.architecture": text("llama"),
  "llama.block_count": uint32(layers),
  "llama.context_length": uint32(640),
  "llama.embedding_length": uint32(width),
  "llama.feed_forward_length": uint32(inner),
  "llama.attention.head_count": uint32(heads),
  "llama.attention.head_count_kv": uint32(kvHeads),
  "llama.attention.layer_norm_rms_epsilon": float32(1e-5),
  "llama.rope.freq_base": float32(10000),
  "tokenizer.ggml.model": text("gpt2"),
  "tokenizer.ggml.pre": text("smollm"),
  "tokenizer.ggml.tokens": texts(vocabulary),
  "tokenizer.ggml.merges": texts(["t h"]),
  "tokenizer.ggml.token_type": int32s(vocabulary.map((_, id) => (id < 2 ? 3 : 1))),
  "tokenizer.ggml.bos_token_id": uint32(0),
  "tokenizer.ggml.eos_token_id": uint32(1),
  "tokenizer.chat_template": text(chatTemplate),
};

export const tinyVocabSize: number = vocabulary.length;

/** The tensors of a tiny model in GGUF's axis order. */
export function tinyTensors(): Tensor[] {
  const next = noise(42);
  const tensor = (name: string, ...dims: number[]): Tensor => {
    const size = dims.reduce((product, length) => product * length, 1);
    const norm = dims.length === 1;
    return {
      name,
      dims,
      type: 0,
      data: floats(Array.from({ length: size }, () => (norm ? 1 + next() / 10 : next() / 2))),
    };
  };
  const blocks = Array.from({ length: layers }, (_, i) => [
    tensor(`blk.${i}.attn_norm.weight`, width),
    tensor(`blk.${i}.attn_q.weight`, width, heads * headDim),
    tensor(`blk.${i}.attn_k.weight`, width, kvHeads * headDim),
    tensor(`blk.${i}.attn_v.weight`, width, kvHeads * headDim),
    tensor(`blk.${i}.attn_output.weight`, heads * headDim, width),
    tensor(`blk.${i}.ffn_norm.weight`, width),
    tensor(`blk.${i}.ffn_gate.weight`, width, inner),
    tensor(`blk.${i}.ffn_up.weight`, width, inner),
    tensor(`blk.${i}.ffn_down.weight`, inner, width),
  ]);
  return [tensor("token_embd.weight", width, vocabulary.length), ...blocks.flat(), tensor("output_norm.weight", width)];
}

export interface TinyChanges {
  /** Metadata that differ; undefined takes a key out. */
  metadata?: Record<string, Value | undefined>;
  tensors?: (tensors: Tensor[]) => Tensor[];
  parts?: Parts;
}

/** The bytes of a tiny Llama's GGUF file. */
export function tinyGguf({ metadata = {}, tensors = (all) => all, parts = {} }: TinyChanges = {}): Uint8Array {
  const entries = Object.entries({ ...tinyMetadata, ...metadata });
  return makeGguf({
    metadata: entries.filter((entry): entry is [string, Value] => entry[1] !== undefined),
    tensors: tensors(tinyTensors()),
    ...parts,
  });
}
