/** The header of a safetensors file: JSON that says where each tensor lies. Checked whole before anything is read. */

import type { Dtype } from "../core/dtype.ts";
import { countKeys } from "./json-keys.ts";
import { LONGEST_AXIS, tensorBytes } from "./sizes.ts";
import { type ByteSource, DAMAGED } from "./source.ts";

export interface SafetensorsEntry {
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  /** Where the data begins, in bytes from the start of the file. */
  readonly offset: number;
  readonly bytes: number;
}

export interface SafetensorsHeader {
  readonly metadata: ReadonlyMap<string, string>;
  /** In the order of the header. */
  readonly tensors: ReadonlyMap<string, SafetensorsEntry>;
}

/** Names of the format. The 8-bit floats are given as their bytes, as MLX gives them. */
const dtypeOf: Readonly<Record<string, Dtype>> = {
  BOOL: "bool",
  U8: "uint8",
  U16: "uint16",
  U32: "uint32",
  U64: "uint64",
  I8: "int8",
  I16: "int16",
  I32: "int32",
  I64: "int64",
  F16: "float16",
  BF16: "bfloat16",
  F32: "float32",
  C64: "complex64",
  F8_E4M3: "uint8",
  F8_E8M0: "uint8",
};

/** As in every other reader of the format. */
export const LONGEST_HEADER: number = 100_000_000;
const METADATA = "__metadata__";

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Throws an MlxError that names the tensor unless every tensor is well described, inside the file and on its own. */
export function readSafetensorsHeader(source: ByteSource): SafetensorsHeader {
  const view = new DataView(source.read(0, 8, "the length of the header").buffer);
  const announced = view.getBigUint64(0, true);
  if (announced > BigInt(Math.min(source.size - 8, LONGEST_HEADER))) {
    throw source.error(
      `not a safetensors file, or an incomplete one: it announces a header of ${announced} bytes, and ${source.size - 8} follow.`,
    );
  }
  const length = Number(announced);
  const json = parse(source, source.read(8, length, "the header"));
  const metadata = readMetadata(source, json[METADATA]);
  const tensors = new Map<string, SafetensorsEntry>();
  for (const [name, value] of Object.entries(json)) {
    if (name !== METADATA) tensors.set(name, readEntry(source, name, value, 8 + length));
  }
  refuseOverlaps(source, tensors);
  return { metadata, tensors };
}

function parse(source: ByteSource, bytes: Uint8Array): Json {
  let text: string;
  let json: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    json = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message.replace("JSON Parse error: ", "") : "it is not UTF-8";
    throw source.error(`not a safetensors file: its header is no JSON text (${reason}).`);
  }
  if (!isObject(json)) throw source.error("not a safetensors file: its header is no JSON object.");
  // Of two equal names each reader is free to see another one.
  const objects = Object.values(json).filter(isObject);
  const distinct = [json, ...objects].reduce((sum, object) => sum + Object.keys(object).length, 0);
  if (countKeys(text, 2) !== distinct) throw source.error("the header has a name twice.");
  return json;
}

function readMetadata(source: ByteSource, value: unknown): Map<string, string> {
  // MLX writes null where there is none.
  if (value === undefined || value === null) return new Map();
  if (!isObject(value)) throw source.error(`${METADATA} is no object.`);
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== "string")
      throw source.error(`the metadata key ${JSON.stringify(key)} has no text as its value.`);
  }
  return new Map(Object.entries(value as Record<string, string>));
}

function readEntry(source: ByteSource, name: string, value: unknown, dataStart: number): SafetensorsEntry {
  const fail = (what: string): never => {
    throw source.error(`the tensor ${JSON.stringify(name)} ${what}`);
  };
  if (name.includes("\0")) fail("has a NUL character in its name, where native code would cut it.");
  if (!name.isWellFormed()) fail("has half of a character in its name.");
  if (!isObject(value)) return fail("is described by no object.");
  const { dtype: kind, shape, data_offsets: offsets } = value;
  const dtype = typeof kind === "string" && Object.hasOwn(dtypeOf, kind) ? dtypeOf[kind] : undefined;
  if (dtype === undefined) {
    return fail(`is ${JSON.stringify(kind)}, which MLX cannot read. It reads ${Object.keys(dtypeOf).join(", ")}.`);
  }
  if (!isCounts(shape)) return fail("has a shape that is no list of lengths.");
  const long = shape.find((length) => length > LONGEST_AXIS);
  if (long !== undefined) fail(`has an axis of length ${long}, more than MLX can index.`);
  if (!isCounts(offsets) || offsets.length !== 2) return fail("has data_offsets that are no pair of positions.");
  const [begin, end] = offsets as [number, number];
  const bytes = tensorBytes(shape, dtype);
  if (end - begin !== bytes) {
    fail(`is ${kind as string}[${shape.join(", ")}] and needs ${bytes} bytes, but its place is ${begin} to ${end}.`);
  }
  if (dataStart + end > source.size) {
    fail(`ends at byte ${dataStart + end}, but the file has only ${source.size}. ${DAMAGED}`);
  }
  return { dtype, shape, offset: dataStart + begin, bytes };
}

/** A list of exact, non-negative integers. Greater ones are no sizes that a file could have. */
function isCounts(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && (item as number) >= 0);
}

function refuseOverlaps(source: ByteSource, tensors: ReadonlyMap<string, SafetensorsEntry>): void {
  const placed = [...tensors].filter(([, { bytes }]) => bytes > 0).sort(([, a], [, b]) => a.offset - b.offset);
  let before: [string, SafetensorsEntry] | undefined;
  for (const entry of placed) {
    if (before !== undefined && before[1].offset + before[1].bytes > entry[1].offset) {
      throw source.error(`the tensors ${JSON.stringify(before[0])} and ${JSON.stringify(entry[0])} share bytes.`);
    }
    before = entry;
  }
}
