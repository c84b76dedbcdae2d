// Running the build's outside programs, and saying in one go which of them are missing.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import type { Recipe } from "./recipes.ts";

/** A failure that the user can act on: printed without a stack. */
export class BuildError extends Error {
  override name = "BuildError";
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface RunResult {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, output collected. A program that cannot be started is a result that is not ok. */
export async function attempt(command: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  try {
    const child = Bun.spawn([...command], {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: { ...process.env, ...options.env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { ok: code === 0, stdout, stderr };
  } catch (error) {
    return { ok: false, stdout: "", stderr: String(error) };
  }
}

/** Runs a program that must succeed and returns its standard output. */
export async function run(what: string, command: readonly string[], options: RunOptions = {}): Promise<string> {
  const result = await attempt(command, options);
  if (!result.ok) {
    const lines = `${result.stdout}\n${result.stderr}`.trim().split("\n").slice(-40).join("\n");
    throw new BuildError(`${what} failed.\n  ${command.join(" ")}\n${lines}`);
  }
  return result.stdout;
}

export interface Tools {
  readonly python: string;
  readonly cargo: string;
  /** Extra environment that cargo needs (a rustup proxy under another HOME). */
  readonly cargoEnv: Readonly<Record<string, string>>;
  readonly cmake: string;
  readonly generator: readonly string[];
  readonly cc: string;
  readonly cxx: string;
  readonly nm: string;
  readonly readelf: string;
  readonly strip: string;
}

interface Missing {
  readonly what: string;
  readonly install: string;
}

export async function findPython(): Promise<string | undefined> {
  for (const name of ["python3", "/usr/bin/python3", "python"]) {
    if ((await attempt([name, "-m", "pip", "--version"])).ok) return name;
  }
  return undefined;
}

// `cargo` is often rustup's proxy, which looks for toolchains under HOME. Under another HOME it is still usable when
// told where its toolchains are: beside the proxy itself, or in the account's own home folder.
async function findCargo(): Promise<{ cargo: string; env: Record<string, string> } | "old" | undefined> {
  const accountHome = userInfo().homedir;
  const candidates = [Bun.which("cargo"), join(accountHome, ".cargo", "bin", "cargo")];
  let tooOld = false;
  for (const cargo of candidates) {
    if (cargo === null || !existsSync(cargo)) continue;
    const homes = [undefined, join(dirname(dirname(dirname(cargo))), ".rustup"), join(accountHome, ".rustup")];
    for (const home of homes) {
      if (home !== undefined && !existsSync(home)) continue;
      const env: Record<string, string> = home === undefined ? {} : { RUSTUP_HOME: home };
      const version = await attempt([cargo, "--version"], { env });
      if (!version.ok) continue;
      const minor = Number(/^cargo 1\.(\d+)/.exec(version.stdout)?.[1] ?? 0);
      if (minor >= 82) return { cargo, env };
      tooOld = true;
    }
  }
  return tooOld ? "old" : undefined;
}

async function findGenerator(): Promise<readonly string[] | undefined> {
  if (Bun.which("ninja") !== null) return ["-G", "Ninja"];
  return Bun.which("make") === null ? undefined : ["-G", "Unix Makefiles"];
}

function packageHint(os: "linux" | "darwin", debian: string, mac: string): string {
  return os === "darwin" ? mac : `on Debian or Ubuntu: apt-get install ${debian}`;
}

/** Finds every program a recipe needs, or throws one BuildError that lists all the missing ones. */
export async function findTools(recipe: Recipe): Promise<Tools> {
  const os = process.platform === "darwin" ? "darwin" : "linux";
  const missing: Missing[] = [];
  const [python, cargo, generator] = await Promise.all([findPython(), findCargo(), findGenerator()]);
  if (python === undefined) {
    missing.push({
      what: "python3 with pip (downloads MLX's wheel and checks its hash)",
      install: packageHint(os, "python3 python3-pip", "xcode-select --install, or python.org's installer"),
    });
  }
  if (cargo === undefined || cargo === "old") {
    missing.push({
      what: `cargo 1.82 or newer (downloads the crate that carries mlx-c${cargo === "old" ? "; the one found is older" : ""})`,
      install: "with rustup, or your system's rust package",
    });
  }
  if (Bun.which("cmake") === null) {
    missing.push({ what: "cmake 3.16 or newer", install: packageHint(os, "cmake", "pip install cmake") });
  }
  if (generator === undefined) {
    missing.push({ what: "make or ninja", install: packageHint(os, "make", "xcode-select --install") });
  }
  const compiler = recipe.compilers.find((one) => Bun.which(one.cxx) !== null && Bun.which(one.c) !== null);
  if (compiler === undefined) {
    missing.push({
      what: `a C++20 compiler (looked for ${recipe.compilers.map((one) => one.cxx).join(", ")})`,
      install: packageHint(
        os,
        recipe.platform === "linux-arm64" ? "g++-aarch64-linux-gnu" : "g++",
        "xcode-select --install",
      ),
    });
  }
  const prefix = Bun.which(`${recipe.binutilsPrefix}nm`) === null ? "" : recipe.binutilsPrefix;
  if (Bun.which(`${prefix}nm`) === null || Bun.which(`${prefix}strip`) === null) {
    missing.push({ what: "nm and strip", install: packageHint(os, "binutils", "xcode-select --install") });
  }
  if (missing.length > 0 || python === undefined || cargo === undefined || cargo === "old" || compiler === undefined) {
    const list = missing.map((one) => `  - ${one.what}\n      ${one.install}`).join("\n");
    throw new BuildError(
      `The native libraries for ${recipe.platform} cannot be built: ${missing.length} prerequisite${
        missing.length === 1 ? " is" : "s are"
      } missing.\n${list}\nNothing was changed. Install and run the command again, or point MLX_TS_LIBRARY at a folder that holds the libraries.`,
    );
  }
  return {
    python,
    cargo: cargo.cargo,
    cargoEnv: cargo.env,
    cmake: "cmake",
    generator: generator ?? [],
    cc: compiler.c,
    cxx: compiler.cxx,
    nm: `${prefix}nm`,
    readelf: `${prefix}readelf`,
    strip: `${prefix}strip`,
  };
}

/** sha256 of a file, as hex. */
export function sha256(path: string): string {
  return new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex");
}

/** The real path of a folder, so that a path handed to a compiler never runs through a link. */
export function realFolder(path: string): string {
  return realpathSync(path);
}
