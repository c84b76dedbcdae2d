/** `mx.load` and `mx.loadFromBytes`: arrays from files. */

import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { bool, checkOptions, isOptions, type MxArray, str, type StreamOrDevice } from "../core/call.ts";
import { describe } from "../core/describe.ts";
import { Device } from "../core/device.ts";
import { MlxError } from "../core/error.ts";
import { traced, tracer } from "../core/hooks.ts";
import { tidy } from "../core/scope.ts";
import { Stream, streamHandle } from "../core/stream.ts";
import { requireFile } from "./file-reader.ts";
import { checkedGgufHeader, ggufMetadata, loadGgufTensors, type Metadata } from "./gguf.ts";
import { readNpy, readNpyLazily, readNpz } from "./npy.ts";
import { readSafetensors, readSafetensorsLazily } from "./safetensors.ts";
import { type ByteSource, BytesSource, FileSource } from "./source.ts";

export type { Metadata } from "./gguf.ts";

/** The file formats that `load` reads. */
export type LoadFormat = "npy" | "npz" | "safetensors" | "gguf";
type Named = "npz" | "safetensors" | "gguf";
const formats: readonly LoadFormat[] = ["npy", "npz", "safetensors", "gguf"];

export interface LoadBytesOptions {
  /** What the bytes are. */
  format: LoadFormat;
  /** Also give the metadata; safetensors and gguf only. Default: false. */
  returnMetadata?: boolean | undefined;
  /** A CPU stream; files are read on the CPU only. Default: the CPU's default stream. */
  stream?: StreamOrDevice | undefined;
}

export interface LoadOptions extends Omit<LoadBytesOptions, "format"> {
  /** Default: the file name's extension. */
  format?: LoadFormat | undefined;
  /**
   * Read npy and safetensors data when an array is evaluated, as Python does, and not now. The file must then stay as
   * it is: MLX gives nonsense, and no error, for what it cannot read later. Default: false.
   */
  lazy?: boolean | undefined;
}

type Arrays = Record<string, MxArray>;
type WithMetadata = [arrays: Arrays, metadata: Record<string, Metadata>];
type Loaded = MxArray | Arrays | WithMetadata;

/**
 * Loads arrays from a file: one from `.npy`, a record by name from `.npz`, `.safetensors` and `.gguf`; with
 * `returnMetadata`, the pair of record and metadata. The caller owns the arrays.
 *
 * The data is read before `load` returns, so the file may change or go afterwards; `lazy` says otherwise. The whole
 * header is checked first, and no more memory is taken than the arrays that it describes need.
 *
 * GGUF tensors of the kinds Q4_0, Q4_1 and Q8_0 arrive as MLX's quantized triples: `x.weight` (uint32), `x.scales`
 * and `x.biases` (float16), in groups of 32. BF16, Q2_K, Q4_K and Q6_K arrive as float16; other quantizations are
 * refused. The 8-bit floats of safetensors arrive as uint8.
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
  path: `${string}.${"npz" | "safetensors" | "gguf"}`,
  options?: LoadOptions & { returnMetadata?: false | undefined },
): Record<string, MxArray>;
export function load(
  path: string,
  format: LoadFormat | undefined,
  returnMetadata: true | (LoadOptions & { returnMetadata: true }),
  options?: LoadOptions,
): [arrays: Record<string, MxArray>, metadata: Record<string, Metadata>];
export function load(
  path: string,
  format: "npy" | (LoadOptions & { format: "npy" }),
  returnMetadata?: false | (LoadOptions & { returnMetadata?: false | undefined }),
  options?: LoadOptions,
): MxArray;
export function load(
  path: string,
  format: Named | (LoadOptions & { format: Named; returnMetadata?: false | undefined }),
  returnMetadata?: false | (LoadOptions & { returnMetadata?: false | undefined }),
  options?: LoadOptions,
): Record<string, MxArray>;
export function load(
  path: string,
  format?: LoadFormat | LoadOptions,
  returnMetadata?: boolean | LoadOptions,
  options?: LoadOptions,
): MxArray | Record<string, MxArray>;
export function load(path: string, ...rest: unknown[]): Loaded {
  str(path, "load", "path");
  const last = rest.at(-1);
  const options = (isOptions(last) ? rest.pop() : {}) as LoadOptions;
  checkOptions(options, ["format", "returnMetadata", "stream", "lazy"], "load");
  if (rest.length > 2) throw new TypeError("load: takes a path, a format, returnMetadata and an options object.");
  const lazy = bool(options.lazy ?? false, "load", "lazy");
  const chosen = choose("load", formatOf(path, rest[0] ?? options.format), rest[1] ?? options.returnMetadata);
  const stream = streamHandle(onCpu(options.stream, "load"), "load");
  const span = tracer === null ? null : tracer.begin("io", "load", { path, format: chosen.format, lazy });
  try {
    return loadFile(path, chosen, lazy, stream);
  } finally {
    span?.end({ bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0 });
  }
}

function loadFile(path: string, chosen: Choice, lazy: boolean, stream: number): Loaded {
  if (chosen.format === "gguf") {
    requireFile(path, "load");
    return pick(loadGguf(path, stream, chosen.returnMetadata), chosen);
  }
  using source = FileSource.open("load", path);
  if (lazy && chosen.format === "npy") return readNpyLazily(source, path, stream);
  if (lazy && chosen.format === "safetensors") return pick(readSafetensorsLazily(source, path, stream), chosen);
  return readFrom(source, chosen, stream);
}

/**
 * Loads arrays from the bytes of a file, in the same way and under the same checks as `load`. The data is copied, so
 * the bytes may change afterwards. GGUF bytes pass through a temporary file.
 *
 * Throws a TypeError for bad arguments, an MlxError for bytes that are damaged or not understood.
 * Python: mx.load of a file object.
 *
 * @example
 * using x = mx.loadFromBytes(await Bun.file("x.npy").bytes(), { format: "npy" });
 */
export function loadFromBytes(
  bytes: ArrayBufferLike | ArrayBufferView,
  options: LoadBytesOptions & { format: "npy" },
): MxArray;
export function loadFromBytes(
  bytes: ArrayBufferLike | ArrayBufferView,
  options: LoadBytesOptions & { returnMetadata: true },
): [arrays: Record<string, MxArray>, metadata: Record<string, Metadata>];
export function loadFromBytes(
  bytes: ArrayBufferLike | ArrayBufferView,
  options: LoadBytesOptions & { format: "npz" | "safetensors" | "gguf" },
): Record<string, MxArray>;
export function loadFromBytes(
  bytes: ArrayBufferLike | ArrayBufferView,
  options: LoadBytesOptions,
): MxArray | Record<string, MxArray>;
export function loadFromBytes(bytes: ArrayBufferLike | ArrayBufferView, options: LoadBytesOptions): Loaded {
  const op = "loadFromBytes";
  const view = bytesOf(bytes);
  checkOptions(options, ["format", "returnMetadata", "stream"], op);
  if (!formats.includes(options.format)) {
    throw new TypeError(`${op}: format must be one of ${formats.join(", ")}, got ${describe(options.format)}.`);
  }
  const chosen = choose(op, options.format, options.returnMetadata);
  const stream = streamHandle(onCpu(options.stream, op), op);
  return traced("io", op, { format: chosen.format, bytes: view.byteLength }, () => {
    if (chosen.format === "gguf") return pick(ggufFromBytes(view, stream, chosen.returnMetadata), chosen);
    return readFrom(new BytesSource(op, "the bytes", view), chosen, stream);
  });
}

interface Choice {
  format: LoadFormat;
  returnMetadata: boolean;
}

function choose(op: string, format: LoadFormat, metadata: unknown): Choice {
  const returnMetadata = bool(metadata ?? false, op, "returnMetadata");
  if (!returnMetadata || format === "safetensors" || format === "gguf") return { format, returnMetadata };
  throw new TypeError(`${op}: an ${format} file has no metadata to return.`);
}

function pick(loaded: WithMetadata, { returnMetadata }: Choice): Arrays | WithMetadata {
  return returnMetadata ? loaded : loaded[0];
}

function readFrom(source: ByteSource, choice: Choice, stream: number): Loaded {
  if (choice.format === "npy") return readNpy(source, stream);
  if (choice.format === "npz") return readNpz(source, stream);
  return pick(readSafetensors(source, stream), choice);
}

function formatOf(path: string, given: unknown): LoadFormat {
  const format = given ?? extname(path).slice(1);
  if (formats.includes(format as LoadFormat)) return format as LoadFormat;
  const from = given === undefined || given === null ? `the extension of ${JSON.stringify(path)}` : "format";
  throw new TypeError(`load: ${from} must be one of ${formats.join(", ")}, got ${describe(format)}.`);
}

/** A view of the bytes; of memory that other threads may write to, a copy. */
function bytesOf(bytes: unknown): Uint8Array {
  if (bytes instanceof ArrayBuffer) return new Uint8Array(bytes);
  if (bytes instanceof SharedArrayBuffer) return new Uint8Array(bytes).slice();
  if (!ArrayBuffer.isView(bytes)) {
    throw new TypeError(`loadFromBytes: bytes must be an ArrayBuffer or a view of one, got ${describe(bytes)}.`);
  }
  const view = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return bytes.buffer instanceof SharedArrayBuffer ? view.slice() : view;
}

/** The stream to load on: MLX has no other loader than the CPU's. */
function onCpu(stream: StreamOrDevice | undefined, op: string): StreamOrDevice {
  if (stream === undefined) return "cpu";
  using device = stream instanceof Stream ? stream.device : null;
  const target = device ?? stream;
  if ((target instanceof Device ? target.type : target) === "gpu") {
    throw new TypeError(`${op}: MLX loads on the CPU only; give a CPU stream, or none.`);
  }
  return stream;
}

function loadGguf(path: string, stream: number, returnMetadata: boolean): WithMetadata {
  const header = checkedGgufHeader(path);
  return tidy((): WithMetadata => [loadGgufTensors(header, stream), returnMetadata ? ggufMetadata(header) : {}]);
}

/** MLX reads GGUF from a path only, and all of it at once: the file goes right after. */
function ggufFromBytes(bytes: Uint8Array, stream: number, returnMetadata: boolean): WithMetadata {
  const folder = mkdtempSync(join(tmpdir(), "mlx-ts-"));
  const path = join(folder, "bytes.gguf");
  try {
    writeFileSync(path, bytes, { mode: 0o600 });
    return loadGguf(path, stream, returnMetadata);
  } catch (error) {
    if (!(error instanceof MlxError)) throw error;
    throw new MlxError("loadFromBytes", error.reason.replaceAll(path, "the bytes"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
