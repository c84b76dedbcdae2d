// One platform's library folder, from the recipe to the manifest.
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { exportedNames, installOpenblas, referenceFiles } from "./blas.ts";
import { fetchCrate, fetchWheel, unpackCrate, unpackWheel } from "./fetch.ts";
import { copyLicences } from "./licences.ts";
import { type Manifest, manifestOf, type Variant } from "./manifest.ts";
import { patchFolder } from "./patch.ts";
import { MLXC_EXPORTS, MLXC_VERSION, type Recipe } from "./recipes.ts";
import { BuildError, realFolder, run, type Tools } from "./tools.ts";

export interface Job {
  readonly recipe: Recipe;
  readonly variant: Variant;
  /** native/ itself. */
  readonly source: string;
  /** Downloads, shared by all platforms. */
  readonly cache: string;
  /** Scratch, removed and made anew. */
  readonly work: string;
  /** The finished folder: lib/, licences/ and manifest.json appear in it at once, at the end. */
  readonly target: string;
  readonly stamp: string;
  readonly step: <T>(what: string, body: () => Promise<T>) => Promise<T>;
}

async function compile(job: Job, tools: Tools): Promise<void> {
  const { recipe, work } = job;
  const flags = "-O2 -DNDEBUG";
  await run("Configuring with cmake", [
    tools.cmake, "-S", job.source, "-B", join(work, "cmake"), ...tools.generator,
    "-DCMAKE_BUILD_TYPE=Release", `-DCMAKE_CXX_FLAGS_RELEASE=${flags}`,
    `-DCMAKE_C_COMPILER=${tools.cc}`, `-DCMAKE_CXX_COMPILER=${tools.cxx}`,
    "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=14",
    `-DMLXTS_MLX_PREFIX=${join(work, "mlx", "mlx")}`, `-DMLXTS_MLX_LIBRARY=${recipe.files.mlx}`,
    `-DMLXTS_MLXC_SOURCE=${join(work, "crate", `${recipe.crate.name}-${recipe.crate.version}`, recipe.crate.sources)}`,
    `-DMLXTS_MLXC_VERSION=${MLXC_VERSION}`,
    `-DMLXTS_ASAN=${job.variant.asan ? "ON" : "OFF"}`,
    ...recipe.cmake,
  ]); // prettier-ignore
  await run("Compiling mlx-c and the shim", [
    tools.cmake, "--build", join(work, "cmake"), "--parallel", String(availableParallelism()),
    "--target", "mlxc", "mlxts",
  ]); // prettier-ignore
}

/** Builds everything into job.target and returns the manifest. */
export async function assemble(job: Job, tools: Tools): Promise<Manifest> {
  const { recipe, variant, cache, step } = job;
  rmSync(job.work, { recursive: true, force: true });
  mkdirSync(job.work, { recursive: true });
  const work = realFolder(job.work);
  const withOpenblas = variant.blas === "openblas" && recipe.openblas !== undefined;

  const [wheel, runtimeWheel, openblasWheel, crate] = await step("fetch wheels and crate, check sha256", () =>
    Promise.all([
      fetchWheel(recipe.mlx, cache, tools),
      recipe.runtime && fetchWheel(recipe.runtime, cache, tools),
      withOpenblas && recipe.openblas ? fetchWheel(recipe.openblas, cache, tools) : undefined,
      fetchCrate(recipe.crate, cache, tools),
    ]),
  );
  await step("unpack", () =>
    Promise.all([
      unpackWheel(wheel, join(work, "mlx"), tools),
      runtimeWheel && unpackWheel(runtimeWheel, join(work, "runtime"), tools),
      openblasWheel && unpackWheel(openblasWheel, join(work, "openblas"), tools),
      unpackCrate(crate, join(work, "crate"), tools),
    ]),
  );
  const mlxc = join(work, "crate", `${recipe.crate.name}-${recipe.crate.version}`, recipe.crate.sources);
  await step("patch the copy of mlx-c", async () => patchFolder(mlxc));
  await step("compile mlx-c and the shim", () => compile({ ...job, work }, tools));

  const stage = join(work, "stage");
  const lib = join(stage, "lib");
  mkdirSync(lib, { recursive: true });
  const runtime = join(work, runtimeWheel === undefined ? "mlx" : "runtime");
  const libmlx = join(runtime, "mlx", "lib", recipe.files.mlx);
  for (const name of [recipe.files.mlx, ...recipe.files.extra]) {
    copyFileSync(join(runtime, "mlx", "lib", name), join(lib, name));
  }
  for (const folder of recipe.runtimeFolders ?? []) {
    cpSync(join(runtime, "mlx", folder), join(stage, folder), { recursive: true });
  }
  copyFileSync(join(work, "cmake", "mlx-c", recipe.files.mlxc), join(lib, recipe.files.mlxc));
  copyFileSync(join(work, "cmake", recipe.files.shim), join(lib, recipe.files.shim));

  let forwarded: string[] = [];
  if (recipe.wheelLibraries !== undefined) {
    const reference = join(runtime, recipe.wheelLibraries);
    forwarded = await step(`put ${withOpenblas ? "OpenBLAS" : "the reference BLAS"} under MLX`, async () => {
      if (withOpenblas) {
        const openblas = join(work, "openblas", "scipy_openblas32", "lib", "libscipy_openblas.so");
        return installOpenblas({ libmlx, reference, openblas, lib, work, cpu: recipe.cpu }, tools);
      }
      referenceFiles(reference);
      cpSync(reference, lib, { recursive: true });
      return [];
    });
  }
  await step("strip and check", async () => {
    if (recipe.os === "linux" && !variant.asan) {
      const files = readdirSync(lib).map((name) => join(lib, name));
      await run("Stripping", [tools.strip, "--strip-unneeded", ...files]);
    }
    if (recipe.os === "linux") {
      const names = (await exportedNames(join(lib, recipe.files.mlxc), tools)).filter((one) => /^_?mlx_/.test(one));
      const expected = recipe.cpu === "x64" ? MLXC_EXPORTS : undefined;
      if (expected !== undefined && names.length !== expected) {
        throw new BuildError(`libmlxc exports ${names.length} functions of mlx-c, expected ${expected}.`);
      }
    }
    copyLicences(
      {
        mlx: runtime,
        mlxc: join(work, "crate", `${recipe.crate.name}-${recipe.crate.version}`),
        openblas: withOpenblas ? join(work, "openblas") : undefined,
        headers: recipe.runtimeFolders === undefined ? undefined : join(stage, "include"),
      },
      join(stage, "licences"),
    );
    cpSync(join(mlxc, "mlx"), join(stage, "include", "mlx"), {
      recursive: true,
      filter: (path) => (statSync(path).isDirectory() ? !path.endsWith("private") : path.endsWith(".h")),
    });
    copyFileSync(join(job.source, "shim", "mlxts.h"), join(stage, "include", "mlxts.h"));
  });

  const manifest = manifestOf(recipe, variant, lib, forwarded, job.stamp);
  writeFileSync(join(stage, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  rmSync(job.target, { recursive: true, force: true });
  mkdirSync(join(job.target, ".."), { recursive: true });
  renameSync(stage, job.target);
  rmSync(job.work, { recursive: true, force: true });
  if (!existsSync(join(job.target, "manifest.json"))) throw new BuildError(`${job.target} was not written.`);
  return manifest;
}
