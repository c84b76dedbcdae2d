// Generation on a tiny model: what ends it, what it leaves behind, and how tokens are drawn.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import {
  type CausalModel,
  generate,
  type GenerateOptions,
  type Llama,
  loadModel,
  sampler,
} from "../../src/llm/index.ts";
import { refusal, scoped } from "../helpers.ts";
import { scratchFolder } from "../io/make-gguf.ts";
import { tinyGguf, tinyVocabSize } from "./tiny.ts";

const folder = scratchFolder();
let model: Llama;
let handles = 0;
beforeAll(() => {
  model = loadModel(folder.write("tiny.gguf", tinyGguf()));
  // The global random state is made on first use, and stays.
  mx.random.seed(0);
  mx.dispose(mx.random.uniform());
  handles = mx.memory().liveHandles;
});
afterAll(() => {
  model.dispose();
  folder.remove();
});

const prompt = [5, 6, 7];

async function tokens(options: GenerateOptions = {}, from: readonly number[] = prompt): Promise<number[]> {
  const out: number[] = [];
  for await (const token of generate(model, from, { stopTokens: [], ...options })) out.push(token);
  expect(mx.memory().liveHandles).toBe(handles + (options.cache === undefined ? 0 : 4));
  return out;
}

/** The likeliest tokens, each from all before it, without a cache and without pipelining. */
function plainGreedy(length: number): number[] {
  const ids = [...prompt];
  for (let i = 0; i < length; i++) {
    mx.tidy(() => {
      using cache = model.newCache();
      ids.push(Number(mx.argmax(model.next(mx.array([ids], { dtype: "int32" }), cache), -1).item()));
    });
  }
  return ids.slice(prompt.length);
}

describe("the tokens", () => {
  test("are those of a plain greedy loop", async () => {
    expect(await tokens({ maxTokens: 20 })).toEqual(plainGreedy(20));
  });

  test("a prompt of several pieces gives the same as in one step", async () => {
    const long = Array.from({ length: 600 }, (_, i) => (i * 31) % tinyVocabSize);
    const generation = generate(model, long, { maxTokens: 3, stopTokens: [] });
    const out: number[] = [];
    for await (const token of generation) out.push(token);
    const first = mx.tidy(() => {
      using cache = model.newCache();
      return Number(mx.argmax(model.next(mx.array([long], { dtype: "int32" }), cache), -1).item());
    });
    expect(out[0]).toBe(first);
    expect(generation.promptTokens).toBe(600);
  });
});

describe("the end", () => {
  test("at maxTokens", async () => {
    const generation = generate(model, prompt, { maxTokens: 4, stopTokens: [] });
    const out: number[] = [];
    for await (const token of generation) out.push(token);
    expect([out.length, generation.tokens, generation.finishReason]).toEqual([4, 4, "length"]);
    expect(generation.prefillSeconds).toBeGreaterThan(0);
    expect(generation.decodeRate).toBeGreaterThan(0);
    expect((await tokens({ maxTokens: 1 })).length).toBe(1);
  });

  test("at a stop token, which is the last one given out; by default the model's own", async () => {
    const greedy = plainGreedy(12);
    const stop = greedy[5]!;
    const until = greedy.slice(0, greedy.indexOf(stop) + 1);
    expect(await tokens({ stopTokens: [stop] })).toEqual(until);
    const generation = generate(model, prompt, { stopTokens: [stop] });
    for await (const token of generation) expect(until).toContain(token);
    expect(generation.finishReason).toBe("stop");
    const own: CausalModel = {
      config: { ...model.config, stopTokens: [stop] },
      newCache: () => model.newCache(),
      next: (ids, cache) => model.next(ids, cache),
      fill: (ids, cache) => model.fill(ids, cache),
    };
    const out: number[] = [];
    for await (const token of generate(own, prompt)) out.push(token);
    expect(out).toEqual(until);
  });

  test("at the end of the context", async () => {
    const long = Array.from({ length: 638 }, (_, i) => i % tinyVocabSize);
    expect((await tokens({ maxTokens: 100 }, long)).length).toBe(3);
    expect(refusal(() => generate(model, [...long, 1, 2, 3]))).toBe(
      "RangeError: generate: a prompt of 641 tokens does not fit into the context of 640.",
    );
  });

  test("when the reader leaves, or throws", async () => {
    const generation = generate(model, prompt, { stopTokens: [] });
    for await (const token of generation) if (token >= 0) break;
    expect(generation.finishReason).toBe("left");
    expect(mx.memory().liveHandles).toBe(handles);
    const failing = async (): Promise<void> => {
      for await (const token of generate(model, prompt, { stopTokens: [], temperature: 1, seed: 1 }))
        throw new Error(`at ${token}`);
    };
    expect(
      await failing().then(
        () => "",
        (error: Error) => error.message,
      ),
    ).toStartWith("at ");
    expect(mx.memory().liveHandles).toBe(handles);
  });

  test("when a signal says so: its reason is thrown, between two tokens, and timers run meanwhile", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    setTimeout(() => controller.abort(reason), 5);
    let count = 0;
    const reading = async (): Promise<void> => {
      for await (const token of generate(model, prompt, { stopTokens: [], maxTokens: 600, signal: controller.signal }))
        count += token >= 0 ? 1 : 0;
    };
    expect(
      await reading().then(
        () => null,
        (error: unknown) => error,
      ),
    ).toBe(reason);
    expect(count).toBeLessThan(600);
    expect(mx.memory().liveHandles).toBe(handles);
    const before = AbortSignal.abort(reason);
    expect(
      await tokens({ signal: before }).then(
        () => null,
        (error: unknown) => error,
      ),
    ).toBe(reason);
  });
});

describe("a cache of one's own", () => {
  test("holds the prompt and every token but the last, however it ended", async () => {
    const greedy = plainGreedy(8);
    using cache = model.newCache();
    expect(await tokens({ cache, maxTokens: 4 })).toEqual(greedy.slice(0, 4));
    expect(cache.length).toBe(prompt.length + 3);
    // Going on with the last token gives what would have come.
    expect(await tokens({ cache, maxTokens: 4 }, [greedy[3]!])).toEqual(greedy.slice(4, 8));
    expect(cache.length).toBe(prompt.length + 7);
    cache.trim(prompt.length + 3);
    for await (const token of generate(model, [greedy[3]!], { cache, stopTokens: [] })) if (token >= 0) break;
    expect(cache.length).toBe(prompt.length + 4);
  });
});

describe("arguments", () => {
  test("are checked before anything is computed", () => {
    const cases: [readonly number[], GenerateOptions, string][] = [
      [[], {}, "RangeError: generate: the prompt is empty."],
      [[1, 259], {}, "RangeError: generate: token 1 of the prompt is 259; ids go from 0 to 258."],
      [[-1], {}, "token 0 of the prompt is -1"],
      [[0.5], {}, "token 0 of the prompt is 0.5"],
      [[1], { maxTokens: 0 }, "maxTokens must be a whole number from 1 on, got 0."],
      [[1], { maxTokens: Number.NaN }, "maxTokens must be a whole number"],
      [[1], { temperature: -1 }, "temperature must be a number from 0 on, got -1."],
      [[1], { temperature: Number.NaN }, "temperature must be a number"],
      [[1], { topP: 0 }, "topP must be above 0 and at most 1, got 0."],
      [[1], { topP: 1.5 }, "topP must be above 0 and at most 1, got 1.5."],
    ];
    for (const [ids, options, expected] of cases)
      expect(refusal(() => generate(model, ids, options))).toContain(expected);
    expect(mx.memory().liveHandles).toBe(handles);
  });

  test("a generation is read once", async () => {
    const generation = generate(model, prompt, { maxTokens: 1 });
    for await (const token of generation) expect(token).toBeNumber();
    const again = async (): Promise<void> => {
      for await (const token of generation) throw new Error(`${token} came twice`);
    };
    expect(
      await again().then(
        () => "",
        (error: Error) => error.message,
      ),
    ).toContain("were read already");
  });
});

describe("drawing", () => {
  test("a seed makes it repeatable, another one differs", async () => {
    const draw = (seed: number): Promise<number[]> => tokens({ temperature: 1, seed, maxTokens: 30 });
    const [one, again, other] = [await draw(1), await draw(1), await draw(2)];
    expect(again).toEqual(one);
    expect(other).not.toEqual(one);
    expect((await tokens({ temperature: 1, topP: 0.9, maxTokens: 5 })).length).toBe(5);
  });

  scoped("temperature 0 is the likeliest; frequencies follow the probabilities", () => {
    const logits = mx.log(mx.array([[0.1, 0.6, 0.05, 0.25]]));
    expect(sampler()(logits).tolist()).toEqual([1]);
    const many = mx.broadcastTo(logits, [20_000, 4]);
    const share = (options: object): number[] => {
      using sample = sampler({ seed: 5, ...options });
      const counts = [0, 0, 0, 0];
      for (const token of sample(many).toTypedArray() as Uint32Array) counts[token]!++;
      return counts.map((count) => Math.round((count / 20_000) * 20) / 20);
    };
    expect(share({ temperature: 1 })).toEqual([0.1, 0.6, 0.05, 0.25]);
    // 0.6 alone is enough for 0.5; 0.6 and 0.25 for 0.8, in the proportion of 12 to 5.
    expect(share({ temperature: 1, topP: 0.5 })).toEqual([0, 1, 0, 0]);
    expect(share({ temperature: 1, topP: 0.8 })).toEqual([0, 0.7, 0, 0.3]);
    // Half the temperature squares the probabilities.
    expect(share({ temperature: 0.5 })).toEqual([0, 0.85, 0, 0.15]);
  });
});
