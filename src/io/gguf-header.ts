/**
 * The header of a GGUF file: its metadata and where each tensor lies. Read in TypeScript, every length checked
 * against the file, because MLX's own reader trusts the file and ends the process on a damaged one.
 */

import { statSync } from "node:fs";
import { MlxError } from "../core/error.ts";
import { FileReader } from "./file-reader.ts";
import { type GgufTensorType, type GgufValueType, tensorTypes, valueBytes, valueTypes } from "./gguf-types.ts";

export type { GgufTensorType, GgufValueType } from "./gguf-types.ts";

/** 64-bit integers are bigint, the other numbers number. */
export type GgufScalar = number | bigint | boolean | string;

export interface GgufEntry {
  /** The kind of the value; of the elements when the value is a list. */
  readonly type: GgufValueType;
  readonly value: GgufScalar | readonly GgufScalar[];
}

export interface GgufTensor {
  readonly name: string;
  /** The shape as MLX sees it: the last axis is the contiguous one, the reverse of the order in the file. */
  readonly shape: readonly number[];
  readonly type: GgufTensorType;
  /** Where the data begins, in bytes from the start of the file. */
  readonly offset: number;
  readonly bytes: number;
}

export interface GgufHeader {
  readonly path: string;
  readonly version: number;
  readonly metadata: ReadonlyMap<string, GgufEntry>;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
}

/** MLX keeps a shape in 32-bit integers. */
const MAX_DIM = 2 ** 31 - 1;
/** The reader of MLX asserts this. */
const MAX_AXES = 8;

/** What is wrong with a file, with its path in front. */
export function ggufError(path: string, what: string): MlxError {
  return new MlxError("load", `${path}: ${what}`);
}

/**
 * Reads the metadata and the tensor table of a GGUF file, versions 2 and 3. Needs no native library.
 *
 * Throws an MlxError that names the key or tensor when the file is not GGUF, is cut short, or is not well formed.
 * Python MLX has no such function; `mx.load(path, return_metadata=True)` gives the same metadata.
 */
export function readGgufHeader(path: string): GgufHeader {
  const size = statSync(path).size;
  let part = "the header";
  using reader = new FileReader(path, size, (at, wanted) =>
    ggufError(
      path,
      `the file ends inside ${part}: ${wanted} bytes are due at byte ${at}, but it has only ${size}. The download is incomplete, or the file is damaged.`,
    ));
  const fail = (what: string): never => {
    throw ggufError(path, what);
  };

  if (size < 4 || reader.text(4) !== "GGUF") fail("not a GGUF file: it does not begin with the letters GGUF.");
  const version = reader.u32();
  if (version !== 2 && version !== 3) {
    const swapped = (version & 0xffff) === 0 && version !== 0;
    fail(
      swapped
        ? "a big-endian GGUF file, which cannot be read here."
        : `GGUF version ${version}, but this reader knows 2 and 3.`,
    );
  }
  const tensorCount = count(reader.u64(), 24, "tensors");
  const entryCount = count(reader.u64(), 13, "metadata entries");

  /** A count that the rest of the file has room for, at so many bytes each. */
  function count(value: bigint, bytes: number, what: string): number {
    if (value * BigInt(bytes) > BigInt(reader.remaining)) {
      fail(`${part} announces ${value} ${what}, more than the file has room for.`);
    }
    return Number(value);
  }

  function text(what: string): string {
    const bytes = count(reader.u64(), 1, `bytes of ${what}`);
    return bytes === 0 ? "" : reader.text(bytes);
  }

  function name(what: string): string {
    const value = text(`a ${what}'s name`);
    if (value === "" || value.includes("\0")) fail(`${part} has the name ${JSON.stringify(value)}.`);
    return value;
  }

  function entry(): GgufEntry {
    const type = valueType(reader.u32());
    if (type !== "array") return { type, value: scalar(type) };
    const inner = valueType(reader.u32());
    if (inner === "array") return fail(`${part} is a list of lists, which MLX cannot read.`);
    const length = count(reader.u64(), valueBytes[inner], "elements");
    const list = new Array<GgufScalar>(length);
    for (let i = 0; i < length; i++) list[i] = scalar(inner);
    return { type: inner, value: list };
  }

  function valueType(code: number): GgufValueType | "array" {
    return valueTypes[code] ?? fail(`${part} has a value of the unknown kind ${code}.`);
  }

  function scalar(type: GgufValueType): GgufScalar {
    switch (type) {
      case "uint8":
        return reader.u8();
      case "int8":
        return reader.i8();
      case "uint16":
        return reader.u16();
      case "int16":
        return reader.i16();
      case "uint32":
        return reader.u32();
      case "int32":
        return reader.i32();
      case "float32":
        return reader.f32();
      case "bool":
        return reader.u8() !== 0;
      case "string":
        return text("text");
      case "uint64":
        return reader.u64();
      case "int64":
        return reader.i64();
      case "float64":
        return reader.f64();
    }
  }

  const metadata = new Map<string, GgufEntry>();
  for (let i = 0; i < entryCount; i++) {
    part = `metadata entry ${i + 1} of ${entryCount}`;
    const key = name("key");
    part = `the metadata key "${key}"`;
    if (metadata.has(key)) fail(`${part} is there twice.`);
    metadata.set(key, entry());
  }

  const tensors = new Map<string, GgufTensor>();
  for (let i = 0; i < tensorCount; i++) {
    part = `the entry of tensor ${i + 1} of ${tensorCount}`;
    const tensorName = name("tensor");
    part = `the tensor "${tensorName}"`;
    if (tensors.has(tensorName)) fail(`${part} is there twice.`);
    tensors.set(tensorName, tensor(tensorName));
  }

  function tensor(tensorName: string): GgufTensor {
    const axes = reader.u32();
    if (axes > MAX_AXES) fail(`${part} has ${axes} axes, but MLX reads at most ${MAX_AXES}.`);
    const shape: number[] = [];
    for (let i = 0; i < axes; i++) {
      const length = reader.u64();
      if (length > MAX_DIM) fail(`${part} has an axis of length ${length}, more than MLX can index.`);
      shape.unshift(Number(length));
    }
    const code = reader.u32();
    const type =
      tensorTypes.get(code) ?? fail(`${part} is of the unknown type ${code}. The file is damaged, or newer than this reader.`);
    const last = shape.at(-1) ?? 1;
    if (last % type.weights !== 0) {
      fail(`${part} is ${type.name}, which comes in blocks of ${type.weights}, but its last axis has length ${last}.`);
    }
    const weights = shape.reduce((product, length) => product * length, 1);
    return { name: tensorName, shape, type, offset: offsetOf(reader.u64()), bytes: (weights / type.weights) * type.bytes };
  }

  function offsetOf(value: bigint): number {
    if (value > BigInt(size)) fail(`${part} begins at byte ${value} of the data, but the file has only ${size}.`);
    return Number(value);
  }

  part = `the metadata key "general.alignment"`;
  const alignment = alignmentOf(metadata, fail);
  const data = Math.ceil(reader.offset / alignment) * alignment;
  for (const [tensorName, found] of tensors) {
    const offset = data + found.offset;
    if (found.offset % alignment !== 0) {
      fail(`the tensor "${tensorName}" begins at byte ${found.offset} of the data, not a multiple of ${alignment}.`);
    }
    // The product of a damaged shape may be far past what a double counts exactly; the comparison still holds.
    if (!(offset + found.bytes <= size)) {
      fail(
        `the tensor "${tensorName}" ends at byte ${offset + found.bytes}, but the file has only ${size}. The download is incomplete, or the file is damaged.`,
      );
    }
    tensors.set(tensorName, { ...found, offset });
  }
  return { path, version, metadata, tensors };
}

function alignmentOf(metadata: ReadonlyMap<string, GgufEntry>, fail: (what: string) => never): number {
  const entry = metadata.get("general.alignment");
  if (entry === undefined) return 32;
  const { value, type } = entry;
  if (type !== "uint32" || typeof value !== "number" || value === 0 || value > 2 ** 20) {
    return fail(`the metadata key "general.alignment" is ${String(value)} (${type}), where a uint32 above 0 is due.`);
  }
  return value;
}
