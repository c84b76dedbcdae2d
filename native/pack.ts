// `bun native/pack.ts`: makes the npm package of a platform, dist/@mlx-ts/<platform>/, from its built library folder.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { aboveBaseline, baseline } from "./baseline.ts";
import { buildNative } from "./build.ts";
import { readManifest } from "./manifest.ts";
import { type Platform, platforms, recipes } from "./recipes.ts";
import { BuildError, run } from "./tools.ts";

export interface PackOptions {
  readonly platform: Platform;
  /** The built folder: lib/, licences/ and manifest.json. */
  readonly built: string;
  /** Where the package folder is made; an older one there is replaced. */
  readonly target: string;
  /** Version of mlx-ts: the main package asks for exactly this one. */
  readonly version: string;
}

/** npm leaves symbolic links out of a package, so each file is copied as itself. */
function copyFiles(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    if (entry.isDirectory()) copyFiles(source, join(to, entry.name));
    else if (entry.isFile()) copyFileSync(source, join(to, entry.name));
    else throw new BuildError(`${source} is not a plain file and cannot be packed.`);
  }
}

/** Writes the package folder of one platform and returns its path. Touches nothing but `target`. */
export function packPlatform(options: PackOptions): string {
  const { platform, built, target, version } = options;
  const recipe = recipes[platform];
  const manifest = readManifest(built);
  if (manifest === undefined) throw new BuildError(`${built} is not a finished build: it has no manifest.json.`);
  if (manifest.platform !== platform) throw new BuildError(`${built} was built for ${manifest.platform}.`);
  if (manifest.asan) throw new BuildError(`${built} is a build for AddressSanitizer: it is not published.`);
  if (recipe.openblas !== undefined && !manifest.blas.startsWith("OpenBLAS")) {
    throw new BuildError(`${built} has the ${manifest.blas} BLAS: only the build with OpenBLAS is published.`);
  }
  rmSync(target, { recursive: true, force: true });
  copyFiles(join(built, "lib"), join(target, "lib"));
  copyFiles(join(built, "licences"), join(target, "licences"));
  copyFileSync(join(built, "manifest.json"), join(target, "manifest.json"));
  const folders = recipe.runtimeFolders ?? [];
  for (const folder of folders) copyFiles(join(built, folder), join(target, folder));
  const name = `@mlx-ts/${platform}`;
  const description = {
    name,
    version,
    description: `Native libraries of mlx-ts for ${platform}: MLX ${manifest.mlx}, mlx-c ${manifest.mlxc}, ${manifest.blas}`,
    license: "SEE LICENSE IN licences",
    os: [recipe.os],
    cpu: [recipe.cpu],
    ...(recipe.libc === undefined ? {} : { libc: [recipe.libc] }),
    files: ["lib", "licences", "manifest.json", ...folders],
    // The libraries are opened by path, so a package manager that zips packages must leave this one unpacked.
    preferUnplugged: true,
  };
  writeFileSync(join(target, "package.json"), `${JSON.stringify(description, null, 2)}\n`);
  writeFileSync(
    join(target, "README.md"),
    `# ${name}\n\n${description.description}.\n\nThis package is installed by mlx-ts and has no code of its own. ` +
      `manifest.json names each part and the sha256 of what it was made from; licences/ has their texts.\n`,
  );
  return target;
}

/** Refuses libraries that need a newer system than the one that the packages promise to run on. */
export async function checkBaseline(lib: string): Promise<void> {
  for (const name of readdirSync(lib)) {
    const found = aboveBaseline(await run(`Reading ${name}`, ["readelf", "--version-info", "--wide", join(lib, name)]));
    if (found.length === 0) continue;
    const limits = Object.entries(baseline).map(([family, version]) => `${family}_${version}`);
    throw new BuildError(
      `${name} needs ${found.join(", ")}, newer than ${limits.join(", ")}: packages are made on a system of that age.`,
    );
  }
}

export const root: string = join(import.meta.dir, "..");

/** Version of mlx-ts, from package.json. */
export function projectVersion(): string {
  return (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }).version;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { platform: { type: "string" } } });
  const platform = platforms.find((one) => one === values.platform);
  if (values.platform !== undefined && platform === undefined) {
    throw new BuildError(`--platform ${values.platform}: expected one of ${platforms.join(", ")}`);
  }
  const built = await buildNative(platform === undefined ? {} : { platform });
  const made = readManifest(built)?.platform;
  if (made === undefined) throw new BuildError(`${built} has no manifest.json`);
  if (recipes[made].os === "linux") await checkBaseline(join(built, "lib"));
  const target = join(root, "dist", "@mlx-ts", made);
  console.log(packPlatform({ platform: made, built, target, version: projectVersion() }));
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof BuildError ? `error: ${error.message}` : error);
    process.exit(1);
  }
}
