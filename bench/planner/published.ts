/**
 * The published planner, mlx-train-perf from PyPI, installed into .cache without its dependencies: it plans with
 * arithmetic alone, and the MLX that it imports is the pinned one of `bench/python-env.ts`.
 */

import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pythonWithMlx } from "../python-env.ts";

const root: string = join(import.meta.dir, "..", "..");

/** Version and hash of the wheel. */
export const publishedPin = {
  version: "0.9.1",
  sha256: "8d1018be7965223c63f369110dec5e5cdb0807438313f9db1bbb7ba4dc996174",
} as const;

export interface Published {
  readonly python: string;
  readonly env: Readonly<Record<string, string>>;
  /** The program of `bench/planner/published.py`. */
  readonly script: string;
}

/** Where to run it. Installed on first use. */
export function publishedPlanner(): Published {
  const python = pythonWithMlx("stock");
  const folder = join(root, ".cache", `mlx-train-perf-${publishedPin.version}`);
  const ready = join(folder, "ready");
  if (!existsSync(ready)) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const requirements = join(folder, "requirements.txt");
    writeFileSync(requirements, `mlx-train-perf==${publishedPin.version} --hash=sha256:${publishedPin.sha256}\n`);
    const pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"];
    const options = ["--only-binary=:all:", "--require-hashes", "--target", folder, "-r", requirements];
    const result = Bun.spawnSync([...pip, ...options], { stdout: "pipe", stderr: "pipe" });
    if (result.exitCode !== 0) throw new Error(`pip install mlx-train-perf failed:\n${result.stderr.toString()}`);
    writeFileSync(ready, "");
  }
  return { python, env: { PYTHONPATH: folder }, script: join(import.meta.dir, "published.py") };
}
