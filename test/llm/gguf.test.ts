// Which GGUF files the loader takes, and what it says about the others: always which key or tensor.
import { afterAll, describe, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { load, loadModel } from "../../src/llm/index.ts";
import { refusal } from "../helpers.ts";
import { float32, scratchFolder, type Tensor, text, texts, uint32 } from "../io/make-gguf.ts";
import { tinyGguf, type TinyChanges, tinyTensors } from "./tiny.ts";

const folder = scratchFolder();
afterAll(folder.remove);
const write = (changes: TinyChanges): string => folder.write("tiny.gguf", tinyGguf(changes));

/** The same tensors with one changed; null takes it out. */
const change =
  (name: string, by: Partial<Tensor> | null) =>
  (tensors: Tensor[]): Tensor[] =>
    tensors.flatMap((tensor) => (tensor.name !== name ? [tensor] : by === null ? [] : [{ ...tensor, ...by }]));

describe("what is taken", () => {
  test("the configuration, with the defaults of the format", () => {
    using model = loadModel(
      write({ metadata: { "llama.rope.freq_base": undefined, "tokenizer.ggml.eos_token_id": undefined } }),
    );
    expect(model.config).toEqual({
      layers: 2,
      width: 32,
      innerWidth: 64,
      heads: 4,
      kvHeads: 2,
      headDim: 8,
      vocabSize: 259,
      contextLength: 640,
      normEps: Math.fround(1e-5),
      ropeBase: 10000,
      ropeTraditional: true,
      stopTokens: [],
    });
  });

  test("an output matrix of its own", () => {
    const embedding = tinyTensors()[0]!;
    const scores = (tensors: (all: Tensor[]) => Tensor[]): number[] =>
      mx.tidy(() => {
        using model = loadModel(write({ tensors }));
        using cache = model.newCache();
        return [...(model.next(mx.array([[5]], { dtype: "int32" }), cache).toTypedArray() as Float32Array)];
      });
    const tied = scores((all) => all);
    expect(scores((all) => [...all, { ...embedding, name: "output.weight" }])).toEqual(tied);
    const zero = new Uint8Array(embedding.data!.length);
    expect(scores((all) => [...all, { ...embedding, name: "output.weight", data: zero }])).toEqual(tied.map(() => 0));
  });

  test("float16 weights, and both ways to hold quantized ones", () => {
    const f16 = (tensor: Tensor): Tensor => {
      const numbers = new Float32Array(tensor.data!.slice().buffer);
      return { ...tensor, type: 1, data: new Uint8Array(new Float16Array(numbers).buffer) };
    };
    // Blocks of 32 bytes of weights with a float16 scale in front.
    const q8 = (tensor: Tensor): Tensor => {
      const numbers = new Float32Array(tensor.data!.slice().buffer);
      const blocks = Array.from({ length: numbers.length / 32 }, (_, i) => {
        const scale = new Uint8Array(new Float16Array([1 / 250]).buffer);
        const weights = new Int8Array([...numbers.subarray(i * 32, i * 32 + 32)].map((x) => Math.round(x * 250)));
        return [...scale, ...new Uint8Array(weights.buffer)];
      });
      return { ...tensor, type: 8, data: new Uint8Array(blocks.flat()) };
    };
    const matrix =
      (convert: (tensor: Tensor) => Tensor) =>
      (all: Tensor[]): Tensor[] =>
        all.map((tensor) => (tensor.dims.length === 2 ? convert(tensor) : tensor));
    const scores = (path: string, weights: "float32" | "quantized"): mx.Array => {
      using model = loadModel(path, { weights });
      using cache = model.newCache();
      const logits = model.next(mx.array([[5, 6, 7]], { dtype: "int32" }), cache);
      mx.eval(logits);
      return logits;
    };
    mx.tidy(() => {
      const exact = scores(write({}), "float32");
      expect(mx.allclose(exact, scores(write({ tensors: matrix(f16) }), "float32"), { atol: 0.02 }).item()).toBe(true);
      const quantized = write({ tensors: matrix(q8) });
      const held = scores(quantized, "quantized");
      expect(mx.allclose(scores(quantized, "float32"), held, { atol: 1e-4 }).item()).toBe(true);
      expect(mx.allclose(exact, held, { atol: 0.2 }).item()).toBe(true);
    });
  });

  test("nothing is left behind by loading, nor by a refusal", async () => {
    const before = mx.memory().liveHandles;
    (await load(write({}))).dispose();
    loadModel(write({}), { weights: "quantized" }).dispose();
    expect(refusal(() => loadModel(write({ metadata: { "llama.block_count": uint32(3) } })))).toContain("is missing");
    expect(mx.memory().liveHandles).toBe(before);
  });
});

describe("what is refused", () => {
  const complaint = (changes: TinyChanges): string =>
    refusal(() => loadModel(write(changes))).replace(/^MlxError: llm\.load: \S+tiny\.gguf: /, "");

  test("another architecture, missing and wrong keys, keys that are not understood", () => {
    const cases: [TinyChanges["metadata"] & object, string][] = [
      [
        { "general.architecture": text("mamba") },
        `the metadata key "general.architecture" is "mamba"; only "llama" can be loaded.`,
      ],
      [{ "general.architecture": undefined }, `the metadata key "general.architecture" is missing.`],
      [{ "general.architecture": uint32(1) }, `the metadata key "general.architecture" should be a text, but is 1.`],
      [{ "llama.block_count": undefined }, `the metadata key "llama.block_count" is missing.`],
      [
        { "llama.block_count": float32(1.5) },
        `the metadata key "llama.block_count" should be a whole number above 0, but is 1.5.`,
      ],
      [
        { "llama.block_count": uint32(1e9) },
        `the metadata key "llama.block_count" is 1000000000, but there are only 20 tensors.`,
      ],
      [
        { "llama.embedding_length": uint32(0) },
        `the metadata key "llama.embedding_length" should be a whole number above 0`,
      ],
      [
        { "llama.attention.head_count": uint32(3) },
        `the metadata key "llama.attention.key_length" should be a whole number`,
      ],
      [
        { "llama.attention.head_count_kv": uint32(3) },
        `the metadata key "llama.attention.head_count_kv" is 3, which does not divide 4 heads.`,
      ],
      [
        { "llama.attention.layer_norm_rms_epsilon": undefined },
        `the metadata key "llama.attention.layer_norm_rms_epsilon" is missing.`,
      ],
      [{ "llama.rope.dimension_count": uint32(4) }, `the metadata key "llama.rope.dimension_count" is 4; only 8`],
      [{ "llama.attention.value_length": uint32(16) }, `the metadata key "llama.attention.value_length" is 16; only 8`],
      [{ "llama.rope.scaling.type": text("yarn") }, `the metadata key "llama.rope.scaling.type" is not understood`],
      [{ "llama.expert_count": uint32(8) }, `the metadata key "llama.expert_count" is not understood`],
      [
        { "tokenizer.ggml.eos_token_id": text("x") },
        `the metadata key "tokenizer.ggml.eos_token_id" should be the number of a token`,
      ],
    ];
    for (const [metadata, expected] of cases) expect(complaint({ metadata })).toContain(expected);
  });

  test("missing, misshapen, integer and unknown tensors", () => {
    const cases: [(all: Tensor[]) => Tensor[], string][] = [
      [change("blk.1.ffn_up.weight", null), `the tensor "blk.1.ffn_up.weight" is missing.`],
      [change("output_norm.weight", null), `the tensor "output_norm.weight" is missing.`],
      [
        change("blk.0.attn_k.weight", { dims: [16, 32] }),
        `the tensor "blk.0.attn_k.weight" has shape [32,16], but the metadata ask for [16,32].`,
      ],
      [change("output_norm.weight", { type: 26 }), `the tensor "output_norm.weight" is of type I32, not a weight.`],
      [
        (all) => [...all, { ...all[1]!, name: "blk.0.attn_q.bias" }],
        `the tensor "blk.0.attn_q.bias" is not one that a llama model has.`,
      ],
      [
        (all) => [...all, { ...all[1]!, name: "rope_freqs.weight" }],
        `the tensor "rope_freqs.weight" is not one that a llama model has.`,
      ],
    ];
    for (const [tensors, expected] of cases) expect(complaint({ tensors })).toContain(expected);
    const q5 = change("blk.0.attn_q.weight", { type: 6, data: new Uint8Array(32 * 22) });
    expect(complaint({ tensors: q5 })).toContain(`the tensor "blk.0.attn_q.weight" is Q5_0, which MLX cannot read.`);
  });

  test("a file that is cut short, no GGUF file, no file", () => {
    const whole = tinyGguf();
    const path = folder.write("cut.gguf", whole.slice(0, whole.length - 40));
    expect(refusal(() => loadModel(path))).toMatch(/^MlxError: load: .*the tensor "output_norm.weight" ends at byte/);
    expect(refusal(() => loadModel(folder.write("no.gguf", new Uint8Array(99))))).toContain("not a GGUF file");
    expect(refusal(() => loadModel(`${folder.path}/absent.gguf`))).toContain("there is no file");
  });

  test("a tokenizer that is not known", async () => {
    const before = mx.memory().liveHandles;
    const cases: [TinyChanges["metadata"] & object, string][] = [
      [{ "tokenizer.ggml.model": text("llama") }, `the metadata key "tokenizer.ggml.model" is "llama"; only "gpt2"`],
      [
        { "tokenizer.ggml.pre": text("toString") },
        `the metadata key "tokenizer.ggml.pre" is "toString"; the known ones are gpt-2, smollm.`,
      ],
      [{ "tokenizer.ggml.tokens": undefined }, `the metadata key "tokenizer.ggml.tokens" is missing.`],
      [{ "tokenizer.ggml.merges": text("a b") }, `the metadata key "tokenizer.ggml.merges" should be a list of texts`],
      [
        { "tokenizer.ggml.tokens": texts(["a"]) },
        `the metadata key "tokenizer.ggml.token_type" has 259 entries for 1 tokens.`,
      ],
      [
        { "tokenizer.ggml.bos_token_id": uint32(9999) },
        `the metadata key "tokenizer.ggml.bos_token_id" is 9999, but there are 259 tokens.`,
      ],
    ];
    for (const [metadata, expected] of cases) {
      const error = await load(write({ metadata })).then(
        () => null,
        (reason: Error) => reason,
      );
      expect(error).toBeInstanceOf(mx.MlxError);
      expect(error!.message).toContain(expected);
    }
    expect(mx.memory().liveHandles).toBe(before);
  });

  test("weights in a way that does not exist", () => {
    expect(refusal(() => loadModel(write({}), { weights: "8bit" as "float32" }))).toBe(
      `TypeError: llm.load: weights must be "float32" or "quantized", got "8bit".`,
    );
  });
});
