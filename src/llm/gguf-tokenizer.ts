/** The tokenizer in a GGUF file, as the JSON of Hugging Face's tokenizers, whose library does the work. */

import type * as mx from "../index.ts";
import { GgufMetadata } from "./gguf.ts";

/** What a tokenizer is built of: the contents of tokenizer.json, and what else a chat needs to know. */
export interface TokenizerSource {
  readonly json: object;
  /** The Jinja template that turns messages into a prompt, if there is one. */
  readonly chatTemplate: string | null;
  readonly bosToken: string | null;
  readonly eosToken: string | null;
  /** Whether a text that is not a chat begins with the bos token. */
  readonly addBos: boolean;
}

/** GGUF's kinds of tokens. */
const CONTROL = 3;
const USER_DEFINED = 4;

// Text is cut into words before the merges apply; a word never crosses a cut. Byte-level steps cut in GPT-2's way.
const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true };
/**
 * Each digit for itself. As a Split, because the library's own Digits step knows the ten ASCII digits only, where
 * the original cuts at every Unicode number, ½ and Ⅷ and ٣ included.
 */
const eachDigit = { type: "Split", pattern: { Regex: "\\p{N}" }, behavior: "Isolated", invert: false };

/** The steps by the name that GGUF gives them. */
const preTokenizers: Readonly<Record<string, readonly object[]>> = {
  "gpt-2": [byteLevel],
  smollm: [eachDigit, byteLevel],
};

/** Reads `tokenizer.ggml.*`. Throws an MlxError that names the key when the tokenizer is not one that is known here. */
export function ggufTokenizer(header: mx.GgufHeader): TokenizerSource {
  const metadata = new GgufMetadata(header);
  const model = metadata.text("tokenizer.ggml.model");
  if (model !== "gpt2") {
    metadata.refuse(
      `the metadata key "tokenizer.ggml.model" is "${model}"; only "gpt2", byte-level BPE, can be loaded.`,
    );
  }
  const pre = metadata.text("tokenizer.ggml.pre", "gpt-2");
  const steps = Object.hasOwn(preTokenizers, pre) ? preTokenizers[pre] : undefined;
  if (steps === undefined) {
    const known = Object.keys(preTokenizers).join(", ");
    return metadata.refuse(`the metadata key "tokenizer.ggml.pre" is "${pre}"; the known ones are ${known}.`);
  }
  const tokens = metadata.texts("tokenizer.ggml.tokens");
  const token = (key: string): string | null => {
    if (!metadata.has(key)) return null;
    const id = metadata.id(key);
    return tokens[id] ?? metadata.refuse(`the metadata key "${key}" is ${id}, but there are ${tokens.length} tokens.`);
  };
  return {
    json: {
      version: "1.0",
      truncation: null,
      padding: null,
      added_tokens: addedTokens(tokens, metadata),
      normalizer: null,
      pre_tokenizer: { type: "Sequence", pretokenizers: steps },
      post_processor: null,
      decoder: byteLevel,
      model: {
        type: "BPE",
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: null,
        end_of_word_suffix: null,
        fuse_unk: false,
        byte_fallback: false,
        ignore_merges: false,
        vocab: Object.fromEntries(tokens.map((text, id) => [text, id])),
        merges: metadata.texts("tokenizer.ggml.merges"),
      },
    },
    chatTemplate: metadata.has("tokenizer.chat_template") ? metadata.text("tokenizer.chat_template") : null,
    bosToken: token("tokenizer.ggml.bos_token_id"),
    eosToken: token("tokenizer.ggml.eos_token_id"),
    addBos: metadata.flag("tokenizer.ggml.add_bos_token", false),
  };
}

/** The tokens that are found in a text as they stand, before it is cut into words. */
function addedTokens(tokens: readonly string[], metadata: GgufMetadata): object[] {
  const kinds = metadata.numbers("tokenizer.ggml.token_type");
  if (kinds.length !== tokens.length) {
    metadata.refuse(
      `the metadata key "tokenizer.ggml.token_type" has ${kinds.length} entries for ${tokens.length} tokens.`,
    );
  }
  return tokens.flatMap((content, id) => {
    const kind = kinds[id];
    if (kind !== CONTROL && kind !== USER_DEFINED) return [];
    return [
      { id, content, special: kind === CONTROL, normalized: false, single_word: false, lstrip: false, rstrip: false },
    ];
  });
}
