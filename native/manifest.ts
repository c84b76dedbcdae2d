// What a finished library folder says about itself (manifest.json beside lib/), and when it may be kept.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Blas, MLX_VERSION, MLXC_VERSION, type Platform, type Recipe } from "./recipes.ts";
import { sha256 } from "./tools.ts";

export interface Variant {
  readonly blas: Blas;
  readonly asan: boolean;
}

export interface Manifest {
  readonly platform: Platform;
  readonly mlx: string;
  readonly mlxc: string;
  readonly blas: string;
  readonly asan: boolean;
  /** Where the parts came from: "name version" and the sha256 that was checked. */
  readonly sources: readonly { readonly name: string; readonly version: string; readonly sha256: string }[];
  readonly mlxcLibrary: string;
  readonly shimLibrary: string;
  /** BLAS and LAPACK functions that the forwarder passes to OpenBLAS. */
  readonly forwarded: readonly string[];
  readonly files: readonly { readonly name: string; readonly bytes: number; readonly sha256: string }[];
  /** Hash of everything that the build depends on. */
  readonly stamp: string;
}

/** Describes a finished lib folder. */
export function manifestOf(
  recipe: Recipe,
  variant: Variant,
  lib: string,
  forwarded: readonly string[],
  stamp: string,
): Manifest {
  const openblas = variant.blas === "openblas" ? recipe.openblas : undefined;
  const blas =
    recipe.os === "darwin" ? "Accelerate" : openblas ? `OpenBLAS (${openblas.name} ${openblas.version})` : "reference";
  const pins = [recipe.mlx, recipe.runtime, recipe.crate, openblas].filter((pin) => pin !== undefined);
  return {
    platform: recipe.platform,
    mlx: MLX_VERSION,
    mlxc: MLXC_VERSION,
    blas,
    asan: variant.asan,
    sources: pins.map((pin) => ({ name: pin.name, version: pin.version, sha256: pin.sha256 })),
    mlxcLibrary: recipe.files.mlxc,
    shimLibrary: recipe.files.shim,
    forwarded,
    files: readdirSync(lib)
      .sort()
      .map((name) => ({ name, bytes: statSync(join(lib, name)).size, sha256: sha256(join(lib, name)) })),
    stamp,
  };
}

// Sources whose change must lead to a new build.
const INPUTS = [
  "recipes.ts",
  "assemble.ts",
  "blas.ts",
  "fetch.ts",
  "patch.ts",
  "licences.ts",
  "manifest.ts",
  "CMakeLists.txt",
  "cmake/MLXConfig.cmake",
];

/** Hash of the recipe, the variant and every source that the build reads. */
export function stampOf(recipe: Recipe, variant: Variant, source: string): string {
  const hasher = new Bun.CryptoHasher("sha256");
  hasher.update(JSON.stringify({ recipe, variant }));
  const shim = readdirSync(join(source, "shim"))
    .sort()
    .map((name) => `shim/${name}`);
  for (const name of [...INPUTS, ...shim]) {
    hasher.update(`\n${name}\n`);
    hasher.update(readFileSync(join(source, name)));
  }
  return hasher.digest("hex");
}

/** The manifest in a finished folder, if there is one. */
export function readManifest(folder: string): Manifest | undefined {
  const path = join(folder, "manifest.json");
  if (!existsSync(path)) return undefined;
  return JSON.parse(readFileSync(path, "utf8")) as Manifest;
}

/** True when the folder was built from exactly these inputs and every file is still there in its size. */
export function isCurrent(folder: string, stamp: string): boolean {
  const manifest = readManifest(folder);
  if (manifest === undefined || manifest.stamp !== stamp) return false;
  return manifest.files.every((file) => {
    const path = join(folder, "lib", file.name);
    return existsSync(path) && statSync(path).size === file.bytes;
  });
}
