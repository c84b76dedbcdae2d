// The licence texts that must travel with the libraries, taken from the packages that they came in.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BuildError } from "./tools.ts";

function wheelLicences(folder: string): string[] {
  const info = readdirSync(folder).filter((name) => name.endsWith(".dist-info"));
  return info.flatMap((name) => {
    const licences = join(folder, name, "licenses");
    return existsSync(licences) ? readdirSync(licences).map((file) => join(licences, file)) : [];
  });
}

// pocketfft is compiled into libmlx; its licence is the first comment of its header.
function pocketfftNotice(wheel: string): string {
  const header = readFileSync(join(wheel, "mlx", "include", "mlx", "3rdparty", "pocketfft.h"), "utf8");
  const notice = /^\/\*\n([\s\S]*?)\*\//.exec(header)?.[1];
  if (notice === undefined || !notice.includes("Redistributions in binary form")) {
    throw new BuildError("pocketfft.h in MLX's wheel no longer starts with its licence.");
  }
  return notice;
}

// The headers that travel with the CUDA build carry their licences as comments: CUTLASS the whole text, CCCL its name.
function headerNotices(include: string): string {
  const cutlass = /^\/\*{10,}\n([\s\S]*?)\*{10,}\//.exec(
    readFileSync(join(include, "cutlass", "cutlass.h"), "utf8"),
  )?.[1];
  const cccl = /^(?:\/\/.*\n)+/.exec(readFileSync(join(include, "cccl", "cuda", "std", "type_traits"), "utf8"))?.[0];
  if (cutlass === undefined || !cutlass.includes("Redistributions in binary form") || !cccl?.includes("Apache")) {
    throw new BuildError("The headers in MLX's CUDA wheel no longer start with their licences.");
  }
  return `include/cutlass and include/cute:\n\n${cutlass}\ninclude/cccl, as its files say, each with its own first lines:\n\n${cccl}`;
}

const INSIDE_MLX = `libmlx also contains these parts, each under the MIT licence, whose text is the one in MLX.txt:

JSON for Modern C++, Copyright (c) Niels Lohmann
gguflib (gguf-tools), Copyright (c) Salvatore Sanfilippo
`;

/** Copies each part's licence as <part>.txt; a part without one stops the build. */
export function copyLicences(
  parts: { mlx: string; mlxc: string; openblas: string | undefined; headers: string | undefined },
  target: string,
): void {
  mkdirSync(target, { recursive: true });
  const put = (part: string, candidates: readonly string[]): void => {
    const found = candidates.find((path) => existsSync(path));
    if (found === undefined) throw new BuildError(`No licence text was found for ${part}.`);
    copyFileSync(found, join(target, `${part}.txt`));
  };
  put("MLX", wheelLicences(parts.mlx));
  writeFileSync(join(target, "pocketfft.txt"), pocketfftNotice(parts.mlx));
  writeFileSync(join(target, "inside-MLX.txt"), INSIDE_MLX);
  if (parts.headers !== undefined) writeFileSync(join(target, "headers.txt"), headerNotices(parts.headers));
  put("mlx-c", [join(parts.mlxc, "src", "mlx-c", "LICENSE"), join(parts.mlxc, "LICENSE")]);
  // SciPy's wheel lists OpenBLAS, LAPACK and the statically linked parts of the GCC runtime in one file.
  if (parts.openblas !== undefined) put("OpenBLAS", wheelLicences(parts.openblas));
}
