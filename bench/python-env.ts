/**
 * Python MLX for the side-by-side benches: a virtual environment in .cache with the pinned wheel, either as PyPI
 * ships it ("stock", reference BLAS) or with this project's OpenBLAS under it ("openblas"), so that both sides can
 * be measured with the same matrix kernels.
 */

import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

export type PythonBlas = "stock" | "openblas";

const root: string = join(import.meta.dir, "..");
const packages = ["mlx==0.32.2", "mlx-cpu==0.32.2", "numpy==2.3.4"];

function run(command: string[], what: string): void {
  const result = Bun.spawnSync(command, { stdout: "pipe", stderr: "pipe" });
  if (result.exitCode !== 0) throw new Error(`${what} failed:\n${result.stderr.toString()}`);
}

/** The path of a Python interpreter that can `import mlx.core`. Made on first use, about 20 seconds. */
export function pythonWithMlx(blas: PythonBlas): string {
  const folder = join(root, ".cache", `python-${blas}`);
  const python = join(folder, "bin", "python");
  if (existsSync(join(folder, "ready"))) return python;
  console.log(`Setting up Python MLX (${blas}) in .cache/python-${blas} ...`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(root, ".cache"), { recursive: true });
  run(["python3", "-m", "venv", folder], "python3 -m venv (install python3 with venv)");
  run([python, "-m", "pip", "install", "--quiet", "--only-binary=:all:", ...packages], "pip install");
  if (blas === "openblas") putOpenBlasUnder(folder);
  Bun.spawnSync(["touch", join(folder, "ready")]);
  return python;
}

function putOpenBlasUnder(folder: string): void {
  const ours = join(root, "native", "build", "linux-x64", "lib");
  if (!existsSync(ours)) throw new Error('Build the native libraries first: "bun native/build.ts".');
  const lib = join(folder, "lib");
  const python = readdirSync(lib).find((name) => name.startsWith("python"))!;
  const target = join(lib, python, "site-packages", "mlx_cpu.libs");
  for (const name of readdirSync(ours)) {
    if (/^lib(blas|lapack)-|openblas/.test(name)) cpSync(join(ours, name), join(target, name));
  }
}
