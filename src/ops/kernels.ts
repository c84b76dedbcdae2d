/** Operations of one's own for GPUs: a kernel's source, compiled when it first runs. */

import type { Pointer } from "../backend/types.ts";
import {
  type ArrayInput,
  bool,
  C,
  checkOptions,
  dtype,
  failure,
  float,
  int,
  ints,
  type MxArray,
  produceVector,
  refuse,
  slot,
  str,
  stream,
  type StreamOptions,
  vector,
} from "../core/call.ts";
import { describe } from "../core/describe.ts";
import { type Dtype, isDtype } from "../core/dtype.ts";
import { check, MlxError, takeNativeMessage } from "../core/error.ts";
import { handleOf } from "../core/handle.ts";
import { NativeHandle } from "../core/kinds.ts";
import { keep } from "../core/scope.ts";
import { pointerAddress, textAddress } from "../core/scratch.ts";
import { readSlot } from "../core/slots.ts";

/** The options of `mx.fast.metalKernel`. */
export interface MetalKernelOptions {
  /** Source in front of the kernel: includes, helper functions. Default: none. */
  header?: string | undefined;
  /** Copy inputs that are not row-contiguous. Default: true. */
  ensureRowContiguous?: boolean | undefined;
  /** Declare the outputs as atomic. Default: false. */
  atomicOutputs?: boolean | undefined;
}

/** The options of `mx.fast.cudaKernel`. */
export interface CudaKernelOptions {
  /** Source in front of the kernel: includes, helper functions. Default: none. */
  header?: string | undefined;
  /** Copy inputs that are not row-contiguous. Default: true. */
  ensureRowContiguous?: boolean | undefined;
  /** Bytes of dynamic shared memory of a block. Default: 0. */
  sharedMemory?: number | undefined;
}

/** The three directions of a grid or a group of threads. */
export type Extent = readonly [number, number, number];

/** One run of a kernel. */
export interface KernelCall extends StreamOptions {
  /** An Array or scalar for each input name. */
  inputs: readonly ArrayInput[];
  /** A shape for each output name. */
  outputShapes: readonly (readonly number[])[];
  /** A dtype for each output name. */
  outputDtypes: readonly Dtype[];
  /** Threads in each direction, all groups together. */
  grid: Extent;
  /** Threads of one group in each direction. */
  threadgroup: Extent;
  /** Names in the source and their values: integers, booleans, dtypes. Default: none. */
  template?: readonly (readonly [name: string, value: number | boolean | Dtype])[] | undefined;
  /** What the outputs are filled with beforehand. Default: nothing in particular. */
  initValue?: number | undefined;
  /** Print the source that is compiled. Default: false. */
  verbose?: boolean | undefined;
}

/** A kernel: call it to run it. Disposing it frees it; results stay valid. */
export interface Kernel extends Disposable {
  (call: KernelCall): MxArray[];
  dispose(): void;
}

const callNames = [
  ...["inputs", "outputShapes", "outputDtypes", "grid", "threadgroup", "template", "initValue", "verbose", "stream"],
] as const;

/** The native functions of one family of GPUs, and how its kernels are told apart. */
interface Family {
  readonly op: string;
  readonly platform: string;
  readonly kind: "fast_metal_kernel" | "fast_cuda_kernel";
  isAvailable(out: Pointer): number;
  newConfig(): Pointer;
  freeConfig(config: Pointer): void;
  addOutput(config: Pointer, shape: Pointer, length: number, dtype: number): number;
  setGrid(config: Pointer, x: number, y: number, z: number): number;
  setThreads(config: Pointer, x: number, y: number, z: number): number;
  setInit(config: Pointer, value: number): number;
  setVerbose(config: Pointer, verbose: boolean): number;
  addDtype(config: Pointer, name: Pointer, dtype: number): number;
  addInt(config: Pointer, name: Pointer, value: number): number;
  addBool(config: Pointer, name: Pointer, value: boolean): number;
  apply(out: Pointer, kernel: Pointer, inputs: Pointer, config: Pointer, on: Pointer): number;
}

const metal: Family = {
  op: "fast.metalKernel",
  platform: "Metal",
  kind: "fast_metal_kernel",
  isAvailable: (out) => C.mlx_metal_is_available(out),
  newConfig: () => C.mlx_fast_metal_kernel_config_new(),
  freeConfig: (config) => C.mlx_fast_metal_kernel_config_free(config),
  addOutput: (config, shape, length, code) =>
    C.mlx_fast_metal_kernel_config_add_output_arg(config, shape, length, code),
  setGrid: (config, x, y, z) => C.mlx_fast_metal_kernel_config_set_grid(config, x, y, z),
  setThreads: (config, x, y, z) => C.mlx_fast_metal_kernel_config_set_thread_group(config, x, y, z),
  setInit: (config, value) => C.mlx_fast_metal_kernel_config_set_init_value(config, value),
  setVerbose: (config, verbose) => C.mlx_fast_metal_kernel_config_set_verbose(config, verbose),
  addDtype: (config, name, code) => C.mlx_fast_metal_kernel_config_add_template_arg_dtype(config, name, code),
  addInt: (config, name, value) => C.mlx_fast_metal_kernel_config_add_template_arg_int(config, name, value),
  addBool: (config, name, value) => C.mlx_fast_metal_kernel_config_add_template_arg_bool(config, name, value),
  apply: (out, kernel, inputs, config, on) => C.mlx_fast_metal_kernel_apply(out, kernel, inputs, config, on),
};

const cuda: Family = {
  op: "fast.cudaKernel",
  platform: "CUDA",
  kind: "fast_cuda_kernel",
  isAvailable: (out) => C.mlx_cuda_is_available(out),
  newConfig: () => C.mlx_fast_cuda_kernel_config_new(),
  freeConfig: (config) => C.mlx_fast_cuda_kernel_config_free(config),
  addOutput: (config, shape, length, code) => C.mlx_fast_cuda_kernel_config_add_output_arg(config, shape, length, code),
  setGrid: (config, x, y, z) => C.mlx_fast_cuda_kernel_config_set_grid(config, x, y, z),
  setThreads: (config, x, y, z) => C.mlx_fast_cuda_kernel_config_set_thread_group(config, x, y, z),
  setInit: (config, value) => C.mlx_fast_cuda_kernel_config_set_init_value(config, value),
  setVerbose: (config, verbose) => C.mlx_fast_cuda_kernel_config_set_verbose(config, verbose),
  addDtype: (config, name, code) => C.mlx_fast_cuda_kernel_config_add_template_arg_dtype(config, name, code),
  addInt: (config, name, value) => C.mlx_fast_cuda_kernel_config_add_template_arg_int(config, name, value),
  addBool: (config, name, value) => C.mlx_fast_cuda_kernel_config_add_template_arg_bool(config, name, value),
  apply: (out, kernel, inputs, config, on) => C.mlx_fast_cuda_kernel_apply(out, kernel, inputs, config, on),
};

/** Builds without the platform make kernels silently, and fail only when one runs: so it is asked first. */
function requirePlatform({ op, platform, isAvailable }: Family): void {
  const out = slot();
  check(isAvailable(out), op);
  if ((readSlot(out) & 1) === 1) return;
  throw new MlxError(op, `${platform} is not available: this build of MLX or this machine has none`);
}

function identifier(value: unknown, op: string, name: string): string {
  if (typeof value === "string" && /^[A-Za-z_]\w*$/.test(value)) return value;
  throw new TypeError(`${op}: ${name} must be a name as C has them, got ${describe(value)}.`);
}

function identifiers(value: unknown, op: string, name: string): string[] {
  if (!Array.isArray(value)) throw new TypeError(`${op}: ${name} must be a list of names, got ${describe(value)}.`);
  return value.map((one, i) => identifier(one, op, `${name}[${i}]`));
}

function list(value: unknown, length: number, op: string, name: string): readonly unknown[] {
  if (Array.isArray(value) && value.length === length) return value;
  throw new TypeError(`${op}: ${name} must be a list of ${length}, one for each name, got ${describe(value)}.`);
}

function extent(value: unknown, op: string, name: string): [number, number, number] {
  if (!Array.isArray(value) || value.length !== 3) {
    throw new TypeError(`${op}: ${name} must be a list of three numbers of threads, got ${describe(value)}.`);
  }
  const [x, y, z] = value.map((one, i) => int(one, op, `${name}[${i}]`)) as [number, number, number];
  if (x > 0 && y > 0 && z > 0) return [x, y, z];
  throw new RangeError(`${op}: ${name} must be positive in each direction, got [${x}, ${y}, ${z}].`);
}

/** Runs `use` with a native vector of the names. */
function withNames<T>(names: readonly string[], use: (vector: Pointer) => T): T {
  const addresses = pointerAddress(names.map(textAddress));
  const made = C.mlx_vector_string_new_data(addresses, names.length);
  try {
    return use(made);
  } finally {
    C.mlx_vector_string_free(made);
  }
}

function addTemplate(family: Family, config: Pointer, template: unknown): void {
  const { op } = family;
  if (!Array.isArray(template)) {
    throw new TypeError(`${op}: template must be a list of pairs [name, value], got ${describe(template)}.`);
  }
  for (const [i, pair] of (template as unknown[]).entries()) {
    const [name, value] = Array.isArray(pair) && pair.length === 2 ? (pair as [unknown, unknown]) : [undefined];
    const address = textAddress(identifier(name, op, `the name of template[${i}]`));
    const what = `the value of template[${i}]`;
    if (typeof value === "boolean") check(family.addBool(config, address, value), op);
    else if (isDtype(value)) check(family.addDtype(config, address, dtype(value, op, what)), op);
    else check(family.addInt(config, address, int(value, op, what)), op);
  }
}

function configure(family: Family, config: Pointer, call: KernelCall, outputs: number): void {
  const { op } = family;
  const shapes = list(call.outputShapes, outputs, op, "outputShapes");
  const dtypes = list(call.outputDtypes, outputs, op, "outputDtypes");
  for (const [i, shape] of shapes.entries()) {
    const address = ints(shape, op, `outputShapes[${i}]`);
    const lengths = shape as readonly number[];
    if (lengths.some((length) => length < 0)) {
      throw new RangeError(`${op}: outputShapes[${i}] must not have a negative length, got [${lengths.join(", ")}].`);
    }
    const code = dtype(dtypes[i], op, `outputDtypes[${i}]`);
    check(family.addOutput(config, address, lengths.length, code), op);
  }
  check(family.setGrid(config, ...extent(call.grid, op, "grid")), op);
  check(family.setThreads(config, ...extent(call.threadgroup, op, "threadgroup")), op);
  if (call.template !== undefined) addTemplate(family, config, call.template);
  if (call.initValue !== undefined) check(family.setInit(config, float(call.initValue, op, "initValue")), op);
  if (call.verbose !== undefined) check(family.setVerbose(config, bool(call.verbose, op, "verbose")), op);
}

function run(family: Family, kernel: NativeHandle, inputs: number, outputs: number, call: KernelCall): MxArray[] {
  const { op } = family;
  checkOptions(call, callNames, op);
  const handle = handleOf(kernel, op);
  const arrays = list(call.inputs, inputs, op, "inputs") as readonly ArrayInput[];
  const config = family.newConfig();
  try {
    configure(family, config, call, outputs);
    const on = stream(call, op);
    const given = vector(arrays, op, "inputs");
    const out = slot();
    if (family.apply(out, handle, given, config, on) !== 0) throw failure(op, arrays);
    return produceVector(op, out);
  } finally {
    family.freeConfig(config);
  }
}

/** What both families check and make alike. */
function build(
  family: Family,
  [name, inputNames, outputNames, source, header]: readonly unknown[],
  make: (name: Pointer, inputs: Pointer, outputs: Pointer, source: Pointer, header: Pointer) => Pointer,
): Kernel {
  const { op, kind } = family;
  const title = identifier(name, op, "name");
  const inputs = identifiers(inputNames, op, "inputNames");
  const outputs = identifiers(outputNames, op, "outputNames");
  const body = str(source, op, "source");
  const front = str(header === undefined ? "" : header, op, "header");
  if (source === "" || outputs.length === 0) refuse(new TypeError(`${op}: a kernel has a source and an output.`));
  requirePlatform(family);
  const handle = withNames(inputs, (ins) =>
    withNames(outputs, (outs) => make(textAddress(title), ins, outs, body, front)),
  );
  if (handle === 0 || handle === null) throw new MlxError(op, takeNativeMessage());
  // A function is no value that a scope can follow: it lives until it is disposed or forgotten.
  const kernel = keep(new NativeHandle(kind, handle));
  const call = (one: KernelCall): MxArray[] => run(family, kernel, inputs.length, outputs.length, one);
  const dispose = (): void => kernel.dispose();
  return Object.assign(call, { dispose, [Symbol.dispose]: dispose });
}

/**
 * An operation made of the body of a Metal function, which is compiled when it first runs.
 *
 * The body sees the inputs and outputs under their names, and whatever of Metal's thread positions it mentions; of
 * inputs whose shape, strides or number of axes it mentions (`x_shape`, `x_strides`, `x_ndim`), those too. Throws an
 * MlxError where Metal is not available; a source that does not compile fails when the result is evaluated.
 * Python: `mx.fast.metal_kernel(name, input_names, output_names, source, header, ensure_row_contiguous,
 * atomic_outputs)`.
 *
 * @example
 * const double = mx.fast.metalKernel("twice", ["x"], ["y"], "uint i = thread_position_in_grid.x; y[i] = 2 * x[i];");
 * const [y] = double({
 *   inputs: [x], grid: [x.size, 1, 1], threadgroup: [64, 1, 1], outputShapes: [x.shape], outputDtypes: [x.dtype],
 * });
 */
export function metalKernel(
  name: string,
  inputNames: readonly string[],
  outputNames: readonly string[],
  source: string,
  options: MetalKernelOptions = {},
): Kernel {
  const { op } = metal;
  checkOptions(options, ["header", "ensureRowContiguous", "atomicOutputs"], op);
  const contiguous = bool(options.ensureRowContiguous ?? true, op, "ensureRowContiguous");
  const atomic = bool(options.atomicOutputs ?? false, op, "atomicOutputs");
  return build(metal, [name, inputNames, outputNames, source, options.header], (title, ins, outs, body, front) =>
    C.mlx_fast_metal_kernel_new(title, ins, outs, body, front, contiguous, atomic),
  );
}

/**
 * An operation made of the body of a CUDA kernel, which is compiled when it first runs.
 *
 * The body sees the inputs and outputs under their names. Throws an MlxError where CUDA is not available; a source that
 * does not compile fails when the result is evaluated. Python: `mx.fast.cuda_kernel(name, input_names, output_names,
 * source, header, ensure_row_contiguous, shared_memory)`.
 */
export function cudaKernel(
  name: string,
  inputNames: readonly string[],
  outputNames: readonly string[],
  source: string,
  options: CudaKernelOptions = {},
): Kernel {
  const { op } = cuda;
  checkOptions(options, ["header", "ensureRowContiguous", "sharedMemory"], op);
  const contiguous = bool(options.ensureRowContiguous ?? true, op, "ensureRowContiguous");
  const shared = int(options.sharedMemory ?? 0, op, "sharedMemory");
  if (shared < 0) throw new RangeError(`${op}: sharedMemory must be 0 bytes or more, got ${shared}.`);
  return build(cuda, [name, inputNames, outputNames, source, options.header], (title, ins, outs, body, front) =>
    C.mlx_fast_cuda_kernel_new(title, ins, outs, body, front, contiguous, shared),
  );
}
