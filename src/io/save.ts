/** `mx.save` and its relatives for npy and safetensors, to a file and to bytes. */

import { C, checkOptions, MxArray, str } from "../core/call.ts";
import { describe } from "../core/describe.ts";
import { check } from "../core/error.ts";
import { evaluateOne } from "../core/evaluate.ts";
import { saveAtomically } from "./atomic.ts";
import { namedArrays } from "./names.ts";
import { npyBytes } from "./npy-bytes.ts";
import { checkSafetensors, writeSafetensors } from "./safetensors-writer.ts";
import { MemorySink, type Sink, writeFileThrough } from "./sink.ts";

export interface SaveSafetensorsOptions {
  /** Texts to keep in the file's header. Default: none. */
  metadata?: Readonly<Record<string, string>> | undefined;
}

function requireArray(array: unknown, operation: string): void {
  if (array instanceof MxArray) return;
  throw new TypeError(`${operation}: expected an Array, got ${describe(array)}.`);
}

/**
 * Saves one array as an npy file, which numpy reads as well; bfloat16 only MLX does. `.npy` is added to a name
 * without it. The array is evaluated first.
 *
 * The file is written beside its place and moved there when it is whole: if anything fails, an older file stays as it
 * was. Throws a TypeError for bad arguments, an MlxError when the file cannot be written. Python: mx.save.
 */
export function save(path: string, array: MxArray): void {
  str(path, "save", "path");
  requireArray(array, "save");
  evaluateOne(array, "save");
  saveAtomically(path, ".npy", "save", (temporary) => {
    check(C.mlx_save(str(temporary, "save", "path"), evaluateOne(array, "save")), "save");
  });
}

/**
 * The bytes of the npy file that `save` would write: up to 4 GiB, else a RangeError.
 * Python: mx.save to a file object.
 */
export function saveToBytes(array: MxArray): Uint8Array<ArrayBuffer> {
  requireArray(array, "saveToBytes");
  return npyBytes(array, "saveToBytes", (bytes) => bytes.slice());
}

/** Options and arrays, checked and evaluated before a file is made; what is returned writes them. */
function safetensorsWriter(tree: unknown, options: unknown, operation: string): (sink: Sink) => void {
  checkOptions(options, ["metadata"], operation);
  const metadata = (options as SaveSafetensorsOptions).metadata ?? null;
  const arrays = namedArrays(tree, operation);
  checkSafetensors(arrays, metadata, operation);
  for (const array of arrays.values()) evaluateOne(array, operation);
  return (sink) => writeSafetensors(sink, arrays, metadata, operation);
}

/**
 * Saves the arrays of a tree as a safetensors file, by dotted name: `{ layers: [{ w }] }` is `layers.0.w`. The tensors
 * keep the order of the tree; `.safetensors` is added to a name without it. The arrays are evaluated first. float64
 * has no place in what MLX reads of this format and is refused.
 *
 * The file is written beside its place and moved there when it is whole: if anything fails, an older file stays as it
 * was. Throws a TypeError that names the place of what cannot be saved, an MlxError when the file cannot be written.
 * Python: mx.save_safetensors of mlx.utils.tree_flatten.
 *
 * @example
 * mx.saveSafetensors("model.safetensors", { fc: { weight, bias } }, { metadata: { format: "mlx" } });
 */
export function saveSafetensors(path: string, tree: unknown, options: SaveSafetensorsOptions = {}): void {
  str(path, "saveSafetensors", "path");
  const write = safetensorsWriter(tree, options, "saveSafetensors");
  saveAtomically(path, ".safetensors", "saveSafetensors", (temporary) => writeFileThrough(temporary, write));
}

/**
 * The bytes of the safetensors file that `saveSafetensors` would write: up to 4 GiB, else a RangeError.
 * Python has no such function.
 */
export function saveSafetensorsToBytes(tree: unknown, options: SaveSafetensorsOptions = {}): Uint8Array<ArrayBuffer> {
  const sink = new MemorySink();
  safetensorsWriter(tree, options, "saveSafetensorsToBytes")(sink);
  return sink.take();
}
