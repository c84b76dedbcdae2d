// The real model says what Python MLX says, token by token.
import { describe, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { generate, load } from "../../src/llm/index.ts";
import { expected, modelPath, shareTheMachine } from "./model.ts";

const minutes = 60_000;

describe("weights as float32", () => {
  test(
    "64 greedy tokens, or all up to the end, and their text as it streams",
    async () => {
      shareTheMachine();
      using lm = await load(await modelPath());
      for (const { prompt, ids, text } of expected) {
        const reply = lm.chat([{ role: "user", content: prompt }], { maxTokens: 64 });
        let streamed = "";
        for await (const piece of reply) streamed += piece;
        expect(reply.ids).toEqual(ids);
        expect(streamed).toBe(text);
        expect(reply.generation.finishReason).toBe(ids.at(-1) === 2 ? "stop" : "length");
      }
    },
    3 * minutes,
  );

  test(
    "the first scores are those of an independent program",
    async () => {
      using lm = await load(await modelPath());
      for (const { promptIds, firstTokenLogits } of expected) {
        const [first, firstScore, second, secondScore] = firstTokenLogits as [number, number, number, number];
        mx.tidy(() => {
          using cache = lm.model.newCache();
          const scores = lm.model.next(mx.array([promptIds], { dtype: "int32" }), cache).toTypedArray() as Float32Array;
          expect(Math.abs(scores[first]! - firstScore)).toBeLessThan(1e-3);
          expect(Math.abs(scores[second]! - secondScore)).toBeLessThan(1e-3);
          expect(scores.filter((score) => score >= scores[second]!).length).toBe(2);
        });
      }
    },
    2 * minutes,
  );
});

describe("weights as stored, 4 and 8 bits", () => {
  test(
    "the first 8 greedy tokens",
    async () => {
      using lm = await load(await modelPath(), { weights: "quantized" });
      expect(mx.activeMemory()).toBeLessThan(200e6);
      for (const { promptIds, ids } of expected) {
        const out: number[] = [];
        for await (const id of generate(lm.model, promptIds, { maxTokens: 8 })) out.push(id);
        expect(out).toEqual(ids.slice(0, 8));
      }
    },
    3 * minutes,
  );
});
