/** Loading npy files, and the npy files inside of npz. */

import { crc32, inflateRawSync } from "node:zlib";
import { wrapArray } from "../core/array.ts";
import { C, type MxArray, str } from "../core/call.ts";
import { check } from "../core/error.ts";
import { tidy } from "../core/scope.ts";
import { readSlot, slot } from "../core/slots.ts";
import { InflatedSource } from "./inflate.ts";
import { readNpyHeader } from "./npy-header.ts";
import { type ByteSource, BytesSource, DAMAGED } from "./source.ts";
import { readTensor } from "./tensor.ts";
import { packedBytes, readZipDirectory, type ZipEntry } from "./zip-directory.ts";

/** The array of an npy file, read now. */
export function readNpy(source: ByteSource, stream: number): MxArray {
  return readTensor(source, { ...readNpyHeader(source), part: "the data" }, stream);
}

/** The array of an npy file that MLX reads when it is evaluated; now if the header is of a form that MLX misreads. */
export function readNpyLazily(source: ByteSource, path: string, stream: number): MxArray {
  if (!readNpyHeader(source).usual) return readNpy(source, stream);
  const out = slot();
  check(C.mlx_load(out, str(path, source.operation, "path"), stream), source.operation);
  return wrapArray(readSlot(out));
}

/** The arrays of an npz file by name, read now. */
export function readNpz(source: ByteSource, stream: number): Record<string, MxArray> {
  const entries = readZipDirectory(source);
  return tidy(() => {
    const arrays: Record<string, MxArray> = Object.create(null);
    for (const entry of entries) {
      const name = entry.name.replace(/\.npy$/, "");
      if (name in arrays) throw source.error(`two of its entries are called ${JSON.stringify(name)}.`);
      arrays[name] = readEntry(source, entry, stream);
    }
    return arrays;
  });
}

/** From here on a deflated entry is unpacked as it is read. */
const LARGE = 1 << 20;

function readEntry(source: ByteSource, entry: ZipEntry, stream: number): MxArray {
  const piecewise =
    entry.deflated && entry.size >= LARGE ? InflatedSource.open(packedBytes(source, entry), entry) : null;
  if (piecewise === null) return readNpy(unpacked(source, entry), stream);
  using whole = piecewise;
  try {
    return readNpy(whole, stream);
  } finally {
    // Damage explains what else was wrong; the array is freed with the others.
    whole.finish();
  }
}

/** The bytes that an entry stands for, checked against its checksum. */
function unpacked(source: ByteSource, entry: ZipEntry): ByteSource {
  const packed = packedBytes(source, entry);
  const whole = entry.deflated ? inflated(packed, entry) : packed;
  if (checksum(whole) !== entry.crc)
    throw packed.error(`its bytes do not have the checksum that they should. ${DAMAGED}`);
  return whole;
}

function inflated(packed: ByteSource, entry: ZipEntry): ByteSource {
  const bytes = packed.read(0, packed.size, "the compressed data");
  let whole: Uint8Array;
  try {
    // One chunk for all: more would be joined, which takes the memory twice.
    const chunkSize = Math.max(entry.size, 64);
    whole = inflateRawSync(bytes, { maxOutputLength: Math.max(entry.size, 1), chunkSize });
  } catch (error) {
    throw packed.error(`it cannot be decompressed to ${entry.size} bytes: ${(error as Error).message}. ${DAMAGED}`);
  }
  if (whole.length === entry.size) return new BytesSource(packed.operation, packed.name, whole);
  throw packed.error(`it decompresses to ${whole.length} bytes instead of ${entry.size}. ${DAMAGED}`);
}

const WINDOW = 1 << 20;

function checksum(source: ByteSource): number {
  const window = new Uint8Array(Math.min(WINDOW, source.size));
  let crc = 0;
  for (let at = 0; at < source.size; at += window.length) {
    const part = window.subarray(0, Math.min(window.length, source.size - at));
    source.readInto(at, part, "the data");
    crc = crc32(part, crc);
  }
  return crc;
}
