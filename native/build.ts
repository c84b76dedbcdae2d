// `bun native/build.ts`: makes native/build/<platform>/ with the libraries that mlx-ts loads. Run again, it returns
// at once unless something it depends on has changed. See --help.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { assemble } from "./assemble.ts";
import { withLock } from "./lock.ts";
import { isCurrent, readManifest, stampOf, type Variant } from "./manifest.ts";
import { describePlan } from "./plan.ts";
import { type Blas, hostPlatform, type Platform, platforms, recipes } from "./recipes.ts";
import { BuildError, findTools } from "./tools.ts";

export interface BuildOptions {
  readonly platform?: Platform;
  readonly blas?: Blas;
  readonly asan?: boolean;
  readonly force?: boolean;
  /** Where progress goes; default standard error. */
  readonly log?: (line: string) => void;
}

const NATIVE = import.meta.dir;

/** The folder that a platform and variant are built into. */
export function buildFolder(platform: Platform, variant: Variant): string {
  const suffix = `${variant.blas === "reference" ? "-reference" : ""}${variant.asan ? "-asan" : ""}`;
  return join(NATIVE, "build", platform + suffix);
}

function defaultPlatform(): Platform {
  const found = hostPlatform(process.platform, process.arch);
  if (found === undefined) {
    throw new BuildError(
      `There is no recipe for ${process.platform} on ${process.arch}. Recipes: ${platforms.join(", ")} (--platform).`,
    );
  }
  return found;
}

/** Builds a platform's library folder if it is not there yet, and returns its path (with lib/ and manifest.json). */
export async function buildNative(options: BuildOptions = {}): Promise<string> {
  const platform = options.platform ?? defaultPlatform();
  const recipe = recipes[platform];
  const variant: Variant = { blas: options.blas ?? "openblas", asan: options.asan ?? false };
  const log = options.log ?? ((line: string) => process.stderr.write(`${line}\n`));
  const target = buildFolder(platform, variant);
  const stamp = stampOf(recipe, variant, NATIVE);
  if (!options.force && isCurrent(target, stamp)) {
    log(`native libraries for ${platform} are up to date`);
    return target;
  }
  return withLock(`${target}.lock`, log, async () => {
    if (!options.force && isCurrent(target, stamp)) return target;
    const began = performance.now();
    const tools = await findTools(recipe);
    let number = 0;
    const step = async <T>(what: string, body: () => Promise<T>): Promise<T> => {
      const start = performance.now();
      number++;
      const result = await body();
      log(`[${number}] ${what}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
      return result;
    };
    log(`building the native libraries for ${platform} (once; about 30 s)`);
    const manifest = await assemble(
      {
        recipe,
        variant,
        source: NATIVE,
        cache: join(NATIVE, "build", "cache"),
        work: `${target}.work`,
        target,
        stamp,
        step,
      },
      tools,
    );
    const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    log(`${join(target, "lib")}: ${manifest.files.length} files, ${(bytes / 1e6).toFixed(1)} MB, in ${seconds} s`);
    return target;
  });
}

const HELP = `usage: bun native/build.ts [options]
  --platform NAME   ${platforms.join(" | ")} (default: this machine's)
  --blas NAME       openblas | reference (default: openblas)
  --asan            with AddressSanitizer, in a folder of its own
  --force           build even if nothing has changed
  --dry-run         print what would be done and check the pins, nothing else
  --help`;

function choice<T extends string>(value: string | undefined, allowed: readonly T[], option: string): T | undefined {
  if (value === undefined) return undefined;
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw new BuildError(`--${option} ${value}: expected one of ${allowed.join(", ")}`);
  return found;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      platform: { type: "string" },
      blas: { type: "string" },
      asan: { type: "boolean", default: false },
      force: { type: "boolean", default: false },
      "dry-run": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const platform = choice(values.platform, platforms, "platform") ?? defaultPlatform();
  const blas = choice<Blas>(values.blas, ["openblas", "reference"], "blas") ?? "openblas";
  if (values["dry-run"]) {
    const plan = describePlan(recipes[platform], { blas, asan: values.asan });
    console.log(plan.text);
    if (plan.problems.length > 0) throw new BuildError(plan.problems.join("\n"));
    return;
  }
  const folder = await buildNative({ platform, blas, asan: values.asan, force: values.force });
  console.log(join(folder, "lib"));
  if (readManifest(folder) === undefined) throw new BuildError(`${folder} has no manifest`);
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    const known =
      error instanceof BuildError || (error as { code?: string }).code?.startsWith("ERR_PARSE_ARGS") === true;
    console.error(known ? `error: ${(error as Error).message}` : error);
    process.exit(1);
  }
}
