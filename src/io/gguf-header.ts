/**
 * The header of a GGUF file: its metadata and where each tensor lies. Read in TypeScript, every length checked
 * against the file, because MLX's own reader trusts the file and ends the process on a damaged one.
 */

import { MlxError } from "../core/error.ts";
import { FileReader, requireFile } from "./file-reader.ts";
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
  using parser = new Parser(path);
  return parser.header();
}

/** MLX counts axes, lists and texts in 32-bit integers. */
const MAX_COUNT = 2 ** 31 - 1;
/** MLX's reader ends the process above this. */
const MAX_AXES = 8;
const DAMAGED = "The download is incomplete, or the file is damaged.";

class Parser implements Disposable {
  readonly #path: string;
  readonly #size: number;
  readonly #reader: FileReader;
  /** What is being read, for messages. */
  #part = "the header";

  constructor(path: string) {
    this.#path = path;
    this.#size = requireFile(path, "load");
    this.#reader = new FileReader(path, this.#size, (at, wanted) =>
      ggufError(
        path,
        `the file ends inside ${this.#part}: ${wanted} bytes are due at byte ${at}, but it has only ${this.#size}. ${DAMAGED}`,
      ),
    );
  }

  [Symbol.dispose](): void {
    this.#reader[Symbol.dispose]();
  }

  #fail(what: string): never {
    throw ggufError(this.#path, what);
  }

  header(): GgufHeader {
    const version = this.#version();
    // The smallest tensor entry has 25 bytes (a name of one letter and no axes), the smallest metadata entry 14.
    const tensorCount = this.#count(25, "tensors");
    const entryCount = this.#count(14, "metadata entries");
    const metadata = this.#entries(entryCount);
    const tensors = this.#tensors(tensorCount);
    return { path: this.#path, version, metadata, tensors: this.#placed(tensors, this.#alignment(metadata)) };
  }

  #version(): number {
    if (this.#size < 4 || this.#reader.text(4) !== "GGUF") {
      this.#fail("not a GGUF file: it does not begin with the letters GGUF.");
    }
    const version = this.#reader.u32();
    if (version === 2 || version === 3) return version;
    if (version !== 0 && (version & 0xffff) === 0) this.#fail("a big-endian GGUF file, which MLX cannot read.");
    return this.#fail(`GGUF version ${version}; only versions 2 and 3 can be read.`);
  }

  /** A count that the rest of the file has room for, at no less than so many bytes each. */
  #count(bytes: number, what: string): number {
    const value = this.#reader.u64();
    if (value > MAX_COUNT || Number(value) * bytes > this.#reader.remaining) {
      this.#fail(`${this.#part} announces ${value} ${what}, more than the file has room for. ${DAMAGED}`);
    }
    return Number(value);
  }

  #text(what: string): string {
    const bytes = this.#count(1, `bytes of ${what}`);
    return bytes === 0 ? "" : this.#reader.text(bytes);
  }

  #name(): string {
    const name = this.#text("a name");
    if (name === "" || name.includes("\0")) this.#fail(`${this.#part} has the name ${JSON.stringify(name)}.`);
    return name;
  }

  #entries(count: number): Map<string, GgufEntry> {
    const metadata = new Map<string, GgufEntry>();
    for (let i = 1; i <= count; i++) {
      this.#part = `metadata entry ${i} of ${count}`;
      const key = this.#name();
      this.#part = `the metadata key "${key}"`;
      if (metadata.has(key)) this.#fail(`${this.#part} is there twice.`);
      metadata.set(key, this.#entry());
    }
    return metadata;
  }

  #entry(): GgufEntry {
    const type = this.#valueType();
    if (type !== "array") return { type, value: this.#scalar(type) };
    const inner = this.#valueType();
    if (inner === "array") return this.#fail(`${this.#part} is a list of lists, which MLX cannot read.`);
    const value = new Array<GgufScalar>(this.#count(valueBytes[inner], "elements"));
    for (let i = 0; i < value.length; i++) value[i] = this.#scalar(inner);
    return { type: inner, value };
  }

  #valueType(): GgufValueType | "array" {
    const code = this.#reader.u32();
    return valueTypes[code] ?? this.#fail(`${this.#part} has a value of the unknown kind ${code}.`);
  }

  #scalar(type: GgufValueType): GgufScalar {
    const reader = this.#reader;
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
      case "float64":
        return reader.f64();
      case "uint64":
        return reader.u64();
      case "int64":
        return reader.i64();
      case "bool":
        return reader.u8() !== 0;
      case "string":
        return this.#text("text");
    }
  }

  #tensors(count: number): GgufTensor[] {
    const tensors: GgufTensor[] = [];
    const names = new Set<string>();
    for (let i = 1; i <= count; i++) {
      this.#part = `the entry of tensor ${i} of ${count}`;
      const name = this.#name();
      this.#part = `the tensor "${name}"`;
      if (names.has(name)) this.#fail(`${this.#part} is there twice.`);
      names.add(name);
      tensors.push(this.#tensor(name));
    }
    return tensors;
  }

  #tensor(name: string): GgufTensor {
    const axes = this.#reader.u32();
    if (axes > MAX_AXES) this.#fail(`${this.#part} has ${axes} axes, but MLX reads at most ${MAX_AXES}.`);
    const shape: number[] = [];
    for (let i = 0; i < axes; i++) {
      const length = this.#reader.u64();
      if (length > MAX_COUNT) this.#fail(`${this.#part} has an axis of length ${length}, more than MLX can index.`);
      shape.unshift(Number(length));
    }
    const code = this.#reader.u32();
    const type = tensorTypes.get(code);
    if (type === undefined) return this.#fail(`${this.#part} is of the unknown type ${code}.`);
    const last = shape.at(-1) ?? 1;
    if (last % type.weights !== 0) {
      this.#fail(`${this.#part} is ${type.name}, in blocks of ${type.weights}, but its last axis has length ${last}.`);
    }
    const bytes = (shape.reduce((product, length) => product * length, 1) / type.weights) * type.bytes;
    return { name, shape, type, offset: Number(this.#reader.u64()), bytes };
  }

  #alignment(metadata: ReadonlyMap<string, GgufEntry>): number {
    const entry = metadata.get("general.alignment");
    if (entry === undefined) return 32;
    const { type, value } = entry;
    if (type === "uint32" && typeof value === "number" && value > 0) return value;
    return this.#fail(`the metadata key "general.alignment" is ${String(value)} (${type}), not a uint32 above 0.`);
  }

  /** The tensors with their place in the file instead of in the data section, which begins here, aligned. */
  #placed(tensors: readonly GgufTensor[], alignment: number): Map<string, GgufTensor> {
    const data = Math.ceil(this.#reader.offset / alignment) * alignment;
    const placed = new Map<string, GgufTensor>();
    for (const tensor of tensors) {
      const offset = data + tensor.offset;
      if (tensor.offset % alignment !== 0) {
        this.#fail(
          `the tensor "${tensor.name}" begins at byte ${tensor.offset} of the data, not a multiple of ${alignment}.`,
        );
      }
      // A damaged shape or offset may be past what a double counts exactly; the comparison holds all the same.
      if (offset + tensor.bytes > this.#size) {
        this.#fail(
          `the tensor "${tensor.name}" ends at byte ${offset + tensor.bytes}, but the file has only ${this.#size}. ${DAMAGED}`,
        );
      }
      placed.set(tensor.name, { ...tensor, offset });
    }
    return placed;
  }
}
