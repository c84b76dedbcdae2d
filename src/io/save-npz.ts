/** `mx.savez` and its relatives: several arrays in one npz file, which numpy reads as well. */

import { MxArray, str } from "../core/call.ts";
import { evaluateOne } from "../core/evaluate.ts";
import { saveAtomically } from "./atomic.ts";
import { namedArrays } from "./names.ts";
import { npyBytes } from "./npy-bytes.ts";
import { MemorySink, type Sink, writeFileThrough } from "./sink.ts";
import { ZipWriter } from "./zip-writer.ts";

/** Arrays by position are `arr_0`, `arr_1` and so on; those of a tree have dotted names. */
function named(values: readonly unknown[], operation: string): Map<string, MxArray> {
  const arrays = new Map<string, MxArray>();
  for (const [i, value] of values.entries()) {
    const tree = value instanceof MxArray ? { [`arr_${i}`]: value } : value;
    for (const [name, array] of namedArrays(tree, operation)) {
      if (arrays.has(name)) throw new TypeError(`${operation}: two arrays are called ${JSON.stringify(name)}.`);
      arrays.set(name, array);
    }
  }
  for (const array of arrays.values()) evaluateOne(array, operation);
  return arrays;
}

function writeZip(sink: Sink, arrays: ReadonlyMap<string, MxArray>, compress: boolean, operation: string): void {
  const zip = new ZipWriter(
    sink,
    compress,
    (what) => new RangeError(`${operation}: an npz file cannot hold ${what}; use saveSafetensors.`),
  );
  for (const [name, array] of arrays) npyBytes(array, operation, (bytes) => zip.add(`${name}.npy`, bytes));
  zip.end();
}

function saveZip(path: string, values: readonly unknown[], compress: boolean, operation: string): void {
  str(path, operation, "path");
  const arrays = named(values, operation);
  saveAtomically(path, ".npz", operation, (temporary) => {
    writeFileThrough(temporary, (sink) => writeZip(sink, arrays, compress, operation));
  });
}

function zipBytes(values: readonly unknown[], compress: boolean, operation: string): Uint8Array<ArrayBuffer> {
  const sink = new MemorySink();
  writeZip(sink, named(values, operation), compress, operation);
  return sink.take();
}

/**
 * Saves several arrays as an uncompressed npz file. Arrays given by position are called `arr_0`, `arr_1`, ...; those
 * of an object have its names, dotted where it is nested. `.npz` is added to a name without it.
 *
 * The file is written beside its place and moved there when it is whole: if anything fails, an older file stays as it
 * was. Throws a TypeError that names the place of what is no Array, a RangeError past 4 GiB, an MlxError when the file
 * cannot be written. Python: mx.savez.
 *
 * @example
 * mx.savez("arrays.npz", x, y);                // arr_0, arr_1
 * mx.savez("arrays.npz", { w, layers: [a] });  // w, layers.0
 */
export function savez(path: string, ...arrays: unknown[]): void {
  saveZip(path, arrays, false, "savez");
}

/** Like `savez`, with the data compressed (deflate). Python: mx.savez_compressed. */
export function savezCompressed(path: string, ...arrays: unknown[]): void {
  saveZip(path, arrays, true, "savezCompressed");
}

/** The bytes of the file that `savez` would write. Python: mx.savez to a file object. */
export function savezToBytes(...arrays: unknown[]): Uint8Array<ArrayBuffer> {
  return zipBytes(arrays, false, "savezToBytes");
}

/** The bytes of the file that `savezCompressed` would write. Python: mx.savez_compressed to a file object. */
export function savezCompressedToBytes(...arrays: unknown[]): Uint8Array<ArrayBuffer> {
  return zipBytes(arrays, true, "savezCompressedToBytes");
}
