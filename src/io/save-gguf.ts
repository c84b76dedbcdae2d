/** `mx.saveGguf`: arrays and metadata as a GGUF file, written by MLX. */

import { C, checkOptions, MxArray, str } from "../core/call.ts";
import { describe } from "../core/describe.ts";
import type { Dtype } from "../core/dtype.ts";
import { check } from "../core/error.ts";
import { evaluateOne } from "../core/evaluate.ts";
import { saveAtomically } from "./atomic.ts";
import { rowMajor } from "./elements.ts";
import type { Metadata } from "./gguf.ts";
import { namedArrays } from "./names.ts";

export interface SaveGgufOptions {
  /** Texts, lists of texts, and Arrays of at most one axis. Default: none. */
  metadata?: Readonly<Record<string, Metadata | readonly string[]>> | undefined;
}

const tensorDtypes: readonly Dtype[] = ["float32", "float16", "int8", "int16", "int32"];
const valueDtypes: readonly Dtype[] = [
  ...(["bool", "uint8", "uint16", "uint32", "uint64"] as const),
  ...(["int8", "int16", "int32", "int64", "float32"] as const),
];
/** MLX's reader ends the process above this. */
const MAX_AXES = 8;
/** MLX writes tensors at multiples of this and asks no metadata. */
const ALIGNMENT = "general.alignment";

/**
 * Saves the arrays of a tree as a GGUF file, by dotted name, with metadata. `.gguf` is added to a name without it.
 * The arrays are evaluated first.
 *
 * Tensors can be float32, float16, int8, int16 or int32, with at most 8 axes; metadata a text, a list of texts, or an
 * Array of one value or a list of them, not float16, bfloat16, float64 or complex64. Quantized triples are not put
 * together again.
 *
 * The file is written beside its place and moved there when it is whole: if anything fails, an older file stays as it
 * was. Throws a TypeError that names what cannot be saved, an MlxError when the file cannot be written.
 * Python: mx.save_gguf.
 */
export function saveGguf(path: string, tree: unknown, options: SaveGgufOptions = {}): void {
  str(path, "saveGguf", "path");
  checkOptions(options, ["metadata"], "saveGguf");
  const arrays = namedArrays(tree, "saveGguf");
  for (const [name, array] of arrays) checkTensor(name, array);
  const metadata = readMetadata(options.metadata);
  const gguf = C.mlx_io_gguf_new();
  try {
    for (const [name, array] of arrays) {
      using rows = rowMajor(array, "saveGguf");
      check(C.mlx_io_gguf_set_array(gguf, text(name), evaluateOne(rows, "saveGguf")), "saveGguf");
    }
    for (const [key, value] of metadata) addMetadata(gguf, key, value);
    saveAtomically(path, ".gguf", "saveGguf", (temporary) => {
      check(C.mlx_save_gguf(text(temporary), gguf), "saveGguf");
    });
  } finally {
    C.mlx_io_gguf_free(gguf);
  }
}

function text(value: string): number {
  return str(value, "saveGguf", "text");
}

function checkTensor(name: string, array: MxArray): void {
  if (!tensorDtypes.includes(array.dtype)) {
    throw new TypeError(
      `saveGguf: ${JSON.stringify(name)} is ${array.dtype}; MLX writes only ${tensorDtypes.join(", ")} to GGUF.`,
    );
  }
  if (array.ndim > MAX_AXES) {
    throw new TypeError(`saveGguf: ${JSON.stringify(name)} has ${array.ndim} axes; GGUF takes at most ${MAX_AXES}.`);
  }
  evaluateOne(array, "saveGguf");
}

type Value = string | readonly string[] | MxArray;

function readMetadata(metadata: unknown): [string, Value][] {
  if (metadata === undefined || metadata === null) return [];
  if (typeof metadata !== "object" || Array.isArray(metadata)) {
    throw new TypeError(`saveGguf: metadata must be an object, got ${describe(metadata)}.`);
  }
  return Object.entries(metadata).map(([key, value]: [string, unknown]) => [key, checkValue(key, value)]);
}

function checkValue(key: string, value: unknown): Value {
  const fail = (what: string): never => {
    throw new TypeError(`saveGguf: the metadata ${JSON.stringify(key)} ${what}.`);
  };
  if (key === "" || key.includes("\0") || !key.isWellFormed()) fail("has no good name");
  if (key === ALIGNMENT) fail("is MLX's to choose: it always writes tensors at multiples of 32 bytes");
  if (value instanceof MxArray) {
    if (!valueDtypes.includes(value.dtype)) fail(`is ${value.dtype}, which MLX does not write as GGUF metadata`);
    if (value.ndim > 1) fail(`has ${value.ndim} axes; one value or one list can be written`);
    if (value.size === 0) fail("is an empty Array, which MLX cannot write");
    evaluateOne(value, "saveGguf");
    return value;
  }
  const isText = (item: unknown): item is string =>
    typeof item === "string" && !item.includes("\0") && item.isWellFormed();
  if (isText(value) || (Array.isArray(value) && value.every(isText))) return value;
  return fail(`must be a text, a list of texts or an Array, without NUL characters, got ${describe(value)}`);
}

function addMetadata(gguf: number, key: string, value: Value): void {
  if (value instanceof MxArray) {
    using rows = rowMajor(value, "saveGguf");
    check(C.mlx_io_gguf_set_metadata_array(gguf, text(key), evaluateOne(rows, "saveGguf")), "saveGguf");
  } else if (typeof value === "string") {
    check(C.mlx_io_gguf_set_metadata_string(gguf, text(key), text(value)), "saveGguf");
  } else {
    const texts = C.mlx_vector_string_new();
    try {
      for (const item of value) check(C.mlx_vector_string_append_value(texts, text(item)), "saveGguf");
      check(C.mlx_io_gguf_set_metadata_vector_string(gguf, text(key), texts), "saveGguf");
    } finally {
      C.mlx_vector_string_free(texts);
    }
  }
}
