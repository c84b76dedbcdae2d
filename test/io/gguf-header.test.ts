// The reader of GGUF headers, on files made by hand. It needs no native library.
import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { MlxError } from "../../src/core/error.ts";
import { type GgufHeader, readGgufHeader } from "../../src/io/gguf-header.ts";
import { caught } from "../helpers.ts";
import {
  bool,
  Bytes,
  float32,
  floats,
  int32s,
  list,
  makeGguf,
  type Parts,
  scratchFolder,
  text,
  texts,
  uint32,
} from "./make-gguf.ts";

const folder = scratchFolder();
afterAll(folder.remove);

function read(parts: Parts | Uint8Array): GgufHeader {
  return readGgufHeader(folder.write("a.gguf", parts instanceof Uint8Array ? parts : makeGguf(parts)));
}

/** What is said about a wrong file, without its path. */
function complaint(parts: Parts | Uint8Array): string {
  const error = caught(() => read(parts));
  expect(error).toBeInstanceOf(MlxError);
  return error.message.replace(/^load: \S+a\.gguf: /, "");
}

const weight = { name: "w", dims: [4], type: 0, data: floats([1, 2, 3, 4]) };

describe("a right file", () => {
  test("metadata of every kind", () => {
    const { metadata, version } = read({
      metadata: [
        ["u8", [0, (b) => b.u8(200)]],
        ["i8", [1, (b) => b.u8(200)]],
        ["u16", [2, (b) => b.u16(60000)]],
        ["i16", [3, (b) => b.u16(60000)]],
        ["u32", uint32(4e9)],
        ["i32", [5, (b) => b.u32(4e9)]],
        ["f32", float32(0.5)],
        ["yes", bool(true)],
        ["no", bool(false)],
        ["text", text("größer 日本 🙂")],
        ["empty", text("")],
        ["texts", texts(["a", "", "ü"])],
        ["numbers", int32s([1, -2, 3])],
        ["none", texts([])],
        ["u64", [10, (b) => b.u64(2n ** 63n + 1n)]],
        ["i64", [11, (b) => b.i64(-5)]],
        ["f64", [12, (b) => b.f64(1 / 3)]],
        ["flags", list(7, 3, (b) => b.u8(0).u8(1).u8(2))],
      ],
    });
    expect(version).toBe(3);
    expect(Object.fromEntries([...metadata].map(([key, { value }]) => [key, value]))).toEqual({
      u8: 200,
      i8: -56,
      u16: 60000,
      i16: -5536,
      u32: 4e9,
      i32: -294967296,
      f32: 0.5,
      yes: true,
      no: false,
      text: "größer 日本 🙂",
      empty: "",
      texts: ["a", "", "ü"],
      numbers: [1, -2, 3],
      none: [],
      u64: 2n ** 63n + 1n,
      i64: -5n,
      f64: 1 / 3,
      flags: [false, true, true],
    });
    expect(metadata.get("numbers")?.type).toBe("int32");
  });

  test("tensors: shape in MLX's order, place in the file, bytes", () => {
    const bytes = makeGguf({
      tensors: [
        { name: "a", dims: [4], type: 0, data: floats([1, 2, 3, 4]) },
        { name: "b.weight", dims: [32, 3], type: 3, data: new Uint8Array(60).fill(7) },
        { name: "c", dims: [], type: 0, data: floats([9]) },
        { name: "d", dims: [0, 5], type: 0 },
      ],
    });
    const { tensors } = read(bytes);
    const place = ["a", "b.weight", "c", "d"].map((name) => tensors.get(name)!);
    expect(place.map(({ shape }) => shape)).toEqual([[4], [3, 32], [], [5, 0]]);
    expect(place.map(({ type }) => type.name)).toEqual(["F32", "Q4_1", "F32", "F32"]);
    expect(place.map(({ bytes: length }) => length)).toEqual([16, 60, 4, 0]);
    const [a, b, c] = place as [(typeof place)[0], (typeof place)[0], (typeof place)[0]];
    expect(new DataView(bytes.buffer).getFloat32(a.offset + 4, true)).toBe(2);
    expect([...bytes.subarray(b.offset, b.offset + 60)]).toEqual(new Array(60).fill(7));
    expect(new DataView(bytes.buffer).getFloat32(c.offset, true)).toBe(9);
  });

  test("version 2, another alignment, no tensors at all", () => {
    expect(read({ version: 2 }).version).toBe(2);
    const { tensors } = read({ alignment: 256, metadata: [["general.alignment", uint32(256)]], tensors: [weight] });
    expect(tensors.get("w")!.offset % 256).toBe(0);
    expect(read({}).tensors.size).toBe(0);
  });

  test("values longer than the reading window, and across its border", () => {
    const long = "é".repeat(200_000);
    const many = Array.from({ length: 40_000 }, (_, i) => `token ${i}`);
    const { metadata } = read({
      metadata: [
        ["long", text(long)],
        ["many", texts(many)],
        ["after", uint32(7)],
      ],
    });
    expect(metadata.get("long")?.value).toBe(long);
    expect(metadata.get("many")?.value).toEqual(many);
    expect(metadata.get("after")?.value).toBe(7);
  });
});

describe("a wrong file", () => {
  const cut = makeGguf({ metadata: [["key", text("value")]], tensors: [weight] });

  test("every truncation is noticed", () => {
    for (let length = 0; length < cut.length - 16; length++) {
      expect(caught(() => read(cut.slice(0, length)))).toBeInstanceOf(MlxError);
    }
    expect(complaint(new Uint8Array(0))).toBe("not a GGUF file: it does not begin with the letters GGUF.");
    expect(complaint(cut.slice(0, 6))).toContain(
      "the file ends inside the header: 4 bytes are due at byte 4, but it has only 6.",
    );
    expect(complaint(cut.slice(0, cut.length - 17))).toContain(`the tensor "w" ends at byte`);
  });

  test("names what is wrong", () => {
    const entry = (kind: number, write: (bytes: Bytes) => void = () => undefined): Parts => ({
      metadata: [["key", [kind, write]]],
    });
    const tensor = (change: object): Parts => ({ tensors: [{ ...weight, ...change }] });
    const complaints: [Parts, string][] = [
      [{ magic: "GGML" }, "not a GGUF file"],
      [{ version: 1 }, "GGUF version 1; only versions 2 and 3 can be read."],
      [{ version: 4 }, "GGUF version 4; only versions 2 and 3 can be read."],
      [{ version: 0x03000000 }, "a big-endian GGUF file"],
      [{ entryCount: 2n ** 63n }, "the header announces 9223372036854775808 metadata entries"],
      [{ tensorCount: 1000 }, "the header announces 1000 tensors"],
      [entry(13), `the metadata key "key" has a value of the unknown kind 13.`],
      [entry(9, (b) => b.u32(99).u64(0)), `the metadata key "key" has a value of the unknown kind 99.`],
      [entry(9, (b) => b.u32(9).u64(1).u32(4).u64(0)), `the metadata key "key" is a list of lists`],
      [entry(9, (b) => b.u32(4).u64(2n ** 40n)), `the metadata key "key" announces 1099511627776 elements`],
      [entry(8, (b) => b.u64(2n ** 64n - 1n)), `the metadata key "key" announces 18446744073709551615 bytes of text`],
      [{ metadata: [["", uint32(1)]] }, `metadata entry 1 of 1 has the name "".`],
      [{ metadata: [["a\0b", uint32(1)]] }, `metadata entry 1 of 1 has the name "a\\u0000b".`],
      [
        {
          metadata: [
            ["k", uint32(1)],
            ["k", uint32(1)],
          ],
        },
        `the metadata key "k" is there twice.`,
      ],
      [{ metadata: [["general.alignment", uint32(0)]] }, `the metadata key "general.alignment" is 0 (uint32)`],
      [{ metadata: [["general.alignment", text("32")]] }, `the metadata key "general.alignment" is 32 (string)`],
      [{ tensors: [weight, weight] }, `the tensor "w" is there twice.`],
      [tensor({ dims: [1, 1, 1, 1, 1, 1, 1, 1, 4] }), `the tensor "w" has 9 axes, but MLX reads at most 8.`],
      [tensor({ dims: [2n ** 31n] }), `the tensor "w" has an axis of length 2147483648`],
      [tensor({ dims: [2n ** 20n, 2n ** 20n, 2n ** 20n, 2n ** 20n] }), `the tensor "w" ends at byte`],
      [tensor({ type: 4 }), `the tensor "w" is of the unknown type 4.`],
      [tensor({ type: 4_000_000_000 }), `the tensor "w" is of the unknown type 4000000000.`],
      [tensor({ type: 2, dims: [16, 2] }), `the tensor "w" is Q4_0, in blocks of 32, but its last axis has length 16.`],
      [tensor({ offset: 8 }), `the tensor "w" begins at byte 8 of the data, not a multiple of 32.`],
      [tensor({ offset: 2n ** 63n }), `the tensor "w" ends at byte`],
      [tensor({ offset: 32 }), `the tensor "w" ends at byte`],
    ];
    for (const [parts, expected] of complaints) expect(complaint(parts)).toContain(expected);
  });

  test("a missing file, a folder", () => {
    expect(caught(() => readGgufHeader(`${folder.path}/none.gguf`)).message).toMatch(
      /^load: there is no file .*none\.gguf\.$/,
    );
    expect(caught(() => readGgufHeader(folder.path)).message).toMatch(/is not a file but a folder\.$/);
  });

  test("leaves no file open", () => {
    const open = (): number => readdirSync("/dev/fd").length;
    const before = open();
    for (let i = 0; i < 50; i++) {
      read(cut);
      caught(() => read(cut.slice(0, 30)));
    }
    expect(open()).toBe(before);
  });
});
