// `bun run pack`: makes what is published in dist/: the main package dist/mlx-ts (ESM and type declarations), the
// package of this machine's platform, and a tarball of each beside them. Prints the tarballs.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describeEnd, runProcess } from "./gate/process.ts";

const root = resolve(import.meta.dir, "..");
const out = join(root, "dist");
const target = join(out, "mlx-ts");

/** Entry points of the package, the export and its source: what tsconfig.json lets the project itself import. */
function entryPoints(): [name: string, source: string][] {
  const config = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8")) as {
    compilerOptions: { paths: Record<string, string[]> };
  };
  return Object.entries(config.compilerOptions.paths).map(([name, [source = ""]]) => {
    if (!existsSync(join(root, source)))
      throw new Error(`tsconfig.json: the path of ${name}, ${source}, does not exist`);
    return [name.replace(/^mlx-ts/, "."), source.replace(/^\.\//, "")];
  });
}

const entries = entryPoints();

interface Manifest {
  version: string;
  [field: string]: unknown;
}

async function run(command: string[], cwd: string, what: string): Promise<string> {
  const result = await runProcess(command, { cwd, timeout: 300 });
  const problem = describeEnd(result, 300);
  if (problem !== null) throw new Error(`${what}: ${problem}\n${result.output}`);
  return result.output;
}

/** JavaScript: one file an entry, shared code in chunks, `using` left as it is. */
async function compile(): Promise<void> {
  const { build } = await import("esbuild");
  const sources = [...entries.map(([, source]) => source), "src/cli.ts", "src/unsupported.ts"];
  const { warnings } = await build({
    absWorkingDir: root,
    entryPoints: sources,
    outbase: "src",
    outdir: join(target, "dist"),
    bundle: true,
    splitting: true,
    format: "esm",
    target: "esnext",
    platform: "node",
    packages: "external",
    external: ["bun:*"],
    logLevel: "silent",
  });
  // A warning is an import that was dropped or a name that does not exist: nothing to publish.
  const texts = warnings.map(({ text, location }) => `${location?.file}:${location?.line}: ${text}`);
  if (texts.length > 0) throw new Error(`the bundler warns:\n${texts.join("\n")}`);
}

/** Type declarations, one a source file. */
async function declare(): Promise<void> {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const config = join(target, "tsconfig.json");
  const options = { noEmit: false, emitDeclarationOnly: true, outDir: join(target, "types"), rootDir: root };
  const files = [...entries.map(([, source]) => join(root, source))];
  const paths = {};
  const typeRoots = [join(root, "node_modules/@types")];
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(root, "tsconfig.json"),
      compilerOptions: { ...options, paths, typeRoots },
      files,
      include: [],
    }),
  );
  try {
    await run([process.execPath, "--bun", tsc, "-p", config, "--pretty", "false"], root, "type declarations");
  } finally {
    rmSync(config);
  }
}

/** Entry points without a native call, which run in any runtime. */
const portable: readonly string[] = ["./planner"];

function exportsOf(): Record<string, unknown> {
  const table: Record<string, unknown> = {};
  for (const [name, source] of entries) {
    const base = source.replace(/^src\//, "").replace(/\.ts$/, "");
    table[name] = {
      types: `./types/src/${base}.d.ts`,
      bun: `./dist/${base}.js`,
      // Every other runtime, and every bundler for one, gets one clear sentence.
      default: portable.includes(name) ? `./dist/${base}.js` : "./dist/unsupported.js",
    };
  }
  return { ...table, "./package.json": "./package.json" };
}

function writeManifest(platforms: readonly string[]): void {
  const source = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
  const { name, version, description, license, type, engines, dependencies } = source;
  const published = {
    ...{ name, version, description, license, type, engines },
    bin: { "mlx-ts": "./dist/cli.js" },
    exports: exportsOf(),
    // Loading the entry installs the methods of Array.
    sideEffects: ["./dist/*.js"],
    files: ["dist", "types"],
    dependencies,
    optionalDependencies: Object.fromEntries(platforms.map((platform) => [`@mlx-ts/${platform}`, version])),
  };
  writeFileSync(join(target, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
}

/** Packs a folder and returns the path of the tarball. */
async function tarball(folder: string): Promise<string> {
  const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest & {
    name: string;
  };
  await run([process.execPath, "pm", "pack", "--destination", out, "--quiet"], folder, `packing ${name}`);
  const file = join(out, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
  if (!existsSync(file)) throw new Error(`packing ${name} made no ${file}`);
  return file;
}

export async function pack(): Promise<{ main: string; platform: string }> {
  const native = await run([process.execPath, "native/pack.ts"], root, "the package of the platform");
  const folder = native.trimEnd().split("\n").at(-1) ?? "";
  const { name } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { name: string };
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  await compile();
  await declare();
  for (const file of ["README.md", "LICENSE", "CHANGELOG.md", "THIRD_PARTY.md"])
    copyFileSync(join(root, file), join(target, file));
  writeManifest([name.replace("@mlx-ts/", "")]);
  return { main: await tarball(target), platform: await tarball(folder) };
}

if (import.meta.main) {
  const { main, platform } = await pack();
  console.log(`${main}\n${platform}`);
}
