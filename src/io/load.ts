/** `mx.load`: arrays from files. */

import { extname } from "node:path";
import { wrapArray } from "../core/array.ts";
import { bool, C, checkOptions, isOptions, type MxArray, slot, str, type StreamOrDevice } from "../core/call.ts";
import { describe } from "../core/describe.ts";
import { check } from "../core/error.ts";
import { takeArrayMap, takeStringMap } from "../core/map.ts";
import { readSlot } from "../core/slots.ts";
import { Device } from "../core/device.ts";
import { Stream, streamHandle } from "../core/stream.ts";
import { requireFile } from "./file-reader.ts";
import { checkedGgufHeader, ggufMetadata, loadGgufTensors, type Metadata } from "./gguf.ts";

export type { Metadata } from "./gguf.ts";

/** The file formats that `load` reads. */
export type LoadFormat = "npy" | "safetensors" | "gguf";
const formats: readonly LoadFormat[] = ["npy", "safetensors", "gguf"];

export interface LoadOptions {
  /** Default: the file name's extension. */
  format?: LoadFormat | undefined;
  /** Also give the file's metadata; not for npy. Default: false. */
  returnMetadata?: boolean | undefined;
  /** A CPU stream; MLX loads on the CPU only. Default: the CPU's default stream. */
  stream?: StreamOrDevice | undefined;
}

/**
 * Loads arrays from a file: one from `.npy`, a record by name from `.safetensors` and `.gguf`; with
 * `returnMetadata`, the pair of record and metadata. The caller owns the arrays.
 *
 * GGUF tensors of the kinds Q4_0, Q4_1 and Q8_0 arrive as MLX's quantized triples: `x.weight` (uint32), `x.scales`
 * and `x.biases` (float16), in groups of 32. BF16, Q2_K, Q4_K and Q6_K arrive as float16; other quantizations are
 * refused. Safetensors and npy are read when they are evaluated, so the file must stay until then.
 *
 * Throws a TypeError for bad arguments, an MlxError for a file that is missing, damaged or not understood.
 * Python: mx.load.
 */
export function load(path: `${string}.npy`, options?: LoadOptions & { format?: "npy" | undefined }): MxArray;
export function load(
  path: string,
  options: LoadOptions & { returnMetadata: true },
): [arrays: Record<string, MxArray>, metadata: Record<string, Metadata>];
export function load(
  path: `${string}.${"safetensors" | "gguf"}`,
  options?: LoadOptions & { returnMetadata?: false | undefined },
): Record<string, MxArray>;
export function load(
  path: string,
  format: LoadFormat | undefined,
  returnMetadata: true,
  options?: LoadOptions,
): [arrays: Record<string, MxArray>, metadata: Record<string, Metadata>];
export function load(
  path: string,
  format?: LoadFormat | LoadOptions,
  returnMetadata?: boolean | LoadOptions,
  options?: LoadOptions,
): MxArray | Record<string, MxArray>;
export function load(path: string, ...rest: unknown[]): Loaded {
  const { format, returnMetadata, stream } = readArguments(path, rest);
  if (format === "npy") {
    if (returnMetadata) throw new TypeError("load: an npy file has no metadata to return.");
    return loadNpy(path, stream);
  }
  const [arrays, metadata] = format === "gguf" ? loadGguf(path, stream, returnMetadata) : loadSafetensors(path, stream);
  return returnMetadata ? [arrays, metadata] : arrays;
}

type WithMetadata = [arrays: Record<string, MxArray>, metadata: Record<string, Metadata>];
type Loaded = MxArray | Record<string, MxArray> | WithMetadata;

function readArguments(path: string, rest: unknown[]): { format: LoadFormat; returnMetadata: boolean; stream: number } {
  str(path, "load", "path");
  const last = rest.at(-1);
  const options = (isOptions(last) ? rest.pop() : {}) as LoadOptions;
  checkOptions(options, ["format", "returnMetadata", "stream"], "load");
  if (rest.length > 2) throw new TypeError("load: takes a path, a format, returnMetadata and an options object.");
  const format = formatOf(path, rest[0] ?? options.format);
  const returnMetadata = bool(rest[1] ?? options.returnMetadata ?? false, "load", "returnMetadata");
  const stream = streamHandle(onCpu(options.stream), "load");
  requireFile(path, "load");
  return { format, returnMetadata, stream };
}

function formatOf(path: string, given: unknown): LoadFormat {
  const format = given ?? extname(path).slice(1);
  if (formats.includes(format as LoadFormat)) return format as LoadFormat;
  const from = given === undefined || given === null ? `the extension of ${JSON.stringify(path)}` : "format";
  throw new TypeError(`load: ${from} must be one of ${formats.join(", ")}, got ${describe(format)}.`);
}

/** The stream to load on: MLX has no other loader than the CPU's. */
function onCpu(stream: StreamOrDevice = "cpu"): StreamOrDevice {
  using device = stream instanceof Stream ? stream.device : null;
  const target = device ?? stream;
  if ((target instanceof Device ? target.type : target) === "gpu") {
    throw new TypeError("load: MLX loads on the CPU only; give a CPU stream, or none.");
  }
  return stream;
}

function loadGguf(path: string, stream: number, returnMetadata: boolean): WithMetadata {
  const header = checkedGgufHeader(path);
  return [loadGgufTensors(path, stream), returnMetadata ? ggufMetadata(header) : {}];
}

function loadNpy(path: string, stream: number): MxArray {
  const out = slot();
  check(C.mlx_load(out, str(path, "load", "path"), stream), "load");
  return wrapArray(readSlot(out));
}

function loadSafetensors(path: string, stream: number): WithMetadata {
  const arrays = slot();
  const metadata = slot();
  check(C.mlx_load_safetensors(arrays, metadata, str(path, "load", "path"), stream), "load");
  const tensors = readSlot(arrays);
  const texts = takeStringMap(readSlot(metadata));
  return [takeArrayMap(tensors, "load"), texts];
}
