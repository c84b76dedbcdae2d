// Runs read.py, with the libclang wheel that requirements.txt pins, fetched once into .cache/.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { hostPlatform, recipes } from "../../native/recipes.ts";
import { findTools, run } from "../../native/tools.ts";
import { cached } from "../cache.ts";

/** A function as clang sees it. */
export interface ClangFunction {
  header: string;
  line: number;
  variadic: boolean;
  names: string[];
  types: string[];
  registers: string[][];
  returns: string;
  returnRegisters: string[];
}

/** What clang sees on one platform; struct offsets are in bits. */
export interface ClangReading {
  functions: Record<string, ClangFunction>;
  enums: Record<string, Record<string, number>>;
  structs: Record<string, { size: number; fields: [name: string, type: string, offset: number][] }>;
}

function fetchLibclang(python: string): Promise<string> {
  const requirements = join(import.meta.dir, "requirements.txt");
  const version = /^libclang==(\S+)/m.exec(readFileSync(requirements, "utf8"))?.[1];
  return cached(`libclang-${version}`, async (target) => {
    await run("Downloading libclang with pip", [
      python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir", "--require-hashes",
      "--no-deps", "--only-binary=:all:", "--target", target, "--requirement", requirements,
    ]); // prettier-ignore
  });
}

/** clang's reading of mlx-c's and the shim's headers, by platform. Needs Python with pip, and PyPI the first time. */
export async function readWithLibclang(mlxc: string, shim: string): Promise<Record<string, ClangReading>> {
  const { python } = await findTools(recipes[hostPlatform(process.platform, process.arch) ?? "linux-x64"]);
  const libclang = await fetchLibclang(python);
  const text = await run("Reading the headers with libclang", [python, join(import.meta.dir, "read.py"), mlxc, shim], {
    env: { PYTHONPATH: libclang, PYTHONDONTWRITEBYTECODE: "1" },
  });
  return JSON.parse(text) as Record<string, ClangReading>;
}
