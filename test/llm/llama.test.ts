// The model itself, on a tiny one: the cache changes nothing but the time, and every way to compute agrees.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { KVCache, type Llama, loadModel } from "../../src/llm/index.ts";
import { complexRotation, fusedRotation, rotation } from "../../src/llm/rope.ts";
import { refusal, scoped } from "../helpers.ts";
import { scratchFolder } from "../io/make-gguf.ts";
import { noise, tinyGguf, tinyVocabSize } from "./tiny.ts";

const folder = scratchFolder();
let model: Llama;
beforeAll(() => {
  model = loadModel(folder.write("tiny.gguf", tinyGguf()));
});
afterAll(() => {
  model.dispose();
  folder.remove();
});

const next = noise(3);
const ids = Array.from({ length: 300 }, () => Math.floor(((next() + 1) / 2) * tinyVocabSize));
const row = (tokens: readonly number[]): mx.Array => mx.array([tokens], { dtype: "int32" });

/** The scores after each of the tokens, fed in pieces that end at the given places. */
function scores(ends: readonly number[]): mx.Array {
  using cache = model.newCache();
  const starts = [0, ...ends.slice(0, -1)];
  return mx.concatenate(
    ends.map((end, i) => model.forward(row(ids.slice(starts[i], end)), cache)),
    1,
  );
}

const close = (a: mx.Array, b: mx.Array): boolean => mx.allclose(a, b, { rtol: 1e-4, atol: 1e-4 }).item() as boolean;

describe("the cache", () => {
  scoped("token by token equals all at once", () => {
    const whole = scores([20]);
    expect(whole.shape).toEqual([1, 20, tinyVocabSize]);
    expect(close(scores(Array.from({ length: 20 }, (_, i) => i + 1)), whole)).toBe(true);
  });

  scoped("pieces equal all at once, past the border where its room grows", () => {
    const whole = scores([300]);
    expect(close(scores([250, 255, 256, 257, 300]), whole)).toBe(true);
    expect(close(scores([1, 299, 300]), whole)).toBe(true);
  });

  scoped("only the last scores, and filling without any, give the same", () => {
    const last = mx.take(scores([40]), -1, 1);
    using cache = model.newCache();
    model.fill(row(ids.slice(0, 30)), cache);
    expect(cache.length).toBe(30);
    expect(close(model.next(row(ids.slice(30, 40)), cache), last)).toBe(true);
    expect(cache.length).toBe(40);
  });

  scoped("a future token changes nothing before it", () => {
    using cache = model.newCache();
    const changed = model.forward(row([...ids.slice(0, 9), (ids[9]! + 1) % tinyVocabSize]), cache);
    const same = (a: mx.Array, b: mx.Array): boolean => close(mx.split(a, [9], 1)[0]!, mx.split(b, [9], 1)[0]!);
    const original = scores([10]);
    expect(same(changed, original)).toBe(true);
    expect(close(changed, original)).toBe(false);
  });

  scoped("trim forgets: other tokens in their place are as if nothing had been", () => {
    using cache = model.newCache();
    model.fill(row(ids.slice(0, 30)), cache);
    cache.trim(10);
    const again = model.next(row(ids.slice(10, 20)), cache);
    expect(close(again, mx.take(scores([20]), -1, 1))).toBe(true);
    expect(refusal(() => cache.trim(21))).toBe(
      "RangeError: KVCache.trim: the cache holds 20 positions, cannot keep 21.",
    );
    expect(refusal(() => cache.trim(-1))).toContain("RangeError");
    expect(refusal(() => cache.trim(0.5))).toContain("RangeError");
  });

  scoped("a batch of sequences is each for itself", () => {
    using both = model.newCache();
    const other = ids.slice(50, 60);
    const batch = model.next(mx.array([ids.slice(0, 10), other], { dtype: "int32" }), both);
    using one = model.newCache();
    expect(close(mx.take(batch, 1, 0), model.next(row(other), one).squeeze(0))).toBe(true);
  });

  scoped("a step that fails half-way counts for nothing", () => {
    using cache = model.newCache();
    model.fill(row(ids.slice(0, 5)), cache);
    expect(
      refusal(() => model.next(mx.array([ids.slice(5, 8), ids.slice(5, 8)], { dtype: "int32" }), cache)),
    ).toContain("Error");
    expect(cache.length).toBe(5);
    expect(close(model.next(row(ids.slice(5, 8)), cache), mx.take(scores([8]), -1, 1))).toBe(true);
  });

  test("it owns its arrays: mx.eval walks it, dispose frees them, it can be used again", () => {
    const before = mx.memory().liveHandles;
    const cache = new KVCache(2);
    mx.tidy(() => {
      model.next(row([1, 2, 3]), cache);
    });
    expect(mx.memory().liveHandles).toBe(before + 4);
    mx.eval(cache);
    cache.dispose();
    cache.dispose();
    expect([cache.length, mx.memory().liveHandles]).toEqual([0, before]);
    model.fill(row([1]), cache);
    expect(cache.length).toBe(1);
    cache.dispose();
  });
});

describe("rotation", () => {
  scoped("one complex product equals MLX's operation", () => {
    const x = mx.random.normal([2, 4, 7, 8], { key: mx.random.key(0) });
    for (const offset of [0, 1, 100, 600]) {
      const exact = fusedRotation(model.config, offset)(x);
      const quick = complexRotation(model.config, offset, 7)(x);
      expect(quick.dtype).toBe("float32");
      expect(mx.allclose(quick, exact, { atol: 2e-4 }).item()).toBe(true);
    }
  });

  scoped("position 0 turns nothing, and halves are left to MLX", () => {
    const x = mx.random.normal([1, 1, 1, 8], { key: mx.random.key(1) });
    expect(close(rotation(model.config, 0, 1)(x), x)).toBe(true);
    const halves = { ...model.config, ropeTraditional: false };
    expect(rotation(halves, 3, 1)(x).tolist()).toEqual(fusedRotation(halves, 3)(x).tolist());
    expect(close(rotation(halves, 3, 1)(x), rotation(model.config, 3, 1)(x))).toBe(false);
  });
});

test("five hundred steps leave no handle", () => {
  const before = mx.memory().liveHandles;
  using cache = model.newCache();
  for (let i = 0; i < 500; i++) {
    if (cache.length > 600) cache.trim(0);
    using logits = mx.tidy(() => model.next(row([i % tinyVocabSize]), cache));
    mx.eval(logits);
  }
  expect(mx.memory().liveHandles).toBe(before + 4);
});
