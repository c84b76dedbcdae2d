/**
 * The header of an npy file: dtype, shape and order, written as a Python dictionary. Read in TypeScript because MLX's
 * own reader looks at fixed places of it, and takes whatever stands there.
 */

import type { Dtype } from "../core/dtype.ts";
import { LONGEST_AXIS, tensorBytes } from "./sizes.ts";
import { type ByteSource, DAMAGED } from "./source.ts";

export interface NpyHeader {
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  /** The first axis is the contiguous one. */
  readonly fortranOrder: boolean;
  readonly bigEndian: boolean;
  /** Where the data begins and how long it is, in bytes. */
  readonly offset: number;
  readonly bytes: number;
  /** Laid out as MLX's reader expects it, character by character. */
  readonly usual: boolean;
}

/** Kinds of elements by their name in the header; V2 is how MLX writes bfloat16, which numpy lacks. */
const kinds: Readonly<Record<string, Dtype>> = {
  b1: "bool",
  u1: "uint8",
  u2: "uint16",
  u4: "uint32",
  u8: "uint64",
  i1: "int8",
  i2: "int16",
  i4: "int32",
  i8: "int64",
  f2: "float16",
  f4: "float32",
  f8: "float64",
  c8: "complex64",
  V2: "bfloat16",
};

/** Far more than any array needs. */
const LONGEST_HEADER = 65536;
const usualLayout =
  /^\{'descr': '[<>|=]\w\d', 'fortran_order': (?:True|False), 'shape': \((?:\d+, ?)*(?:\d+,?)?\),? ?\} *\n$/;

/** Throws an MlxError that says what is wrong unless the whole array is there. */
export function readNpyHeader(source: ByteSource): NpyHeader {
  const start = source.read(0, Math.min(source.size, 12), "the header");
  const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
  if (start.length < 10 || magic.some((byte, i) => start[i] !== byte)) {
    throw source.error("not an npy file: it does not begin with the letters NUMPY.");
  }
  const version = start[6]!;
  if (version < 1 || version > 3 || start[7] !== 0) {
    throw source.error(`npy version ${version}.${start[7]}; versions 1.0, 2.0 and 3.0 can be read.`);
  }
  const textAt = version === 1 ? 10 : 12;
  source.require(0, textAt, "the header");
  const view = new DataView(start.buffer);
  const length = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (length > LONGEST_HEADER) {
    throw source.error(`the header announces ${length} bytes, more than the ${LONGEST_HEADER} that one may have.`);
  }
  const text = new TextDecoder("latin1").decode(source.read(textAt, length, "the header"));
  const { dtype, bigEndian, shape, fortranOrder } = new Literal(text, source).header();
  const offset = textAt + length;
  const bytes = tensorBytes(shape, dtype);
  if (offset + bytes > source.size) {
    throw source.error(
      `${dtype}[${shape.join(", ")}] needs ${bytes} bytes, but only ${source.size - offset} follow the header. ${DAMAGED}`,
    );
  }
  return { dtype, shape, fortranOrder, bigEndian, offset, bytes, usual: version < 3 && usualLayout.test(text) };
}

type Value = string | boolean | number[];

/** The dictionary: three names in any order, a text, a truth value and a tuple of integers. */
class Literal {
  readonly #text: string;
  readonly #source: ByteSource;
  #at = 0;

  constructor(text: string, source: ByteSource) {
    this.#text = text;
    this.#source = source;
  }

  #fail(what: string): never {
    throw this.#source.error(`the npy header ${what}. It is ${JSON.stringify(this.#text.trimEnd().slice(0, 200))}.`);
  }

  /** The next token when it matches, without the space before it. */
  #take(pattern: RegExp): string | null {
    const sticky = new RegExp(`\\s*(${pattern.source})`, "y");
    sticky.lastIndex = this.#at;
    const match = sticky.exec(this.#text);
    if (match === null) return null;
    this.#at = sticky.lastIndex;
    return match[1]!;
  }

  #expect(pattern: RegExp, what: string): string {
    return this.#take(pattern) ?? this.#fail(`has no ${what} at character ${this.#at}`);
  }

  #dictionary(): Map<string, Value> {
    const found = new Map<string, Value>();
    this.#expect(/\{/, "dictionary");
    while (this.#take(/\}/) === null) {
      if (found.size > 0) this.#expect(/,/, "comma");
      if (found.size > 0 && this.#take(/\}/) !== null) break;
      const name = this.#expect(/'\w+'|"\w+"/, "name").slice(1, -1);
      if (found.has(name)) this.#fail(`has ${name} twice`);
      this.#expect(/:/, "colon");
      found.set(name, this.#value());
    }
    if (this.#text.slice(this.#at).trim() !== "") this.#fail("goes on after its end");
    return found;
  }

  #value(): Value {
    const word = this.#take(/True|False|'[^'\\]*'|"[^"\\]*"/);
    if (word === "True" || word === "False") return word === "True";
    if (word !== null) return word.slice(1, -1);
    if (this.#take(/\[/) !== null) this.#fail("describes records of several fields, which MLX has no dtype for");
    this.#expect(/\(/, "value");
    const lengths: number[] = [];
    while (this.#take(/\)/) === null) {
      if (lengths.length > 0) this.#expect(/,/, "comma");
      if (lengths.length > 0 && this.#take(/\)/) !== null) break;
      const length = Number(this.#expect(/\d+L?/, "integer").replace("L", ""));
      if (length > LONGEST_AXIS) this.#fail(`has an axis of length ${length}, more than MLX can index`);
      lengths.push(length);
    }
    return lengths;
  }

  header(): Pick<NpyHeader, "dtype" | "bigEndian" | "shape" | "fortranOrder"> {
    const found = this.#dictionary();
    const kind = found.get("descr");
    const fortranOrder = found.get("fortran_order");
    const shape = found.get("shape");
    if (found.size !== 3) this.#fail(`must have the names descr, fortran_order and shape`);
    if (typeof kind !== "string") return this.#fail("has no text for descr");
    if (typeof fortranOrder !== "boolean") return this.#fail("has no truth value for fortran_order");
    if (!Array.isArray(shape)) return this.#fail("has no tuple for shape");
    const dtype = /^[<>|=]/.test(kind) && Object.hasOwn(kinds, kind.slice(1)) ? kinds[kind.slice(1)] : undefined;
    if (dtype === undefined) {
      return this.#fail(`has elements of the kind ${JSON.stringify(kind)}, which MLX has no dtype for`);
    }
    return { dtype, bigEndian: kind.startsWith(">"), shape, fortranOrder };
  }
}
