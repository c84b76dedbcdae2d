// Reports from users of MLX's bindings: GGUF blocks, quantization's shapes and refusals.
import { afterAll, describe, expect } from "bun:test";
import * as mx from "../../src/index.ts";
import { refusal, scoped } from "../helpers.ts";
import { Bytes, makeGguf, scratchFolder } from "../io/make-gguf.ts";

const folder = scratchFolder();
afterAll(folder.remove);

const half = (value: number): number => new Uint16Array(new Float16Array([value]).buffer)[0]!;
const load = (name: string, bytes: Uint8Array): Record<string, mx.Array> =>
  mx.load(folder.write(name, bytes), "gguf") as Record<string, mx.Array>;

// The integers 0 to 15 twice: the low halves of the bytes first, then the high ones.
const nibbles = Uint8Array.from({ length: 16 }, (_, i) => i * 17);
const halves = (...values: number[]): Bytes => values.reduce((bytes, value) => bytes.u16(half(value)), new Bytes());
const twice = (block: Uint8Array): Uint8Array => Uint8Array.from([...block, ...block]);

describe("B35: GGUF", () => {
  const bytes = makeGguf({
    tensors: [
      { name: "q4_0.weight", dims: [32, 2], type: 2, data: twice(halves(0.5).raw(nibbles).take()) },
      { name: "q4_1.weight", dims: [32, 2], type: 3, data: twice(halves(0.5, -1).raw(nibbles).take()) },
      {
        name: "q8_0.weight",
        dims: [32, 2],
        type: 8,
        data: twice(
          halves(0.5)
            .raw(Uint8Array.from({ length: 32 }, (_, i) => i - 16))
            .take(),
        ),
      },
      { name: "half", dims: [2], type: 30, data: new Bytes().u16(0x3fc0).u16(0xc000).take() },
    ],
  });
  const cases: Record<string, [bits: number, packed: number[], first: number[]]> = {
    q4_0: [4, [2, 4], [-4, -3.5, -3, -2.5]],
    q4_1: [4, [2, 4], [-1, -0.5, 0, 0.5]],
    q8_0: [8, [2, 8], [-8, -7.5, -7, -6.5]],
  };
  for (const [name, [bits, packed, first]] of Object.entries(cases)) {
    scoped(`${name} blocks stand for their numbers`, () => {
      const arrays = load("blocks.gguf", bytes);
      const [weight, scales, biases] = ["weight", "scales", "biases"].map((part) => arrays[`${name}.${part}`]!);
      expect([weight!.shape, weight!.dtype]).toEqual([packed, "uint32"]);
      expect([scales!.shape, scales!.dtype]).toEqual([[2, 1], "float16"]);
      const numbers = mx.dequantize(weight!, scales!, biases!, { groupSize: 32, bits });
      expect(numbers.get(":", ":4").tolist()).toEqual([first, first]);
      const all = numbers.get(0).tolist() as number[];
      const step = 0.5;
      const start = first[0]!;
      expect(all).toEqual(Array.from({ length: 32 }, (_, i) => start + step * (bits === 4 ? i % 16 : i)));
    });
  }
  scoped("bfloat16 arrives as the floats that it holds", () => {
    const x = load("blocks.gguf", bytes)["half"]!;
    expect([x.dtype, x.tolist()]).toEqual(["float16", [1.5, -2]]);
  });
  scoped("what cannot be read is refused, by name", () => {
    const iq2 = makeGguf({ tensors: [{ name: "odd", dims: [256], type: 16, data: new Uint8Array(66) }] });
    expect(refusal(() => load("iq2.gguf", iq2))).toMatch(/^MlxError: load: .*"odd"/);
    expect(refusal(() => load("magic.gguf", makeGguf({ magic: "GGUX" })))).toMatch(/^MlxError: load: /);
    for (const length of [0, 3, 20, 60, bytes.length >> 1, bytes.length - 40]) {
      expect(refusal(() => load("cut.gguf", bytes.slice(0, length)))).toMatch(/^MlxError: load: /);
    }
  });
  scoped("a block of Q4_K of zeros is zeros", () => {
    const zeros = makeGguf({ tensors: [{ name: "k", dims: [256], type: 12, data: new Uint8Array(144) }] });
    const arrays = load("q4k.gguf", zeros);
    expect(arrays["k"]!.shape).toEqual([256]);
    expect(mx.all(arrays["k"]!.equal(0)).item()).toBe(true);
  });
});

describe("B36: quantize", () => {
  const w = (): mx.Array => mx.linspace(-1, 1, 128).reshape(2, 64);
  for (const bits of [2, 3, 4, 5, 6, 8]) {
    for (const groupSize of [32, 64]) {
      scoped(`${bits} bits in groups of ${groupSize}: exact packed shapes`, () => {
        const [packed, scales, biases] = mx.quantize(w(), { bits, groupSize }) as [mx.Array, mx.Array, mx.Array];
        expect([packed.shape, packed.dtype]).toEqual([[2, 2 * bits], "uint32"]);
        expect([scales.shape, biases.shape]).toEqual([
          [2, 64 / groupSize],
          [2, 64 / groupSize],
        ]);
      });
    }
  }
  scoped("refuses what it cannot pack", () => {
    const refused: (() => unknown)[] = [
      () => mx.quantize(mx.ones([2, 48]), { groupSize: 64 }),
      () => mx.quantize(w(), { bits: 7 }),
      () => mx.quantize(w(), { bits: 1 }),
      () => mx.quantize(w(), { bits: 0 }),
      () => mx.quantize(w(), { groupSize: 16 }),
      () => mx.quantize(w(), { groupSize: 0 }),
      () => mx.quantize(mx.ones([64]), { groupSize: 64 }),
    ];
    for (const run of refused) expect(refusal(run)).toMatch(/^(MlxError|RangeError): quantize: /);
  });
  scoped("dequantize refuses parts that do not go together", () => {
    const [packed, scales, biases] = mx.quantize(w(), { bits: 4, groupSize: 64 }) as [mx.Array, mx.Array, mx.Array];
    const wrong = mx.ones([2, 3]);
    const back = (s: mx.Array, bits: number): mx.Array => mx.dequantize(packed, s, biases, { groupSize: 64, bits });
    expect(refusal(() => back(scales, 0))).toMatch(/^(MlxError|RangeError): dequantize: /);
    expect(refusal(() => back(scales, -4))).toMatch(/^(MlxError|RangeError): dequantize: /);
    expect(refusal(() => back(wrong, 4))).toMatch(/^(MlxError|RangeError): dequantize: /);
    expect(back(scales, 4).shape).toEqual([2, 64]);
  });
  scoped("the float4 modes have their own scales", () => {
    for (const [mode, groups] of [
      ["mxfp4", 2],
      ["nvfp4", 4],
    ] as const) {
      const [packed, scales] = mx.quantize(w(), { mode }) as [mx.Array, mx.Array];
      expect([packed.shape, packed.dtype]).toEqual([[2, 8], "uint32"]);
      expect([scales.shape, scales.dtype]).toEqual([[2, groups], "uint8"]);
    }
  });
  scoped("the error is what the bits allow", () => {
    for (const [bits, bound] of [
      [8, 0.00194],
      [4, 0.0334],
    ] as const) {
      const [packed, scales, biases] = mx.quantize(w(), { bits, groupSize: 64 }) as [mx.Array, mx.Array, mx.Array];
      const back = mx.dequantize(packed, scales, biases, { bits, groupSize: 64 });
      const error = mx.max(mx.abs(back.subtract(w()))).item() as number;
      expect(error).toBeLessThan(bound);
      expect(error).toBeGreaterThan(0);
    }
  });
});
