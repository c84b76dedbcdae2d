// What each platform's library folder is made of, as data: package, exact version, sha256, and the files taken
// from it. Nothing outside this table decides what is downloaded; a hash is pinned for every platform, also for
// those that this machine cannot build.

export const MLX_VERSION = "0.32.2";
export const MLXC_VERSION = "0.7.0";
/** Number of functions named mlx_ or _mlx_ that libmlxc exports on x86-64: all but the four 16-bit float accessors. */
export const MLXC_EXPORTS = 670;

export type Platform = "linux-x64" | "linux-arm64" | "darwin-arm64" | "linux-x64-cuda";
export type Blas = "openblas" | "reference";

/** One wheel on PyPI: `tag` is pip's --platform, `file` the wheel that pip saves under that tag. */
export interface WheelPin {
  readonly name: string;
  readonly version: string;
  readonly tag: string;
  readonly file: string;
  readonly sha256: string;
}

export interface CratePin {
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
  /** Folder inside the unpacked crate that holds the mlx-c sources. */
  readonly sources: string;
}

export interface Recipe {
  readonly platform: Platform;
  /** node's os/cpu names, and the libc that the npm package asks for. */
  readonly os: "linux" | "darwin";
  readonly cpu: "x64" | "arm64";
  readonly libc?: "glibc";
  /** The wheel to compile against: headers, cmake configuration, and libmlx unless `runtime` replaces it. */
  readonly mlx: WheelPin;
  /** The wheel whose libmlx travels, where that is another one. */
  readonly runtime?: WheelPin;
  readonly crate: CratePin;
  readonly openblas?: WheelPin;
  /** Folder in the wheel that holds the libraries MLX needs beside it (reference BLAS, gfortran runtime). */
  readonly wheelLibraries?: string;
  /** Folders beside lib/ in the wheel that libmlx reads at run time, kept at the same place beside it. */
  readonly runtimeFolders?: readonly string[];
  /** File names of MLX, mlx-c and the shim in the finished folder. */
  readonly files: {
    readonly mlx: string;
    readonly mlxc: string;
    readonly shim: string;
    readonly extra: readonly string[];
  };
  /** Compilers to look for, in order; the first that exists is used. */
  readonly compilers: readonly { readonly c: string; readonly cxx: string }[];
  /** Extra cmake settings. */
  readonly cmake: readonly string[];
  readonly binutilsPrefix: string;
  /** Says what has been run of this recipe, in one sentence; shown by --dry-run. */
  readonly status: string;
}

const CRATE: CratePin = {
  name: "mlx-sys",
  version: "0.7.0",
  sha256: "da965f83ce211b80f9b681d9bbd6fa625fe6bb2e659ba7bc55dd95eea8d3b028",
  sources: "src/mlx-c",
};

const OPENBLAS_VERSION = "0.3.34.481.3";

const LINUX_FILES = { mlx: "libmlx.so", mlxc: "libmlxc.so", shim: "libmlxts.so", extra: [] } as const;

const LINUX_X64: Recipe = {
  platform: "linux-x64",
  os: "linux",
  cpu: "x64",
  libc: "glibc",
  mlx: {
    name: "mlx-cpu",
    version: MLX_VERSION,
    tag: "manylinux_2_35_x86_64",
    file: `mlx_cpu-${MLX_VERSION}-py3-none-manylinux_2_35_x86_64.whl`,
    sha256: "fc5d31b90fc4f457b2f9614ed45651a567d22a6a11a03d114a90a4e10bdd8878",
  },
  crate: CRATE,
  openblas: {
    name: "scipy-openblas32",
    version: OPENBLAS_VERSION,
    tag: "manylinux_2_28_x86_64",
    file: `scipy_openblas32-${OPENBLAS_VERSION}-py3-none-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl`,
    sha256: "0595f94cd58c1f8a0d90c975621f4587337a003916b1979e834ebdf2cb5d9504",
  },
  wheelLibraries: "mlx_cpu.libs",
  files: LINUX_FILES,
  compilers: [
    { c: "gcc", cxx: "g++" },
    { c: "clang", cxx: "clang++" },
  ],
  cmake: [],
  binutilsPrefix: "",
  status: "built and tested on Linux x86-64",
};

const LINUX_ARM64: Recipe = {
  ...LINUX_X64,
  platform: "linux-arm64",
  cpu: "arm64",
  mlx: {
    name: "mlx-cpu",
    version: MLX_VERSION,
    tag: "manylinux_2_35_aarch64",
    file: `mlx_cpu-${MLX_VERSION}-py3-none-manylinux_2_35_aarch64.whl`,
    sha256: "d0f94625588b51a878786dd51cec5617894ce586cf3c94645ce1b64e24c27c0b",
  },
  openblas: {
    name: "scipy-openblas32",
    version: OPENBLAS_VERSION,
    tag: "manylinux_2_28_aarch64",
    file: `scipy_openblas32-${OPENBLAS_VERSION}-py3-none-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl`,
    sha256: "e085dddbc5b9aa130f83def515d31c440e69f387a90c7e63b154a5575b4466bc",
  },
  compilers: [
    { c: "aarch64-linux-gnu-gcc", cxx: "aarch64-linux-gnu-g++" },
    { c: "gcc", cxx: "g++" },
  ],
  cmake: ["-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64"],
  binutilsPrefix: "aarch64-linux-gnu-",
  status:
    "cross-compiled with Debian's aarch64-linux-gnu g++ and tested under QEMU (bun run test:arm64); unverified on an arm64 machine",
};

// CUDA replaces libmlx.so under the very same libmlxc.so and shim, which are compiled against the CPU wheel (the CUDA
// one's cmake configuration asks for a CUDA toolkit). libmlx then looks for NVIDIA's cublas, cudnn, cufft, nccl and
// nvrtc in ../../nvidia, as pip installs them, and on the library path; they are the user's to install.
const LINUX_X64_CUDA: Recipe = {
  ...LINUX_X64,
  platform: "linux-x64-cuda",
  runtime: {
    name: "mlx-cuda-13",
    version: MLX_VERSION,
    tag: "manylinux_2_35_x86_64",
    file: `mlx_cuda_13-${MLX_VERSION}-py3-none-manylinux_2_35_x86_64.whl`,
    sha256: "335094ccd1c0c6dc3e09c8caba207c8180602bacc0c38ba20c1d81e9456ab394",
  },
  wheelLibraries: "mlx_cuda_13.libs",
  // The headers that MLX hands to NVIDIA's compiler when it makes a kernel: without them most programs fail.
  runtimeFolders: ["include/cccl", "include/cute", "include/cutlass"],
  status:
    "run on one NVIDIA H200 (docs/unverified.md); needs NVIDIA's cublas, cudnn, cufft, nccl and nvrtc, which pip installs",
};

const DARWIN_ARM64: Recipe = {
  platform: "darwin-arm64",
  os: "darwin",
  cpu: "arm64",
  mlx: {
    name: "mlx-metal",
    version: MLX_VERSION,
    tag: "macosx_14_0_arm64",
    file: `mlx_metal-${MLX_VERSION}-py3-none-macosx_14_0_arm64.whl`,
    sha256: "3825fff379dbc107dd3413e564a06caeaa24819910ec49c0439e454c06a1b9b8",
  },
  crate: CRATE,
  // MLX on a Mac uses Apple's Accelerate: no BLAS travels with it.
  files: {
    mlx: "libmlx.dylib",
    mlxc: "libmlxc.dylib",
    shim: "libmlxts.dylib",
    extra: ["libjaccl.dylib", "mlx.metallib"],
  },
  compilers: [{ c: "clang", cxx: "clang++" }],
  cmake: ["-DCMAKE_OSX_ARCHITECTURES=arm64", "-DCMAKE_OSX_DEPLOYMENT_TARGET=14.0"],
  binutilsPrefix: "",
  status: "unverified: the sources compile for macOS from Linux, but this recipe has not been run on a Mac",
};

export const recipes: Readonly<Record<Platform, Recipe>> = {
  "linux-x64": LINUX_X64,
  "linux-arm64": LINUX_ARM64,
  "darwin-arm64": DARWIN_ARM64,
  "linux-x64-cuda": LINUX_X64_CUDA,
};

export const platforms: readonly Platform[] = ["linux-x64", "linux-arm64", "darwin-arm64", "linux-x64-cuda"];

/** The recipe that fits a host, or undefined when none does. */
export function hostPlatform(os: string, cpu: string): Platform | undefined {
  const found = platforms.find((name) => recipes[name].os === os && recipes[name].cpu === cpu);
  return found;
}
