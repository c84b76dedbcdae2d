// --dry-run: the steps of a recipe in words, and the checks that need neither network nor the platform itself.
import type { Variant } from "./manifest.ts";
import { MLX_VERSION, type Recipe, type WheelPin } from "./recipes.ts";

export interface Plan {
  readonly text: string;
  readonly problems: readonly string[];
}

function checkWheel(pin: WheelPin): string[] {
  const problems: string[] = [];
  if (!/^[0-9a-f]{64}$/.test(pin.sha256)) problems.push(`${pin.name}: the sha256 pin is not 64 hex digits`);
  const stem = `${pin.name.replaceAll("-", "_")}-${pin.version}-`;
  if (!pin.file.startsWith(stem)) problems.push(`${pin.name}: ${pin.file} does not start with ${stem}`);
  if (!pin.file.includes(pin.tag)) problems.push(`${pin.name}: ${pin.file} is not for ${pin.tag}`);
  return problems;
}

function checkRecipe(recipe: Recipe): string[] {
  const problems = checkWheel(recipe.mlx);
  if (recipe.runtime) problems.push(...checkWheel(recipe.runtime));
  if (recipe.openblas) problems.push(...checkWheel(recipe.openblas));
  if (!/^[0-9a-f]{64}$/.test(recipe.crate.sha256))
    problems.push(`${recipe.crate.name}: the sha256 pin is not 64 hex digits`);
  for (const pin of [recipe.mlx, recipe.runtime]) {
    if (pin && pin.version !== MLX_VERSION) problems.push(`${pin.name} ${pin.version} is not MLX ${MLX_VERSION}`);
  }
  if (recipe.openblas && recipe.wheelLibraries === undefined) problems.push("OpenBLAS without the folder it replaces");
  const { mlx, mlxc, shim } = recipe.files;
  const extension = recipe.os === "darwin" ? ".dylib" : ".so";
  for (const name of [mlx, mlxc, shim]) {
    if (!name.endsWith(extension)) problems.push(`${name} is no library name on ${recipe.os}`);
  }
  return problems.map((one) => `${recipe.platform}: ${one}`);
}

/** The steps of a recipe as text, with everything wrong that can be seen from here. */
export function describePlan(recipe: Recipe, variant: Variant): Plan {
  const wheels = [recipe.mlx, recipe.runtime, variant.blas === "openblas" ? recipe.openblas : undefined];
  const files = [recipe.files.mlx, recipe.files.mlxc, recipe.files.shim, ...recipe.files.extra];
  const lines = [
    `${recipe.platform}${variant.asan ? " with AddressSanitizer" : ""}`,
    `status: ${recipe.status}`,
    ...wheels
      .filter((pin) => pin !== undefined)
      .map((pin) => `fetch  ${pin.name}==${pin.version} (${pin.file})\n       sha256 ${pin.sha256}`),
    `fetch  crate ${recipe.crate.name} ${recipe.crate.version} (mlx-c in ${recipe.crate.sources})\n       sha256 ${recipe.crate.sha256}`,
    "patch  the build copy of mlx-c: error formats, std::format, handle counts, escaping exceptions",
    `build  ${recipe.files.mlxc} and ${recipe.files.shim} with cmake and the first of ${recipe.compilers
      .map((one) => one.cxx)
      .join(", ")}${recipe.cmake.length > 0 ? `, ${recipe.cmake.join(" ")}` : ""}`,
    recipe.os === "darwin"
      ? "blas   Accelerate, part of the system"
      : variant.blas === "openblas"
        ? "blas   OpenBLAS behind a forwarder with the old LAPACK's file name"
        : `blas   the wheel's reference BLAS (${recipe.wheelLibraries})`,
    recipe.os === "linux" && !variant.asan ? "strip  every library" : "strip  nothing",
    `write  manifest.json, licences/, include/, lib/ with ${files.join(", ")}`,
  ];
  return { text: lines.join("\n"), problems: checkRecipe(recipe) };
}
