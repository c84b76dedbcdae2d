// The licence texts that must travel with the libraries, taken from the packages that they came in.
import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { BuildError } from "./tools.ts";

function wheelLicences(folder: string): string[] {
  const info = readdirSync(folder).filter((name) => name.endsWith(".dist-info"));
  return info.flatMap((name) => {
    const licences = join(folder, name, "licenses");
    return existsSync(licences) ? readdirSync(licences).map((file) => join(licences, file)) : [];
  });
}

/** Copies each part's licence as <part>.txt; a part without one stops the build. */
export function copyLicences(parts: { mlx: string; mlxc: string; openblas: string | undefined }, target: string): void {
  mkdirSync(target, { recursive: true });
  const put = (part: string, candidates: readonly string[]): void => {
    const found = candidates.find((path) => existsSync(path));
    if (found === undefined) throw new BuildError(`No licence text was found for ${part}.`);
    copyFileSync(found, join(target, `${part}.txt`));
  };
  put("MLX", wheelLicences(parts.mlx));
  put("mlx-c", [join(parts.mlxc, "src", "mlx-c", "LICENSE"), join(parts.mlxc, "LICENSE")]);
  // SciPy's wheel lists OpenBLAS, LAPACK and the statically linked parts of the GCC runtime in one file.
  if (parts.openblas !== undefined) put("OpenBLAS", wheelLicences(parts.openblas));
}
