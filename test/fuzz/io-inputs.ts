// The inputs of the fuzzer: for each format good files, and one damaged file for each seed and number.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makeNpy, makeSafetensors, makeZip, npyHeader } from "../io/make-files.ts";
import { floats, int32s, makeGguf, text, texts, uint32 } from "../io/make-gguf.ts";
import { damaged, misnumbered } from "./mutate.ts";
import { Random } from "./random.ts";

export const formats = ["npy", "npz", "safetensors", "gguf"] as const;
export type Format = (typeof formats)[number];

const fixtures = join(import.meta.dir, "../parity/data/files");

function fromDisk(format: Format): Uint8Array[] {
  const names = readdirSync(fixtures).filter((name) => name.endsWith(`.${format}`));
  return names.sort().map((name) => new Uint8Array(readFileSync(join(fixtures, name))));
}

const npy = makeNpy(npyHeader("<f4", [2, 3]), floats([1, 2, 3, 4, 5, 6]));
const zeros = makeNpy(npyHeader("<i4", [500, 500]), new Uint8Array(1_000_000));

const tensors = {
  __metadata__: { format: "pt", é: "ü" },
  a: { dtype: "F32", shape: [2, 1], data_offsets: [0, 8] },
  b: { dtype: "BF16", shape: [2], data_offsets: [8, 12] },
  none: { dtype: "I64", shape: [0, 3], data_offsets: [12, 12] },
  c: { dtype: "U8", shape: [], data_offsets: [12, 13] },
};

const byHand: Readonly<Record<Format, readonly Uint8Array[]>> = {
  npy: [
    npy,
    makeNpy(npyHeader(">i2", [3, 4], true), new Uint8Array(24), [2, 0]),
    makeNpy("{'shape':(4,),'descr':'<f2','fortran_order':False}", new Uint8Array(8), [3, 0]),
  ],
  npz: [
    makeZip([
      { name: "a.npy", data: npy },
      { name: "b.npy", data: npy, deflate: true },
    ]),
    makeZip([{ name: "a.npy", data: npy, far: true }], { far: true, comment: "end" }),
    makeZip([{ name: "zeros.npy", data: zeros, deflate: true }]),
  ],
  safetensors: [makeSafetensors(tensors, new Uint8Array(13).fill(60))],
  gguf: [
    makeGguf({
      metadata: [
        ["general.architecture", text("llama")],
        ["general.alignment", uint32(32)],
        ["tokens", texts(["a", "bc", "def"])],
        ["kinds", int32s([1, 2, 3])],
      ],
      tensors: [
        { name: "a.weight", dims: [32, 2], type: 3, data: new Uint8Array(40).fill(60) },
        { name: "b.weight", dims: [4, 2], type: 0, data: floats([1, 2, 3, 4, 5, 6, 7, 8]) },
        { name: "c.weight", dims: [32], type: 8, data: new Uint8Array(34).fill(60) },
      ],
    }),
    makeGguf({
      tensors: [
        { name: "q2", dims: [256], type: 10, data: new Uint8Array(84).fill(61) },
        { name: "q4", dims: [256], type: 12, data: new Uint8Array(144).fill(61) },
        { name: "q6", dims: [256], type: 14, data: new Uint8Array(210).fill(61) },
        { name: "bf16", dims: [4], type: 30, data: new Uint8Array(8).fill(61) },
      ],
    }),
  ],
};

const good = new Map<Format, readonly Uint8Array[]>();

function goodFiles(format: Format): readonly Uint8Array[] {
  const known = good.get(format) ?? [...fromDisk(format), ...byHand[format]];
  good.set(format, known);
  return known;
}

/** The damaged file number `i` of a seed. */
export function damagedFile(format: Format, seed: number, i: number): Uint8Array {
  const random = new Random(Math.imul(seed, 1_000_003) + Math.imul(i, 7919));
  const files = goodFiles(format);
  const file = random.pick(files);
  if (format === "npz" && random.chance(2)) return damagedInside(random);
  if (format === "safetensors" && random.chance(2)) return damagedJson(file, random);
  if (random.chance(8)) return misnumbered(file, random);
  return damaged(file, random, random.pick(files));
}

/** A sound zip file around a damaged npy, or a table of contents that tells lies. */
function damagedInside(random: Random): Uint8Array {
  const whole = random.chance(60) ? zeros : random.pick(goodFiles("npy"));
  const data = random.chance(4) ? whole : damaged(whole, random, npy);
  const liar = random.chance(4) ? { size: random.below(5_000_000), packed: random.below(400) } : {};
  const second = random.chance(2) ? [{ name: "b", data: npy }] : [];
  return makeZip([{ name: "a.npy", data, deflate: random.chance(2), says: liar, far: random.chance(4) }, ...second]);
}

/** A damaged header whose length is right, so that it is read to its end. */
function damagedJson(file: Uint8Array, random: Random): Uint8Array {
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const json = file.subarray(8, 8 + length);
  const bad = random.chance(2) ? misnumbered(json, random) : damaged(json, random, json);
  const header = new Uint8Array(8);
  new DataView(header.buffer).setBigUint64(0, BigInt(bad.length), true);
  return new Uint8Array(Buffer.concat([header, bad, file.subarray(8 + length)]));
}
