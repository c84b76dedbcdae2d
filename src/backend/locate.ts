/**
 * Where the native library is: a folder named by the user, `lib/` beside a compiled program, the platform package,
 * or this repository's own build. Every refusal says what was looked for, where, and what to do about it.
 */

import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import expected from "../../generated/native-manifest.json" with { type: "json" };
import { LibraryError } from "./errors.ts";

export type LibrarySource = "env" | "executable" | "package" | "repository";

export interface Located {
  /** Path of libmlxc. */
  readonly mlxc: string;
  /** Path of the shim beside it. */
  readonly shim: string;
  readonly source: LibrarySource;
  /** The folder that both are in. */
  readonly folder: string;
  /** Path of the build's manifest.json, where there is one. */
  readonly manifest?: string;
}

/** What the search asks of the machine; tests put another one in its place. */
export interface Host {
  readonly platform: string;
  readonly arch: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly execPath: string;
  /** The folder of this module: packages are resolved from it. */
  readonly moduleFolder: string;
  /** The path of a package's package.json; throws when there is no such package. */
  readonly resolve: (specifier: string, from: string) => string;
  readonly usesMusl: () => boolean;
}

interface FileNames {
  readonly mlxc: string;
  readonly shim: string;
}

/** Systems that a platform package exists for, by `${process.platform}-${process.arch}`. */
const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-arm64"];

export function currentHost(): Host {
  return {
    platform: process.platform,
    arch: process.arch,
    env: process.env,
    execPath: process.execPath,
    moduleFolder: import.meta.dir,
    resolve: (specifier, from) => Bun.resolveSync(specifier, from),
    usesMusl: () => !existsSync("/lib64/ld-linux-x86-64.so.2") && existsSync("/lib/ld-musl-x86_64.so.1"),
  };
}

/** A place to look in: either both libraries, or the reason why not. */
type Answer = { readonly found: Located } | { readonly reason: string };

/**
 * Finds libmlxc and the shim, without opening them.
 *
 * Order: `MLX_TS_LIBRARY` (a folder, or the path of libmlxc; when set, nothing else is tried), `lib/` beside the
 * executable, the platform package, this repository's build. Throws LibraryError when none has them.
 */
export function locateLibrary(host: Host = currentHost()): Located {
  const names = fileNames(host.platform);
  const chosen = host.env["MLX_TS_LIBRARY"];
  if (chosen !== undefined && chosen !== "") {
    const answer = inChosen(chosen, names);
    if ("found" in answer) return answer.found;
    throw new LibraryError(
      `MLX_TS_LIBRARY is set to ${chosen}, but ${answer.reason}.\n\n` +
        `Set it to a folder that holds ${names.mlxc} and ${names.shim} (or to the path of that ${names.mlxc}), ` +
        `or unset it to let mlx-ts search by itself.`,
    );
  }
  const platform = supportedPlatform(host);
  const tried: string[] = [];
  const places: readonly (() => { place: string; answer: Answer })[] = [
    () => besideExecutable(host, names),
    () => inPackage(host, platform, names),
    () => inRepository(host, platform, names),
  ];
  for (const look of places) {
    const { place, answer } = look();
    if ("found" in answer) return answer.found;
    tried.push(`  - ${place}: ${answer.reason}`);
  }
  throw new LibraryError(notFound(host, platform, names, tried));
}

function fileNames(platform: string): FileNames {
  const extension = platform === "darwin" ? "dylib" : "so";
  return { mlxc: `libmlxc.${extension}`, shim: `libmlxts.${extension}` };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function inFolder(folder: string, source: LibrarySource, names: FileNames): Answer {
  if (!isFolder(folder)) return { reason: "there is no such folder" };
  const mlxc = join(folder, names.mlxc);
  const shim = join(folder, names.shim);
  if (!isFile(mlxc)) return { reason: `the folder has no ${names.mlxc}` };
  if (!isFile(shim)) {
    return {
      reason:
        `the folder has ${names.mlxc} but not ${names.shim}: every library folder holds the shim, ` +
        `built against the same MLX`,
    };
  }
  const manifest = join(dirname(folder), "manifest.json");
  return { found: { mlxc, shim, source, folder, ...(isFile(manifest) ? { manifest } : {}) } };
}

function inChosen(chosen: string, names: FileNames): Answer {
  if (isFile(chosen)) return inFolder(dirname(chosen), "env", names);
  if (!isFolder(chosen)) return { reason: "there is no such file or folder" };
  const nested = join(chosen, "lib");
  return isFile(join(chosen, names.mlxc)) || !isFolder(nested)
    ? inFolder(chosen, "env", names)
    : inFolder(nested, "env", names);
}

function besideExecutable(host: Host, names: FileNames): { place: string; answer: Answer } {
  const folder = join(dirname(host.execPath), "lib");
  return { place: `beside the executable, ${folder}`, answer: inFolder(folder, "executable", names) };
}

function resolved(host: Host, packageName: string): string | undefined {
  try {
    return dirname(host.resolve(`${packageName}/package.json`, host.moduleFolder));
  } catch {
    return undefined;
  }
}

function inPackage(host: Host, platform: string, names: FileNames): { place: string; answer: Answer } {
  const packageName = `@mlx-ts/${platform}`;
  const root = resolved(host, packageName);
  if (root === undefined) return { place: `the package ${packageName}`, answer: { reason: "it is not installed" } };
  const folder = join(root, "lib");
  return { place: `the package ${packageName}, ${folder}`, answer: inFolder(folder, "package", names) };
}

/** The repository that this module runs from, seen from src/backend or from the built dist. */
function repository(host: Host): string | undefined {
  return [join(host.moduleFolder, "..", ".."), join(host.moduleFolder, "..")].find((folder) =>
    isFile(join(folder, "native", "build.ts")),
  );
}

function inRepository(host: Host, platform: string, names: FileNames): { place: string; answer: Answer } {
  const root = repository(host);
  if (root === undefined) {
    return { place: "a checkout of mlx-ts", answer: { reason: "this copy of mlx-ts is an installed package" } };
  }
  const folder = join(root, "native", "build", platform, "lib");
  return { place: `this checkout's build, ${folder}`, answer: inFolder(folder, "repository", names) };
}

function supportedPlatform(host: Host): string {
  const platform = `${host.platform}-${host.arch}`;
  if (!PLATFORMS.includes(platform)) {
    throw new LibraryError(
      `mlx-ts has no native library for ${host.platform} on ${host.arch}. It runs on ${PLATFORMS.join(", ")}. ` +
        `If you have built MLX, mlx-c and the shim for this system yourself, set MLX_TS_LIBRARY to their folder.`,
    );
  }
  if (host.platform === "linux" && host.usesMusl()) {
    throw new LibraryError(
      `mlx-ts needs Linux with glibc 2.35 or newer; this system uses musl (Alpine, for one), for which MLX is not ` +
        `published. Use a Debian, Ubuntu or Fedora based system or container image.`,
    );
  }
  return platform;
}

function notFound(host: Host, platform: string, names: FileNames, tried: readonly string[]): string {
  const packageName = `@mlx-ts/${platform}`;
  const foreign = PLATFORMS.find((one) => one !== platform && resolved(host, `@mlx-ts/${one}`) !== undefined);
  let advice: string;
  if (repository(host) !== undefined) {
    advice = `Run "bun native/build.ts" in the checkout: it downloads MLX, compiles the rest and takes under a minute.`;
  } else if (foreign !== undefined) {
    advice =
      `The package @mlx-ts/${foreign} is installed, so node_modules was probably copied here from another system. ` +
      `Run "bun install" on this one.`;
  } else {
    advice =
      `${packageName} comes with mlx-ts as an optional dependency, so it was probably left out: install again without ` +
      `"--omit=optional" (or "--no-optional"), or add it by hand with "bun add ${packageName}".`;
  }
  return (
    `The native library of mlx-ts was not found: ${names.mlxc} and, beside it, ${names.shim}. ` +
    `These places were searched:\n\n${tried.join("\n")}\n\n${advice} ` +
    `To use libraries from another place, set MLX_TS_LIBRARY to their folder.`
  );
}

/** The versions that the loaded library reports (the shim's mlxts_versions). */
interface Versions {
  readonly mlx?: unknown;
  readonly headers?: unknown;
  readonly mlxc?: unknown;
  readonly abi?: unknown;
}

/**
 * Refuses a library of another version than the one these bindings were generated for, since a changed signature
 * would corrupt memory silently. `MLX_TS_ALLOW_VERSION_MISMATCH=1` lets it pass.
 */
export function versionGuard(
  reported: string,
  found: Located,
  env: Readonly<Record<string, string | undefined>> = process.env,
): void {
  const differences = mismatches(reported);
  if (differences.length === 0 || env["MLX_TS_ALLOW_VERSION_MISMATCH"] === "1") return;
  throw new LibraryError(
    `The native library in ${found.folder} does not fit this version of mlx-ts: ${differences.join("; ")}. ` +
      `A function whose parameters changed in between would corrupt memory silently, so it is not used.\n\n` +
      `${remedy(found.source)} MLX_TS_ALLOW_VERSION_MISMATCH=1 loads it all the same, at your own risk.`,
  );
}

function mismatches(reported: string): string[] {
  let versions: Versions;
  try {
    versions = JSON.parse(reported) as Versions;
  } catch {
    return [`its versions cannot be read (${JSON.stringify(reported)})`];
  }
  const differences: string[] = [];
  if (versions.mlx !== expected.mlx) {
    differences.push(`it is MLX ${String(versions.mlx)}, and MLX ${expected.mlx} is expected`);
  }
  if (versions.headers !== versions.mlx) {
    differences.push(
      `its shim was compiled for MLX ${String(versions.headers)}, and the MLX beside it is ${String(versions.mlx)}`,
    );
  }
  if (versions.mlxc !== expected.mlxc) {
    differences.push(`it has mlx-c ${String(versions.mlxc)}, and mlx-c ${expected.mlxc} is expected`);
  }
  if (versions.abi !== expected.abi) {
    differences.push(`its shim has interface ${String(versions.abi)}, and interface ${expected.abi} is expected`);
  }
  return differences;
}

function remedy(source: LibrarySource): string {
  switch (source) {
    case "env":
      return "MLX_TS_LIBRARY points at it: point it at a matching build, or unset it.";
    case "executable":
      return "It lies beside the executable: copy the lib folder of the matching platform package there.";
    case "package":
      return `Install the platform package of the same version as mlx-ts, with "bun install".`;
    case "repository":
      return `Run "bun native/build.ts" to build the matching one.`;
  }
}
