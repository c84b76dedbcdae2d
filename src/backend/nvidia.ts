/** What a build for NVIDIA's GPUs needs beside itself, and what to say when it is not there. */

import { join } from "node:path";

const missing = /\b(lib(?:cublas|cublasLt|cuda|cudnn\w*|cufft|nccl|nvrtc)\.so[.\d]*): cannot open shared object file/;

/**
 * The advice for a library that could not be opened because one of NVIDIA's is missing; null for any other reason.
 * `folder` is the one that the library is in.
 */
export function nvidiaAdvice(reason: string, folder: string): string | null {
  const name = missing.exec(reason)?.[1];
  if (name === undefined) return null;
  if (name.startsWith("libcuda.")) {
    return `This build is for NVIDIA GPUs, and ${name} is not there, which comes with NVIDIA's driver. On a machine without such a GPU, use the build for the CPU.`;
  }
  return (
    `This build is for NVIDIA GPUs, and ${name} is not there: NVIDIA's libraries are installed apart from it. ` +
    `"pip install mlx-cuda-13 nvidia-cuda-crt" brings them. Then link the folder that they are in, ` +
    `ln -s "$(python3 -c 'import nvidia; print(list(nvidia.__path__)[0])')" "${join(folder, "..", "..", "nvidia")}", ` +
    `or put its lib folders on LD_LIBRARY_PATH before the program starts.`
  );
}
