/** Functions in files: exportFunction, exporter, importFunction. */

import { renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Pointer } from "../backend/types.ts";
import { bool, str } from "../core/args.ts";
import type { MxArray } from "../core/array.ts";
import { callClosures, nativeClosure } from "../core/callbacks.ts";
import { callForArrays, takeArrays, vectorOf, withVector, writeGraph } from "../core/closure.ts";
import { describe } from "../core/describe.ts";
import { MlxError, takeNativeMessage } from "../core/error.ts";
import { Handle, handleOf, internal } from "../core/handle.ts";
import { NativeHandle } from "../core/kinds.ts";
import type { Kind } from "../core/ledger.ts";
import { arrayMapOf, readArrayMap } from "../core/map.ts";
import { backend, C } from "../core/native.ts";
import { checkOptions, isOptions } from "../core/options.ts";
import { keep, requireFunction } from "../core/scope.ts";
import { textAddress } from "../core/scratch.ts";
import { traceShapes } from "../core/shapeless.ts";
import { onClearStreams } from "../core/stream.ts";
import { isLeaf } from "../core/tree.ts";
import { saveAtomically } from "../io/atomic.ts";
import { checkExported } from "./check.ts";
import { seal } from "./seal.ts";

/** Arrays by name: what Python gives by keyword. */
export type NamedArrays = Readonly<Record<string, MxArray>>;

/** Arrays, then an object with named ones where the function takes any. */
export type ExportArgs = readonly [...arrays: MxArray[], named: NamedArrays] | readonly MxArray[];

/** A function that can be exported: it gets the Arrays, then one object with the named ones where there are any. */
export type ExportableFunction = (...args: never[]) => MxArray | readonly MxArray[];

/** The options of `exporter`. */
export interface ExporterOptions {
  /** Take inputs of any shape with the same number of axes. Default: false. */
  shapeless?: boolean | undefined;
  /** A text to store beside the function. Default: none. */
  metadata?: string | undefined;
}

/** The options of `exportFunction`. */
export interface ExportOptions extends ExporterOptions {
  /** Example inputs that are given by name. Default: none. */
  kwargs?: NamedArrays | undefined;
}

/** The options of `importFunction`. */
export interface ImportOptions {
  /** Read a file without the checksum of mlx-ts, which is as Python MLX wrote it. Default: false. */
  trusted?: boolean | undefined;
}

/** A function that was read from a file. Disposing it frees it; its results stay valid. */
export interface ImportedFunction extends Disposable {
  (...args: ExportArgs): MxArray[];
  /** The text that was stored beside the function; "" where there is none. */
  readonly metadata: string;
  dispose(): void;
}

const exporterKind: Kind = { name: "FunctionExporter", free: (handle) => C.mlxts_exporter_free(handle) };

function named(value: unknown, operation: string): NamedArrays {
  if (!isOptions(value)) {
    throw new TypeError(`${operation}: named inputs must be an object of Arrays, got ${describe(value)}.`);
  }
  for (const [name, array] of Object.entries(value)) {
    str(name, operation, "the name of an input");
    if (!isLeaf(array)) throw new TypeError(`${operation}: ${name} must be an Array, got ${describe(array)}.`);
  }
  return value as NamedArrays;
}

/** Splits `f(a, b, { c })`. */
function split(args: readonly unknown[], operation: string): { arrays: MxArray[]; kwargs: NamedArrays } {
  const last = args.at(-1);
  const arrays = (isOptions(last) ? args.slice(0, -1) : args) as MxArray[];
  return { arrays, kwargs: isOptions(last) ? named(last, operation) : {} };
}

/** Runs `call` with native inputs. The call may run closures. */
function withInputs(
  arrays: readonly MxArray[],
  kwargs: NamedArrays,
  operation: string,
  call: (arrays: Pointer, kwargs: Pointer) => number,
): void {
  const vector = vectorOf(arrays, operation);
  try {
    const map = arrayMapOf(kwargs, operation);
    try {
      callClosures(operation, () => call(vector, map));
    } finally {
      C.mlx_map_string_to_array_free(map);
    }
  } finally {
    C.mlx_vector_array_free(vector);
  }
}

/** A native closure over Arrays and named Arrays. */
function closureOf(fn: ExportableFunction, operation: string, shapeless: boolean): NativeHandle {
  const raw = (out: Pointer, inputs: Pointer, names: Pointer): void => {
    const arrays: unknown[] = takeArrays(inputs, operation);
    const kwargs = readArrayMap(names);
    if (Object.keys(kwargs).length > 0) arrays.push(kwargs);
    writeGraph(
      out,
      traceShapes(shapeless, () => fn(...(arrays as never[]))),
      inputs,
    );
  };
  const handle = nativeClosure("closure_kwargs", raw, (callback, payload, destructor) =>
    C.mlx_closure_kwargs_new_func_payload(callback, payload, destructor),
  );
  return new NativeHandle("closure_kwargs", handle);
}

/** Owns MLX's side of an exporter. */
class NativeExporter extends Handle {
  constructor(handle: Pointer) {
    super(internal, handle, 0, exporterKind);
  }
}

/**
 * Writes several traces of one function into one file: call `add` once for each form of the inputs, then `close`.
 * Made by `exporter`. Python: mx.FunctionExporter.
 */
export class FunctionExporter implements Disposable {
  readonly #path: string;
  readonly #operation: string;
  /** Where MLX writes until the file is whole. */
  readonly #draft: string;
  readonly #native: NativeExporter;
  readonly #closure: NativeHandle;
  #failed = false;
  #running = false;

  /** @internal */
  constructor(
    key: typeof internal,
    path: string,
    fn: ExportableFunction,
    options: ExporterOptions,
    operation = "exporter",
  ) {
    if (key !== internal) throw new TypeError("FunctionExporter: use mx.exporter.");
    this.#operation = operation;
    const shapeless = bool(options.shapeless ?? false, operation, "shapeless");
    const metadata = options.metadata ?? "";
    str(metadata, operation, "metadata");
    this.#path = path;
    this.#draft = draftOf(path, operation);
    this.#closure = keep(closureOf(fn, operation, shapeless));
    const function_ = handleOf(this.#closure, operation);
    const handle = C.mlxts_exporter_new(textAddress(this.#draft), function_, shapeless, textAddress(metadata));
    if (handle === 0 || handle === null) {
      this.#closure.dispose();
      throw new MlxError(operation, `${path} cannot be written: ${takeNativeMessage()}`);
    }
    this.#native = keep(new NativeExporter(handle));
  }

  /**
   * Runs the function with these example inputs and writes what it computed. Throws what the function throws, and an
   * MlxError for an operation that cannot be exported; the exporter is of no use then.
   */
  add(...args: ExportArgs): void {
    const operation = this.#operation;
    const handle = handleOf(this.#native, operation);
    if (this.#running) throw new MlxError(operation, "the function that is being exported cannot export itself");
    if (this.#failed) throw new MlxError(operation, "an earlier trace failed, and left half of itself in the file");
    const { arrays, kwargs } = split(args, operation);
    this.#failed = true;
    this.#running = true;
    try {
      withInputs(arrays, kwargs, operation, (vector, map) => C.mlx_function_exporter_apply_kwargs(handle, vector, map));
      this.#failed = false;
    } finally {
      this.#running = false;
    }
  }

  /** Puts the file in its place; the one that was there stays when a trace failed. Later calls do nothing. */
  close(): void {
    if (this.#native.disposed) return;
    // Native code is on the stack, and would go on with what was freed.
    if (this.#running) throw new MlxError(this.#operation, "an exporter cannot be closed by the function that it runs");
    this.#native.dispose();
    this.#closure.dispose();
    if (this.#failed) {
      rmSync(this.#draft, { force: true });
      return;
    }
    try {
      seal(this.#draft, statSync(this.#draft).size);
      saveAtomically(this.#path, "", this.#operation, (place) => renameSync(this.#draft, place));
    } catch (error) {
      rmSync(this.#draft, { force: true });
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function draftOf(path: string, operation: string): string {
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new MlxError(operation, `${path} cannot be written: there is no folder ${folder}.`);
  }
  const unique = `${process.pid}-${Math.random().toString(36).slice(2, 10)}`;
  return join(folder, `.${basename(path).slice(0, 40)}.${unique}.draft`);
}

/**
 * An exporter, which writes traces of `fn` for several forms of its inputs into one file.
 *
 * The file appears when the exporter is closed, at the end of its `using` block for instance; `close` throws an
 * MlxError when it cannot be written. Throws an MlxError for a folder that does not exist.
 * Python: `mx.exporter(file, fun, *, shapeless=False, metadata=None)`.
 *
 * @example
 * {
 *   using exporter = mx.exporter("sum.mlxfn", (...xs: mx.Array[]) => xs.reduce((a, b) => a.add(b)));
 *   exporter.add(mx.array(1));
 *   exporter.add(mx.array(1), mx.array(2));
 * }
 */
export function exporter(path: string, fn: ExportableFunction, options: ExporterOptions = {}): FunctionExporter {
  checkOptions(options, ["shapeless", "metadata"], "exporter");
  str(path, "exporter", "path");
  requireFunction(fn, "exporter");
  return new FunctionExporter(internal, path, fn, options);
}

/**
 * Writes what `fn` computes for inputs of these shapes and dtypes into a file, with the Arrays that it closes over.
 *
 * `args` are examples: their values do not matter. `fn` gets them, then one object with the Arrays of `kwargs` where
 * there are any, and returns an Array or a list of them. It runs once. What is computed by a custom function or kernel
 * cannot be exported. The former file stays when anything fails. Throws what `fn` throws, and an MlxError for an
 * operation that cannot be exported or a file that cannot be written.
 * Python: `mx.export_function(file, fun, *args, shapeless=False, metadata=None, **kwargs)`.
 *
 * @example
 * mx.exportFunction("scale.mlxfn", (x: mx.Array) => x.multiply(2), [mx.zeros([3])]);
 * using scale = mx.importFunction("scale.mlxfn");
 * const [y] = scale(mx.array([1, 2, 3])); // array([2, 4, 6], dtype=float32)
 */
export function exportFunction(
  path: string,
  fn: ExportableFunction,
  args: readonly MxArray[],
  options: ExportOptions = {},
): void {
  const operation = "exportFunction";
  checkOptions(options, ["kwargs", "shapeless", "metadata"], operation);
  str(path, operation, "path");
  requireFunction(fn, operation);
  if (!Array.isArray(args) || !args.every(isLeaf)) {
    throw new TypeError(`${operation}: args must be a list of Arrays, got ${describe(args)}.`);
  }
  const names = named(options.kwargs ?? {}, operation);
  using file = new FunctionExporter(internal, path, fn, options, operation);
  const inputs = Object.keys(names).length === 0 ? args : [...args, names];
  file.add(...(inputs as unknown as readonly MxArray[]));
}

/**
 * The function in a file that `exportFunction`, or Python MLX, wrote. It takes Arrays, then an object with named ones
 * where it was exported with any, and gives a list of Arrays.
 *
 * A file of mlx-ts that was changed or cut off is refused by its checksum. One that Python wrote has none, and MLX
 * crashes at some damaged files: `trusted` says that it is as it was written. Throws an MlxError for what is no such
 * file; the function throws one for inputs whose shapes and dtypes it was not exported for, which it then lists. The
 * file may be replaced, not changed in place, while the function lives: its Arrays are read when they are needed. MLX
 * computes all imported functions on streams of the thread that imported first: in other Workers their results cannot be
 * evaluated, and `clearStreams` is refused from then on.
 * Python: `mx.import_function(file, return_metadata=False)`; the metadata is a property of the function here.
 */
export function importFunction(path: string, options: ImportOptions = {}): ImportedFunction {
  const operation = "importFunction";
  checkOptions(options, ["trusted"], operation);
  str(path, operation, "path");
  checkExported(path, bool(options.trusted ?? false, operation, "trusted"));
  const address = textAddress(path);
  const handle = C.mlx_imported_function_new(address);
  if (handle === 0 || handle === null) throw new MlxError(operation, takeNativeMessage());
  const native = keep(new NativeHandle("imported_function", handle));
  if (!holdsStreams) onClearStreams(refuseToClear);
  holdsStreams = true;
  const metadata = backend.text(C.mlxts_imported_metadata(handle));
  const call = (...args: ExportArgs): MxArray[] => apply(native, args);
  const dispose = (): void => native.dispose();
  return Object.assign(call, { metadata, dispose, [Symbol.dispose]: dispose });
}

let holdsStreams = false;

function refuseToClear(): void {
  throw new MlxError(
    "clearStreams",
    "MLX computes imported functions on streams that it makes once, and would go on using when they are gone",
  );
}

function apply(native: NativeHandle, args: ExportArgs): MxArray[] {
  const operation = "importedFunction";
  const handle = handleOf(native, operation);
  const { arrays, kwargs } = split(args, operation);
  const map = arrayMapOf(kwargs, operation);
  try {
    return withVector(arrays, operation, (vector) =>
      callForArrays(operation, (out) => C.mlx_imported_function_apply_kwargs(out, handle, vector, map)),
    );
  } finally {
    C.mlx_map_string_to_array_free(map);
  }
}
