/** mlx-ts: MLX for TypeScript. `import * as mx from "mlx-ts"`. */

import { createRequire } from "node:module";
import "./core/self-test.ts";
import "./ops/indexing/install.ts";
import "./storage/install.ts";

export { type ArrayInput, MxArray as Array } from "./core/array.ts";
export { blasName, blasThreads, setBlasThreads } from "./core/blas.ts";
export { type ArrayFunction, Closure } from "./core/closure.ts";
export { array, type ArrayLiteral, type ArrayOptions, type TypedArrayInput } from "./core/create.ts";
export {
  cpu,
  defaultDevice,
  Device,
  type DeviceType,
  deviceCount,
  deviceInfo,
  gpu,
  isAvailable,
} from "./core/device.ts";
export {
  bfloat16,
  bool,
  complex64,
  type Dtype,
  float16,
  float32,
  float64,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
} from "./core/dtype.ts";
export { DisposedError, LibraryError, MlxError } from "./core/error.ts";
export { asyncEval, evaluate as eval } from "./core/evaluate.ts";
export { collectForgotten, memory, type MemoryReport, setMemoryBudget } from "./core/ledger.ts";
export {
  activeMemory,
  cacheMemory,
  clearCache,
  memoryLimit,
  peakMemory,
  resetPeakMemory,
  setCacheLimit,
  setMemoryLimit,
  setWiredLimit,
} from "./core/memory.ts";
export { getPrintoptions, type PrintOptions, printoptions, setPrintoptions } from "./core/printing.ts";
export type { Element, Nested, TypedArray } from "./core/readback.ts";
export type { ReadyOptions } from "./core/ready.ts";
export { type Complex, float, type Scalar, type WeakFloat } from "./core/scalar.ts";
export { dispose, keep, type NotPromise, tidy } from "./core/scope.ts";
export {
  clearStreams,
  defaultStream,
  newStream,
  newThreadLocalStream,
  newThreadUnsafeStream,
  setDefaultDevice,
  setDefaultStream,
  Stream,
  type StreamOptions,
  type StreamOrDevice,
  synchronize,
  ThreadLocalStream,
  withStream,
} from "./core/stream.ts";
export { treeState, type TreeState } from "./core/tree.ts";
export { type Versions, versions } from "./core/versions.ts";
export { exportToDot } from "./export/dot.ts";
export {
  type ExportableFunction,
  type ExportArgs,
  type ExporterOptions,
  exporter,
  exportFunction,
  type ExportOptions,
  FunctionExporter,
  importFunction,
  type ImportedFunction,
  type ImportOptions,
  type NamedArrays,
} from "./export/function.ts";
export { type GgufEntry, type GgufHeader, type GgufScalar, type GgufTensor, readGgufHeader } from "./io/gguf-header.ts";
export {
  load,
  loadFromBytes,
  type LoadBytesOptions,
  type LoadFormat,
  type LoadOptions,
  type Metadata,
} from "./io/load.ts";
export { save, saveSafetensors, type SaveSafetensorsOptions, saveSafetensorsToBytes, saveToBytes } from "./io/save.ts";
export { saveGguf, type SaveGgufOptions } from "./io/save-gguf.ts";
export { savez, savezCompressed, savezCompressedToBytes, savezToBytes } from "./io/save-npz.ts";
export {
  type MetalExportOptions,
  type StorageExport,
  StorageExportError,
  type StorageExportOptions,
} from "./storage/attempt.ts";
export { DLPackCapsule } from "./storage/dlpack.ts";
export { exportMetalStorage, exportStorage, tryExportMetalStorage, tryExportStorage } from "./storage/export.ts";
export type { StorageBackend, StorageStatus } from "./storage/layout.ts";
export { StorageView } from "./storage/view.ts";
export type { Axes } from "./transforms/axes.ts";
export { checkpoint } from "./transforms/checkpoint.ts";
export { compile, type Compiled, type CompileOptions, disableCompile, enableCompile } from "./transforms/compile.ts";
export { type Bundle, customFunction, type CustomRules } from "./transforms/custom.ts";
export {
  type CombineOptions,
  type FoldOptions,
  type Ran,
  type RangeCombine,
  type RangeProgress,
  type RangeStep,
  runPlanned,
  type RunPlannedOptions,
} from "./transforms/planned.ts";
export { type FlatFunction, jvp, vjp } from "./transforms/products.ts";
export { vmap, type VmapOptions } from "./transforms/vmap.ts";
export { grad, type GradOf, type GradOptions, valueAndGrad, type ValueAndGrads } from "./transforms/grad.ts";
export * as cuda from "./platforms/cuda.ts";
export * as distributed from "./distributed/index.ts";
export * as metal from "./platforms/metal.ts";
export * from "./ops/index.ts";
export { indexChecks, setIndexChecks } from "./ops/index-checks.ts";
export type { IndexPart, SliceText } from "./ops/indexing/parts.ts";
export type { ArrayAt } from "./ops/indexing/update.ts";

// At once, before anything is computed, and only where it is asked for: a program that is not traced loads no tracer.
if (globalThis.process?.env["MLX_TS_TRACE"]) startTracing();

function startTracing(): void {
  let tracing: { startFromEnvironment(): void };
  try {
    tracing = createRequire(import.meta.url)("mlx-ts/trace") as typeof tracing;
  } catch (error) {
    // A bundle does not hold what nothing in it imports.
    console.error(
      `mlx-ts: MLX_TS_TRACE is set, but mlx-ts/trace was not found, as in a bundled program: tracing begins only where the program imports it and calls startFromEnvironment(). ${String(error)}`,
    );
    return;
  }
  tracing.startFromEnvironment();
}
