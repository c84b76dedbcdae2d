// What is said when a build for NVIDIA's GPUs lacks NVIDIA's libraries.
import { expect, test } from "bun:test";
import { nvidiaAdvice } from "../../src/backend/nvidia.ts";

const reason = (name: string): string =>
  `Failed to open library "/x/lib/libmlxts.so": ${name}: cannot open shared object file: No such file or directory`;

test("a library of NVIDIA's: the packages, and the link that MLX finds them by", () => {
  for (const name of ["libnccl.so.2", "libcublasLt.so.13", "libcudnn_graph.so.9", "libnvrtc.so.13", "libcufft.so.12"]) {
    const advice = nvidiaAdvice(reason(name), "/x/build/linux-x64-cuda/lib");
    expect(advice).toStartWith(`This build is for NVIDIA GPUs, and ${name} is not there`);
    expect(advice).toContain("pip install mlx-cuda-13");
    expect(advice).toContain('"/x/build/nvidia"');
  }
});

test("the driver's own library: no package helps", () => {
  const advice = nvidiaAdvice(reason("libcuda.so.1"), "/x/lib");
  expect(advice).toContain("NVIDIA's driver");
  expect(advice).not.toContain("pip");
});

test("any other reason is another's", () => {
  for (const text of [reason("libblas.so.3"), "libnccl.so.2: invalid ELF header", ""]) {
    expect(nvidiaAdvice(text, "/x/lib")).toBeNull();
  }
});
