/**
 * Writing safetensors. The header keeps the order of the tree, which MLX's own writer loses, and the data begins with
 * the longest elements, so that every tensor is aligned to its own.
 */

import type { MxArray } from "../core/array.ts";
import { describe } from "../core/describe.ts";
import { type Dtype, dtypeSize } from "../core/dtype.ts";
import { LONGEST_HEADER } from "./safetensors-header.ts";
import { eachPart } from "./elements.ts";
import type { Sink } from "./sink.ts";

const kinds: Readonly<Partial<Record<Dtype, string>>> = {
  bool: "BOOL",
  uint8: "U8",
  uint16: "U16",
  uint32: "U32",
  uint64: "U64",
  int8: "I8",
  int16: "I16",
  int32: "I32",
  int64: "I64",
  float16: "F16",
  bfloat16: "BF16",
  float32: "F32",
  complex64: "C64",
};

const METADATA = "__metadata__";

/** Throws a TypeError for what the format, or a reader of it, has no place for. */
export function checkSafetensors(arrays: ReadonlyMap<string, MxArray>, metadata: unknown, operation: string): void {
  if (arrays.has(METADATA)) throw new TypeError(`${operation}: no array can be called ${METADATA}.`);
  for (const [name, array] of arrays) {
    if (kinds[array.dtype] !== undefined) continue;
    throw new TypeError(
      `${operation}: ${JSON.stringify(name)} is ${array.dtype}, which MLX does not read from safetensors; cast it, or save it as npy.`,
    );
  }
  if (metadata === undefined || metadata === null) return;
  if (typeof metadata !== "object" || Array.isArray(metadata)) {
    throw new TypeError(`${operation}: metadata must be an object of texts, got ${describe(metadata)}.`);
  }
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value === "string" && value.isWellFormed() && key.isWellFormed()) continue;
    throw new TypeError(`${operation}: the metadata ${JSON.stringify(key)} must be a text, got ${describe(value)}.`);
  }
}

function headerText(arrays: ReadonlyMap<string, MxArray>, placed: readonly string[], metadata: object | null): string {
  const ends = new Map<string, [number, number]>();
  let at = 0;
  for (const name of placed) {
    const end = at + arrays.get(name)!.nbytes;
    ends.set(name, [at, end]);
    at = end;
  }
  const entries = [...arrays].map(([name, array]) => {
    const entry = { dtype: kinds[array.dtype], shape: array.shape, data_offsets: ends.get(name) };
    return `${JSON.stringify(name)}:${JSON.stringify(entry)}`;
  });
  if (metadata !== null) entries.unshift(`"${METADATA}":${JSON.stringify(metadata)}`);
  return `{${entries.join(",")}}`;
}

/** Writes arrays that `checkSafetensors` has let pass. */
export function writeSafetensors(
  sink: Sink,
  arrays: ReadonlyMap<string, MxArray>,
  metadata: Readonly<Record<string, string>> | null,
  operation: string,
): void {
  const sizeOf = (name: string): number => dtypeSize(arrays.get(name)!.dtype);
  const placed = [...arrays.keys()].sort((a, b) => sizeOf(b) - sizeOf(a));
  const text = new TextEncoder().encode(headerText(arrays, placed, metadata));
  if (text.length > LONGEST_HEADER - 8)
    throw new RangeError(`${operation}: the names and metadata take more than 100 MB.`);
  const header = new Uint8Array(8 + Math.ceil(text.length / 8) * 8).fill(0x20);
  new DataView(header.buffer).setBigUint64(0, BigInt(header.length - 8), true);
  header.set(text, 8);
  sink.write(header);
  for (const name of placed) eachPart(arrays.get(name)!, operation, (bytes) => sink.write(bytes));
}
