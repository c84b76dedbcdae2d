// Which unit tests `bun run test:cuda` runs.

/** Folders of test/ whose files run on an NVIDIA GPU too. */
export const folders: readonly string[] = ["core", "ops", "transforms", "io", "property", "export", "crash"];
/** Files of them that speak of the CPU's library, tools or words, with the reason. */
export const leftOut: Readonly<Record<string, string>> = {
  "test/core/call.test.ts": "counts handles where the CPU is the default device",
  "test/core/clear-streams.test.ts": "expects that there is no GPU",
  "test/core/create.test.ts": "makes float64 arrays on the default device",
  "test/core/device.test.ts": "free memory changes between two questions",
  "test/core/evaluate.test.ts": "counts handles, and asks for more memory than there is in the CPU's words",
  "test/core/ledger.test.ts": "counts handles where the CPU is the default device",
  "test/core/memory.test.ts": "a GPU gives memory back when its work is over",
  "test/core/native.test.ts": "about finding the CPU's library",
  "test/core/operands.test.ts": "makes float64 arrays on the default device",
  "test/core/readback.test.ts": "makes float64 arrays on the default device",
  "test/core/stream.test.ts": "expects that the CPU is the default device",
  "test/ops/countable.test.ts": "factorises matrices, on the CPU alone in MLX",
  "test/ops/dtypes.test.ts": "makes float64 arrays on the default device",
  "test/ops/fuzz.test.ts": "makes float64 arrays on the default device",
  "test/ops/kernels.test.ts": "expects that there is no GPU",
  "test/ops/namespaces.test.ts": "factorises matrices, on the CPU alone in MLX",
  "test/ops/products.test.ts": "compares quantized bits, which a GPU rounds otherwise",
  "test/ops/quantized-modes.test.ts": "expects that there is no GPU",
  "test/transforms/compile.test.ts": "compiles for the CPU too, which needs g++ 12 or older",
  "test/transforms/planned-ends.test.ts": "inverts matrices, on the CPU alone in MLX",
  "test/crash/storage.test.ts": "expects storage that the host can read",
  "test/property/storage.test.ts": "expects storage that the host can read",
  "test/io/fuzz.test.ts": "bounds the resident memory, to which the driver adds its own at the first use of the GPU",
  "test/io/save.test.ts": "makes float64 arrays on the default device",
  "test/property/indexing.test.ts":
    "minutes, as each form of an index is a kernel to compile (test/ops/indexing.test.ts and the parity data have many)",
  "test/export/function.test.ts": "needs a Python with the CPU's MLX",
};
