// Text to ids and back: the real tokenizer against Python's, and streaming.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { ggufTokenizer } from "../../src/llm/gguf-tokenizer.ts";
import { Tokenizer } from "../../src/llm/index.ts";
import { refusal } from "../helpers.ts";
import { bool, scratchFolder } from "../io/make-gguf.ts";
import hard from "./data/hard-strings.json";
import { expected, modelPath } from "./model.ts";
import { tinyGguf, type TinyChanges } from "./tiny.ts";

const folder = scratchFolder();
afterAll(folder.remove);
let real: Tokenizer;
beforeAll(async () => {
  real = await Tokenizer.from(ggufTokenizer(mx.readGgufHeader(await modelPath())));
});

const tiny = (metadata: TinyChanges["metadata"] = {}): Promise<Tokenizer> =>
  Tokenizer.from(ggufTokenizer(mx.readGgufHeader(folder.write("tiny.gguf", tinyGguf({ metadata })))));

test("33 hard strings give Python's ids and texts", () => {
  expect(hard.cases.length).toBe(33);
  for (const { text, ids, decoded } of hard.cases) {
    expect([text, real.encode(text)]).toEqual([text, ids]);
    expect(real.decode(ids)).toBe(decoded);
  }
});

test("the chat template gives the known prompts, and the known answers decode to the known texts", () => {
  for (const { prompt, promptIds, ids, text } of expected) {
    expect(real.encodeChat([{ role: "user", content: prompt }])).toEqual(promptIds);
    expect(real.decode(ids)).toBe(text);
  }
});

describe("streaming", () => {
  const pieces = (tokenizer: Tokenizer, ids: readonly number[]): string[] => {
    const stream = tokenizer.stream();
    return [...ids.map((id) => stream.push(id)), stream.end()];
  };

  test("the pieces join to the whole text", () => {
    for (const { ids, text } of expected) expect(pieces(real, ids).join("")).toBe(text);
    for (const { ids, decoded } of hard.cases) expect(pieces(real, ids).join("")).toBe(decoded);
  });

  test("no piece ends inside a character", () => {
    for (const text of ["🙂👩‍👩‍👧‍👦🏳️‍🌈", "日本語のテキスト", "é½Ⅷ٣𝟙𝟚", "aé"]) {
      const parts = pieces(real, real.encode(text));
      expect(parts.join("")).toBe(text);
      // A character of several tokens leaves its first ones without a piece of their own.
      for (const part of parts) expect(part).toBe(part.toWellFormed().replaceAll("\uFFFD", ""));
    }
  });

  test("byte by byte, the worst case", async () => {
    const tokenizer = await tiny();
    const ids = tokenizer.encode("aé日🙂th");
    expect(ids.length).toBe(1 + 2 + 3 + 4 + 1);
    expect(pieces(tokenizer, ids)).toEqual(["a", "", "é", "", "", "日", "", "", "", "🙂", "th", ""]);
  });

  test("an answer that ends inside a character says so at its end", async () => {
    const tokenizer = await tiny();
    expect(pieces(tokenizer, tokenizer.encode("a🙂").slice(0, 3))).toEqual(["a", "", "", "\uFFFD"]);
    const lone = [...tokenizer.encode("é").slice(0, 1), ...tokenizer.encode("ab")];
    expect(pieces(tokenizer, lone).join("")).toBe("\uFFFDab");
  });

  test("special tokens give nothing", () => {
    const ids = real.encode("<|im_start|>hi<|im_end|>");
    expect([ids[0], ids.at(-1)]).toEqual([1, 2]);
    expect(pieces(real, ids).join("")).toBe("hi");
    expect(real.decode([])).toBe("");
  });
});

describe("from metadata", () => {
  test("bos only where the file asks for it, and never twice in a chat", async () => {
    expect((await tiny()).encode("th")).toEqual([258]);
    const withBos = await tiny({ "tokenizer.ggml.add_bos_token": bool(true) });
    expect(withBos.encode("th")).toEqual([0, 258]);
    expect(withBos.encodeChat([{ role: "user", content: "th" }]).filter((id) => id === 0).length).toBe(2);
  });

  test("chat templates: roles, the open turn, none at all, one that refuses", async () => {
    const tokenizer = await tiny();
    const messages = [
      { role: "system", content: "be brief" },
      { role: "user", content: "hi" },
    ];
    const text = "<|im_start|>system\nbe brief<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n";
    expect(tokenizer.applyChatTemplate(messages)).toBe(`${text}<|im_start|>assistant\n`);
    expect(tokenizer.applyChatTemplate(messages, { addGenerationPrompt: false })).toBe(text);
    const without = await tiny({ "tokenizer.chat_template": undefined });
    expect(refusal(() => without.encodeChat(messages))).toBe(
      "TypeError: applyChatTemplate: this model has no chat template.",
    );
  });
});
