// The parity cases, which Python MLX computed on a CPU, that come out otherwise on an NVIDIA GPU: by what is reported,
// with the reason. All of them are MLX's own.

export interface Difference {
  /** In the message of the case. */
  readonly message: RegExp;
  /** Beginnings of the names that it holds for; all when absent. */
  readonly names?: readonly string[];
  readonly reason: string;
}

export const differences: readonly Difference[] = [
  { message: /float64 is not supported on the GPU/, reason: "MLX's GPUs have no float64" },
  { message: /is not yet supported on the GPU\. Explicitly pass a CPU stream/, reason: "on the CPU alone in MLX" },
  { message: /GPU scatter does not yet support (?:int64|complex64)/, reason: "no atomic update of 8 bytes" },
  { message: /Can not do unary op Arc(?:Sinh|Tanh) on input of complex64/, reason: "no such kernel" },
  {
    message: /Failed to compile kernel: .*hadamard\.cuh/s,
    names: ["mx.hadamard_transform"],
    reason: "a kernel of MLX's",
  },
  {
    message: /no suitable conversion function from "mlx::core::cu::complex64_t"/,
    reason: "|complex| in compiled code",
  },
  { message: /^result\[0\]: element/, names: ["mx.quantize"], reason: "rounds halves the other way" },
];
