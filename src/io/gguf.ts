/** Loading GGUF files: plain tensors, and MLX's own reader for the others, behind a check of all that it takes on trust. */

import { accessSync, constants } from "node:fs";
import { wrapArray } from "../core/array.ts";
import { C, MxArray, slot, str } from "../core/call.ts";
import { array } from "../core/create.ts";
import type { Dtype } from "../core/dtype.ts";
import { check } from "../core/error.ts";
import { tidy } from "../core/scope.ts";
import { readSlot } from "../core/slots.ts";
import { takeStrings } from "../core/vector.ts";
import { type GgufEntry, ggufError, type GgufHeader, type GgufTensor, readGgufHeader } from "./gguf-header.ts";
import { tensorTypes } from "./gguf-types.ts";
import { FileSource } from "./source.ts";
import { readTensor } from "./tensor.ts";

/** A metadata value as Python MLX gives it: numbers and booleans are arrays, texts are texts. */
export type Metadata = MxArray | string | string[];

/** Reads the header of a GGUF file and refuses what MLX's reader cannot take: it fails without words, or crashes. */
export function checkedGgufHeader(path: string): GgufHeader {
  const header = readGgufHeader(path);
  for (const [key, { type }] of header.metadata) {
    if (type === "float64") {
      // It counts four bytes for each of these eight-byte values and reads everything behind them as nonsense.
      throw ggufError(path, `the metadata key "${key}" is a float64, which MLX's reader of GGUF cannot take.`);
    }
  }
  for (const { name, type } of header.tensors.values()) {
    if (type.loads !== "refused") continue;
    const readable = [...tensorTypes.values()].filter(({ loads }) => loads !== "refused").map((one) => one.name);
    throw ggufError(
      path,
      `the tensor "${name}" is ${type.name}, which MLX cannot read. It reads ${readable.join(", ")}.`,
    );
  }
  return header;
}

const plainDtypes: Readonly<Record<string, Dtype>> = {
  F32: "float32",
  F16: "float16",
  I8: "int8",
  I16: "int16",
  I32: "int32",
};

/** The tensors of a GGUF file by name. A quantized one becomes three: `x.weight`, `x.scales`, `x.biases`. */
export function loadGgufTensors(header: GgufHeader, stream: number): Record<string, MxArray> {
  const tensors = [...header.tensors.values()];
  const plain = tensors.every(({ type }) => plainDtypes[type.name] !== undefined);
  return plain ? readPlain(header.path, tensors, stream) : convert(header.path, stream);
}

/** Tensors that are in the file as MLX holds them: read like any others, without the mapping that MLX makes of the file. */
function readPlain(path: string, tensors: readonly GgufTensor[], stream: number): Record<string, MxArray> {
  using source = FileSource.open("load", path);
  const sorted = tensors.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const read = ({ name, type, shape, offset }: GgufTensor): [string, MxArray] => {
    const place = { dtype: plainDtypes[type.name]!, shape, offset, part: `the tensor "${name}"` };
    return [name, readTensor(source, place, stream)];
  };
  return tidy(() => Object.fromEntries(sorted.map(read)));
}

/** All tensors by MLX's own reader, which maps the file. */
function convert(path: string, stream: number): Record<string, MxArray> {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch {
    throw ggufError(
      path,
      "no permission to write. MLX only reads GGUF files but opens them for writing too: make the file writable, or copy it to where it is.",
    );
  }
  const out = slot();
  check(C.mlx_load_gguf(out, str(path, "load", "path"), stream), "load");
  const gguf = readSlot(out);
  try {
    return tidy(() => Object.fromEntries(keysOf(gguf).map((key) => [key, tensorOf(gguf, key)])));
  } finally {
    C.mlx_io_gguf_free(gguf);
  }
}

function keysOf(gguf: number): string[] {
  const out = slot();
  check(C.mlx_io_gguf_get_keys(out, gguf), "load");
  return takeStrings(readSlot(out)).sort();
}

function tensorOf(gguf: number, key: string): MxArray {
  const out = slot();
  check(C.mlx_io_gguf_get_array(out, gguf, str(key, "load", "tensor name")), "load");
  return wrapArray(readSlot(out));
}

/** The metadata of a GGUF header as Python MLX gives it. */
export function ggufMetadata(header: GgufHeader): Record<string, Metadata> {
  return tidy(() => Object.fromEntries([...header.metadata].map(([key, entry]) => [key, metadataValue(entry)])));
}

function metadataValue({ type, value }: GgufEntry): Metadata {
  if (type === "string") return value as string | string[];
  return array(value as number | number[], { dtype: type as Dtype });
}
