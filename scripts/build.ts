// `bun scripts/build.ts`: makes dist/mlx-ts/, the npm package of the main part: ESM JavaScript (target esnext), type
// declarations and a package.json that names the platform packages at this very version. Platform packages made
// before by native/pack.ts into dist/@mlx-ts/ enter optionalDependencies.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { build } from "esbuild";

const root = resolve(import.meta.dir, "..");

interface PackageJson {
  readonly name: string;
  readonly version: string;
  readonly [key: string]: unknown;
}

export interface Entry {
  /** Key in the exports map: "." or "./llm". */
  readonly subpath: string;
  /** Source file, relative to the root. */
  readonly source: string;
  /** Name of the built file without its ending. */
  readonly name: string;
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, "utf8")) as T;
}

/** The public entry points: what tsconfig.json maps `mlx-ts` and `mlx-ts/...` to. */
export function entries(): Entry[] {
  const { compilerOptions } = readJson<{ compilerOptions: { paths: Record<string, readonly string[]> } }>(
    join(root, "tsconfig.json"),
  );
  return Object.entries(compilerOptions.paths).map(([specifier, [source = ""]]) => {
    const subpath = specifier.replace(/^mlx-ts/, ".");
    return { subpath, source: source.replace(/^\.\//, ""), name: subpath === "." ? "index" : subpath.slice(2) };
  });
}

async function bundle(target: string, list: readonly Entry[]): Promise<void> {
  const points = Object.fromEntries(list.map((entry) => [entry.name, join(root, entry.source)]));
  await build({
    entryPoints: { ...points, cli: join(root, "src/cli.ts"), unsupported: join(root, "src/unsupported.ts") },
    outdir: target,
    absWorkingDir: root,
    bundle: true,
    // Entry points share one copy of core: two would be two libraries' worth of state.
    splitting: true,
    chunkNames: "chunk-[hash]",
    format: "esm",
    platform: "neutral",
    target: "esnext",
    packages: "bundle",
    external: ["bun", "bun:*", "node:*", "@huggingface/*"],
    legalComments: "none",
    logLevel: "warning",
  });
}

async function declarations(target: string): Promise<void> {
  const config = join(root, "dist", "tsconfig.types.json");
  writeFileSync(
    config,
    JSON.stringify({
      extends: "../tsconfig.json",
      compilerOptions: { noEmit: false, emitDeclarationOnly: true, rootDir: root, outDir: target },
      include: entries().map((entry) => join(root, entry.source)),
    }),
  );
  try {
    const tsc = Bun.spawn([process.execPath, "--bun", join(root, "node_modules/typescript/bin/tsc"), "-p", config], {
      stdout: "pipe",
      stderr: "inherit",
    });
    const [text, code] = await Promise.all([new Response(tsc.stdout).text(), tsc.exited]);
    if (code !== 0) throw new Error(`tsc failed:\n${text}`);
  } finally {
    rmSync(config, { force: true });
  }
}

/** The package.json that is published; pure. */
export function publishedPackage(
  source: PackageJson,
  list: readonly Entry[],
  platforms: readonly string[],
): Record<string, unknown> {
  const exports = list.map(({ subpath, source: file, name }) => [
    subpath,
    {
      types: `./dist/types/${file.replace(/\.ts$/, ".d.ts")}`,
      bun: `./dist/${name}.js`,
      default: "./dist/unsupported.js",
    },
  ]);
  const kept = ["name", "version", "description", "license", "type", "engines", "dependencies"];
  return {
    ...Object.fromEntries(kept.filter((key) => key in source).map((key) => [key, source[key]])),
    exports: { ...Object.fromEntries(exports), "./package.json": "./package.json" },
    bin: { "mlx-ts": "./dist/cli.js" },
    files: ["dist", "*.md", "LICENSE"],
    optionalDependencies: Object.fromEntries(platforms.map((name) => [name, source.version])),
  };
}

/** Platform packages in a folder that were made at the given version. */
export function packedPlatforms(folder: string, version: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => readJson<PackageJson>(join(folder, name, "package.json")))
    .filter((one) => one.version === version)
    .map((one) => one.name);
}

/** Builds the main package into `target` and returns its path. */
export async function buildPackage(target: string, platforms: readonly string[]): Promise<string> {
  const list = entries();
  rmSync(target, { recursive: true, force: true });
  const dist = join(target, "dist");
  mkdirSync(dist, { recursive: true });
  mkdirSync(join(root, "dist"), { recursive: true });
  await Promise.all([bundle(dist, list), declarations(join(dist, "types"))]);
  const source = readJson<PackageJson>(join(root, "package.json"));
  writeFileSync(
    join(target, "package.json"),
    `${JSON.stringify(publishedPackage(source, list, platforms), null, 2)}\n`,
  );
  const papers = ["README.md", "CHANGELOG.md", "THIRD_PARTY.md", "LICENSE"];
  for (const name of papers) copyFileSync(join(root, name), join(target, basename(name)));
  return target;
}

if (import.meta.main) {
  const { version } = readJson<PackageJson>(join(root, "package.json"));
  const platforms = packedPlatforms(join(root, "dist", "@mlx-ts"), version);
  if (platforms.length === 0) {
    console.error("note: no platform package in dist/@mlx-ts (bun native/pack.ts): optionalDependencies stays empty");
  }
  console.log(await buildPackage(join(root, "dist", "mlx-ts"), platforms));
}
