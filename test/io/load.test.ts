// mx.load: what arrives from each format, and what is said about files and arguments that are wrong.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import * as mx from "../../src/index.ts";
import { caught, refusal, said, scoped, untyped } from "../helpers.ts";
import {
  bool,
  Bytes,
  float32,
  floats,
  int32s,
  list,
  makeGguf,
  scratchFolder,
  text,
  texts,
  uint32,
} from "./make-gguf.ts";

const folder = scratchFolder();
afterAll(folder.remove);

const gguf = (name: string, bytes: Uint8Array): Record<string, mx.Array> =>
  mx.load(folder.write(name, bytes), "gguf") as Record<string, mx.Array>;

const half = (value: number): number => new Uint16Array(new Float16Array([value]).buffer)[0]!;

describe("gguf", () => {
  scoped("plain tensors, by name, in MLX's axis order", () => {
    const bytes = makeGguf({
      tensors: [
        { name: "m", dims: [3, 2], type: 0, data: floats([1, 2, 3, 4, 5, 6]) },
        { name: "h", dims: [2], type: 1, data: new Bytes().u16(half(0.5)).u16(half(-2)).take() },
        { name: "i8", dims: [2], type: 24, data: new Uint8Array([255, 1]) },
        { name: "i16", dims: [1], type: 25, data: new Bytes().u16(65535).take() },
        { name: "i32", dims: [1], type: 26, data: new Bytes().u32(4294967295).take() },
        { name: "bf16", dims: [2], type: 30, data: new Bytes().u16(0x3fc0).u16(0xc000).take() },
        { name: "point", dims: [], type: 0, data: floats([9]) },
        { name: "none", dims: [0, 2], type: 0 },
      ],
    });
    const arrays = gguf("plain.gguf", bytes);
    expect(Object.keys(arrays)).toEqual(["bf16", "h", "i16", "i32", "i8", "m", "none", "point"]);
    expect(arrays["m"]!.tolist()).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    expect(arrays["h"]!.dtype).toBe("float16");
    expect(arrays["h"]!.tolist()).toEqual([0.5, -2]);
    expect(arrays["bf16"]!.tolist()).toEqual([1.5, -2]);
    expect(["i8", "i16", "i32"].map((name) => arrays[name]!.tolist())).toEqual([[-1, 1], [-1], [-1]]);
    expect(arrays["point"]!.item()).toBe(9);
    expect(arrays["none"]!.shape).toEqual([2, 0]);
  });

  scoped("quantized tensors arrive as triples that stand for the same numbers", () => {
    // One block of 32 in each kind: packed integers 0..15 twice, or bytes.
    const nibbles = Array.from({ length: 16 }, (_, i) => i | ((15 - i) << 4));
    const integers = [...nibbles.map((b) => b & 15), ...nibbles.map((b) => b >> 4)];
    const signed = Array.from({ length: 32 }, (_, i) => i * 4 - 64);
    const block = (...halves: number[]): Bytes => halves.reduce((bytes, value) => bytes.u16(half(value)), new Bytes());
    const bytes = makeGguf({
      tensors: [
        { name: "a.weight", dims: [32], type: 2, data: block(0.5).raw(new Uint8Array(nibbles)).take() },
        { name: "b.weight", dims: [32, 1], type: 3, data: block(0.25, -3).raw(new Uint8Array(nibbles)).take() },
        {
          name: "c.weight",
          dims: [32],
          type: 8,
          data: block(2)
            .raw(new Uint8Array(new Int8Array(signed).buffer))
            .take(),
        },
      ],
    });
    const arrays = gguf("quantized.gguf", bytes);
    expect(Object.keys(arrays)).toEqual(["a", "b", "c"].flatMap((n) => [`${n}.biases`, `${n}.scales`, `${n}.weight`]));
    const numbers = (name: string, bits: number): unknown => {
      const [weight, scales, biases] = ["weight", "scales", "biases"].map((part) =>
        arrays[`${name}.${part}`]!.flatten(),
      );
      return mx
        .dequantize(weight!.reshape(1, -1), scales!.reshape(1, -1), biases!.reshape(1, -1), 32, bits)
        .flatten()
        .tolist();
    };
    expect(numbers("a", 4)).toEqual(integers.map((q) => (q - 8) * 0.5));
    expect(numbers("b", 4)).toEqual(integers.map((q) => q * 0.25 - 3));
    expect(numbers("c", 8)).toEqual(signed.map((q) => q * 2));
  });

  scoped("metadata: numbers are arrays of their dtype, texts are texts", () => {
    const path = folder.write(
      "metadata.gguf",
      makeGguf({
        metadata: [
          ["count", uint32(4e9)],
          ["eps", float32(1e-5)],
          ["flag", bool(true)],
          ["name", text("é")],
          ["names", texts(["a", "b"])],
          ["kinds", int32s([3, -1])],
          ["big", [10, (b) => b.u64(2n ** 63n)]],
          ["empty", list(4, 0, () => undefined)],
        ],
      }),
    );
    const [arrays, metadata] = mx.load(path, { returnMetadata: true });
    expect(arrays).toEqual({});
    const plain = Object.entries(metadata).map(([key, value]) => [
      key,
      value instanceof mx.Array ? [value.dtype, value.tolist()] : value,
    ]);
    expect(Object.fromEntries(plain)).toEqual({
      count: ["uint32", 4e9],
      eps: ["float32", Math.fround(1e-5)],
      flag: ["bool", true],
      name: "é",
      names: ["a", "b"],
      kinds: ["int32", [3, -1]],
      big: ["uint64", 2n ** 63n],
      empty: ["uint32", []],
    });
    expect(mx.load(path, "gguf", true)).toBeArray();
  });

  test("refuses, before MLX sees it, what MLX's reader cannot take", () => {
    const refused = (bytes: Uint8Array): string => refusal(() => gguf("refused.gguf", bytes)).replace(folder.path, "");
    const tensor = (type: number, bytes: number): Uint8Array =>
      makeGguf({ tensors: [{ name: "blk.0.w", dims: [256], type, data: new Uint8Array(bytes) }] });
    expect(refused(makeGguf({ metadata: [["f", [12, (b) => b.f64(1)]]] }))).toBe(
      `MlxError: load: /refused.gguf: the metadata key "f" is a float64, which MLX's reader of GGUF cannot take.`,
    );
    expect(refused(tensor(13, 176))).toBe(
      `MlxError: load: /refused.gguf: the tensor "blk.0.w" is Q5_K, which MLX cannot read. It reads F32, F16, Q4_0, Q4_1, Q8_0, Q2_K, Q4_K, Q6_K, I8, I16, I32, BF16.`,
    );
    expect(refused(tensor(39, 136))).toContain("is MXFP4, which MLX cannot read");
    expect(refused(new Uint8Array(10))).toContain("not a GGUF file");
  });

  test("two tensors that would share a name are MLX's own error", () => {
    const bytes = makeGguf({
      tensors: [
        { name: "x.scales", dims: [1], type: 0, data: floats([1]) },
        { name: "x.weight", dims: [32], type: 3, data: new Uint8Array(20) },
      ],
    });
    expect(caught(() => gguf("shared.gguf", bytes)).message).toContain("Duplicate parameter name");
  });

  test("a file that may not be written to says so where MLX opens it for writing", async () => {
    const tensor = { name: "x", dims: [1], data: new Uint8Array(4) };
    const paths = [30, 0].map((type) =>
      folder.write(`readonly-${type}.gguf`, makeGguf({ tensors: [{ ...tensor, type }] })),
    );
    chmodSync(folder.path, 0o755);
    for (const path of paths) chmodSync(path, 0o444);
    // Root may write everything, so the program becomes somebody else.
    const lines = await said(`if (process.getuid() === 0) process.setuid(65534);
      for (const path of ${JSON.stringify(paths)}) attempt("load", () => mx.load(path).x.tolist());`);
    expect(lines[0]).toContain("no permission to write. MLX only reads GGUF files but opens them for writing too");
    // Plain tensors are read without MLX.
    expect(lines[1]).toBe("load: [0]");
  });

  scoped("plain tensors are what MLX's reader makes of them", () => {
    const tensors = [
      { name: "z", dims: [3, 2], type: 0, data: floats([1, 2, 3, 4, 5, 6]) },
      { name: "h", dims: [2], type: 1, data: new Bytes().u16(half(0.5)).u16(half(-2)).take() },
      { name: "i8", dims: [2], type: 24, data: new Uint8Array([255, 1]) },
      { name: "i16", dims: [1], type: 25, data: new Bytes().u16(65535).take() },
      { name: "i32", dims: [1], type: 26, data: new Bytes().u32(4294967295).take() },
      { name: "point", dims: [], type: 0, data: floats([9]) },
      { name: "none", dims: [0, 2], type: 0 },
      { name: "long", dims: [40_000], type: 0, data: floats(Array.from({ length: 40_000 }, (_, i) => i)) },
    ];
    // One tensor that MLX converts makes it read the whole file.
    const other = { name: "~", dims: [1], type: 30, data: new Uint8Array(2) };
    const plain = gguf("plain.gguf", makeGguf({ tensors }));
    const { "~": _, ...converted } = gguf("converted.gguf", makeGguf({ tensors: [...tensors, other] }));
    expect(Object.keys(plain)).toEqual(Object.keys(converted));
    for (const [name, array] of Object.entries(plain)) {
      expect(array.dtype).toBe(converted[name]!.dtype);
      expect(array.shape).toEqual(converted[name]!.shape);
      expect(array.tolist()).toEqual(converted[name]!.tolist());
    }
    const bytes = makeGguf({ tensors });
    expect(Object.keys(mx.loadFromBytes(bytes, { format: "gguf" }))).toEqual(Object.keys(plain));
  });
});

describe("safetensors and npy", () => {
  const header = (text: string): Uint8Array => new Bytes().text(text).take();
  const safetensors = (data: Uint8Array, end: number): Uint8Array =>
    new Bytes()
      .raw(header(`{"__metadata__":{"who":"me","é":"ü"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,${end}]}}`))
      .raw(data)
      .take();

  scoped("safetensors, with its metadata", () => {
    const path = folder.write("a.safetensors", safetensors(floats([1, 2]), 8));
    const [arrays, metadata] = mx.load(path, { returnMetadata: true });
    expect(arrays["a"]!.tolist()).toEqual([[1], [2]]);
    expect(metadata).toEqual({ who: "me", é: "ü" });
    expect(mx.load(path, "safetensors")).not.toBeArray();
  });

  scoped("npy", () => {
    const words = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }".padEnd(117) + "\n";
    const bytes = new Bytes().u8(0x93).letters("NUMPY").u8(1).u8(0).u16(words.length).letters(words);
    const path = folder.write("a.npy", bytes.raw(floats([1, 2, 3])).take());
    expect((mx.load(path) as mx.Array).tolist()).toEqual([1, 2, 3]);
    expect(refusal(() => mx.load(path, { returnMetadata: true }))).toBe(
      "TypeError: load: an npy file has no metadata to return.",
    );
  });

  scoped("a wrong file is MLX's error", () => {
    expect(caught(() => mx.load(folder.write("b.safetensors", new Uint8Array(4))))).toBeInstanceOf(mx.MlxError);
    expect(caught(() => mx.load(folder.write("b.npy", new Uint8Array(40))))).toBeInstanceOf(mx.MlxError);
  });
});

describe("arguments", () => {
  let path = "";
  beforeAll(() => {
    path = folder.write("right.gguf", makeGguf({}));
  });

  test("missing, a folder, a pipe", () => {
    expect(refusal(() => mx.load(join(folder.path, "no.gguf")))).toContain("MlxError: load: there is no file");
    expect(refusal(() => mx.load(folder.path, "gguf"))).toContain("is not a file but a folder.");
    const pipe = join(folder.path, "pipe.gguf");
    expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
    expect(refusal(() => mx.load(pipe))).toMatch(/is not a file\.$/);
  });

  test("wrong kinds", () => {
    const odd = untyped<(...args: unknown[]) => unknown>(mx.load);
    expect(refusal(() => odd())).toContain("TypeError: load: path must be a string");
    expect(refusal(() => odd("a\0.gguf"))).toContain("NUL");
    expect(refusal(() => odd("model.bin"))).toBe(
      `TypeError: load: the extension of "model.bin" must be one of npy, npz, safetensors, gguf, got "bin".`,
    );
    expect(refusal(() => odd(path, "zip"))).toContain(
      `TypeError: load: format must be one of npy, npz, safetensors, gguf, got "zip"`,
    );
    expect(refusal(() => odd(path, { returnMetaData: true }))).toContain(`Did you mean "returnMetadata"?`);
    expect(refusal(() => odd(path, { returnMetadata: 1 }))).toContain("returnMetadata must be true or false");
    expect(refusal(() => odd(path, { stream: "tpu" }))).toContain(`stream must be`);
    expect(refusal(() => odd(path, { stream: "gpu" }))).toContain("MLX loads on the CPU only");
    expect(refusal(() => odd(path, "gguf", false, {}, 1))).toContain("TypeError: load: takes a path");
  });

  test("a hundred loads and a hundred failures leave nothing", () => {
    const before = mx.memory().liveHandles;
    const bad = folder.write("bad.gguf", makeGguf({ tensors: [{ name: "w", dims: [8], type: 0 }] }));
    for (let i = 0; i < 100; i++) {
      mx.dispose(mx.load(path, { returnMetadata: true }));
      caught(() => mx.load(bad));
    }
    expect(mx.memory().liveHandles).toBe(before);
  });
});
