/**
 * Text to token ids and back, and messages to a prompt. The work is done by @huggingface/tokenizers and
 * @huggingface/jinja, which are imported only here and only when a tokenizer is made.
 */

import type { Template } from "@huggingface/jinja";
import type { Tokenizer as Library } from "@huggingface/tokenizers";
import type { TokenizerSource } from "./gguf-tokenizer.ts";

/** One turn of a conversation. */
export interface Message {
  readonly role: string;
  readonly content: string;
}

export interface ChatTemplateOptions {
  /** End with the beginning of the assistant's turn, for the model to go on. Default: true. */
  addGenerationPrompt?: boolean | undefined;
}

export class Tokenizer {
  readonly #library: Library;
  readonly #template: Template | null;
  readonly #source: TokenizerSource;

  private constructor(library: Library, template: Template | null, source: TokenizerSource) {
    this.#library = library;
    this.#template = template;
    this.#source = source;
  }

  /** Makes a tokenizer from the contents of tokenizer.json and its companions. */
  static async from(source: TokenizerSource): Promise<Tokenizer> {
    const { Tokenizer: LibraryTokenizer } = await import("@huggingface/tokenizers");
    const { bosToken, eosToken, chatTemplate } = source;
    const library = new LibraryTokenizer(source.json, {
      bos_token: bosToken,
      eos_token: eosToken,
      clean_up_tokenization_spaces: false,
    });
    if (chatTemplate === null) return new Tokenizer(library, null, source);
    const { Template } = await import("@huggingface/jinja");
    return new Tokenizer(library, new Template(chatTemplate), source);
  }

  /** The token ids of a text. Special tokens written in it, such as `<|im_end|>`, are recognised. */
  encode(text: string): number[] {
    const { addBos, bosToken } = this.#source;
    const { ids } = this.#library.encode(addBos ? `${bosToken ?? ""}${text}` : text, { add_special_tokens: false });
    return ids;
  }

  /** The text of token ids, without the special tokens. An incomplete character at an end becomes U+FFFD. */
  decode(ids: readonly number[]): string {
    // The library refuses an empty list.
    return ids.length === 0 ? "" : this.#library.decode([...ids], { skip_special_tokens: true });
  }

  /** The prompt of a conversation, as the model's chat template writes it. Throws when the model has none. */
  applyChatTemplate(messages: readonly Message[], options: ChatTemplateOptions = {}): string {
    if (this.#template === null) throw new TypeError("applyChatTemplate: this model has no chat template.");
    return this.#template.render({
      messages: messages.map((message) => ({ ...message })),
      add_generation_prompt: options.addGenerationPrompt ?? true,
      bos_token: this.#source.bosToken ?? "",
      eos_token: this.#source.eosToken ?? "",
    });
  }

  /** The token ids of a conversation's prompt. */
  encodeChat(messages: readonly Message[], options: ChatTemplateOptions = {}): number[] {
    return this.#library.encode(this.applyChatTemplate(messages, options), { add_special_tokens: false }).ids;
  }

  /** A decoder for tokens that come one at a time. */
  stream(): TextStream {
    return new TextStream(this);
  }
}

/** U+FFFD, which the decoder writes for the bytes of a character that is not complete. */
const INCOMPLETE = "\uFFFD";

/**
 * Decodes tokens one at a time. A token may end inside a character; its text is held back until the character is
 * complete, so the pieces always join to whole characters.
 */
export class TextStream {
  readonly #tokenizer: Tokenizer;
  /** Tokens since a place where a character ended. Those before `#given` have been given out as text. */
  #tokens: number[] = [];
  #given = 0;

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer;
  }

  /** The text that a token completes; "" while a character is open. */
  push(token: number): string {
    this.#tokens.push(token);
    // With the last piece in front: some tokenizers treat the first token of a text differently.
    const before = this.#tokenizer.decode(this.#tokens.slice(0, this.#given));
    const text = this.#tokenizer.decode(this.#tokens);
    if (text.endsWith(INCOMPLETE) || text.length <= before.length) return "";
    this.#tokens = this.#tokens.slice(this.#given);
    this.#given = this.#tokens.length;
    return text.slice(before.length);
  }

  /** What is held back at the end of an answer: "" or an incomplete character as U+FFFD. */
  end(): string {
    const before = this.#tokenizer.decode(this.#tokens.slice(0, this.#given));
    const text = this.#tokenizer.decode(this.#tokens);
    this.#tokens = [];
    this.#given = 0;
    return text.slice(before.length);
  }
}
