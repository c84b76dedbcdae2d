// The packages as a user gets them: packed, served by a registry, installed into an empty folder with an empty cache
// and no compiler, and used from there.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { runInNewContext } from "node:vm";
import { describeEnd, type ProcessResult, runProcess } from "../../scripts/gate/process.ts";
import { type Registry, type Served, serveRegistry } from "./registry.ts";

const root = resolve(import.meta.dir, "../..");

let folder = "";
let user = "";
let registry: Registry;
let env: Record<string, string | undefined> = {};

async function run(
  command: string[],
  cwd: string,
  extra: Record<string, string | undefined> = {},
): Promise<ProcessResult> {
  return runProcess(command, { cwd, timeout: 120, env: { ...env, ...extra } });
}

async function must(command: string[], cwd: string): Promise<string> {
  const result = await run(command, cwd);
  const problem = describeEnd(result, 120);
  if (problem !== null) throw new Error(`${command.join(" ")}: ${problem}\n${result.output}`);
  return result.output;
}

function manifestOf(path: string): Served["manifest"] {
  return JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Served["manifest"];
}

/** A dependency of ours, packed from what is installed here, so that the test needs no network. */
async function packInstalled(name: string): Promise<Served> {
  const copy = join(folder, "packed", name);
  cpSync(join(root, "node_modules", name), copy, { recursive: true, dereference: true });
  const output = await must(
    [process.execPath, "pm", "pack", "--destination", folder, "--quiet", "--ignore-scripts"],
    copy,
  );
  const tarball = output.trim().split("\n").at(-1) ?? "";
  return { manifest: manifestOf(copy), tarball: join(folder, basename(tarball)) };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mlx-ts-package-"));
  user = join(folder, "user");
  const bin = join(folder, "bin");
  for (const made of [user, bin]) mkdirSync(made);
  // Bun alone on PATH: no compiler, no Python, nothing else to fall back on.
  symlinkSync(process.execPath, join(bin, "bun"));
  env = {
    NO_COLOR: "1",
    PATH: bin,
    HOME: folder,
    BUN_INSTALL_CACHE_DIR: join(folder, "cache"),
    MLX_TS_LIBRARY: undefined,
  };
  const packing = await runProcess([process.execPath, join(root, "scripts/pack.ts")], { cwd: root, timeout: 300 });
  const problem = describeEnd(packing, 300);
  if (problem !== null) throw new Error(`scripts/pack.ts: ${problem}\n${packing.output}`);
  const [main = "", platform = ""] = packing.output.trim().split("\n").slice(-2);
  const platformName = basename(platform).replace(/^mlx-ts-(.*)-\d+\.\d+\.\d+\.tgz$/, "$1");
  registry = serveRegistry([
    { manifest: manifestOf(join(dirname(main), "mlx-ts")), tarball: main },
    { manifest: manifestOf(join(dirname(platform), "@mlx-ts", platformName)), tarball: platform },
    await packInstalled("@huggingface/jinja"),
    await packInstalled("@huggingface/tokenizers"),
  ]);
  writeFileSync(join(user, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }));
  await must([process.execPath, "add", "mlx-ts", "--registry", registry.url], user);
}, 400_000);

afterAll(() => {
  registry?.[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

const program = `
  import * as mx from "mlx-ts";
  if (mx.array([5, 6]).get(1).item() !== 6) throw new Error("the methods of arrays are missing");
  if (mx.array([5, 6]).exportStorage().bytes.length !== 8) throw new Error("the storage exports are missing");
  const g = mx.grad((x) => x.multiply(x).sum())(mx.array([1, 2, 3]));
  console.log(JSON.stringify(g.tolist()));
`;

describe("in a folder with nothing but `bun add mlx-ts`", () => {
  test("the platform package came along, and nothing else was asked for", () => {
    expect(registry.missing).toEqual([]);
    expect(existsSync(join(user, "node_modules/@mlx-ts"))).toBe(true);
    expect(existsSync(join(user, "node_modules/mlx-ts/src"))).toBe(false);
  });

  test("a program computes", async () => {
    writeFileSync(join(user, "program.js"), program);
    expect((await must([process.execPath, "program.js"], user)).trim()).toBe("[2,4,6]");
  });

  test("bunx mlx-ts doctor is content", async () => {
    const output = await must([process.execPath, "x", "--no-install", "mlx-ts", "doctor"], user);
    expect(output).toContain("0.32.2");
    expect(output).toContain(join(user, "node_modules/@mlx-ts"));
  });

  test("MLX_TS_TRACE finds the tracer in the package", async () => {
    const trace = join(user, "trace.json");
    const result = await run([process.execPath, "program.js"], user, { MLX_TS_TRACE: trace });
    expect([result.code, result.output.includes("events written to")]).toEqual([0, true]);
    const { traceEvents } = JSON.parse(readFileSync(trace, "utf8")) as { traceEvents: { cat?: string }[] };
    expect(traceEvents.some(({ cat }) => cat === "op")).toBe(true);
  });

  test("a TypeScript program is checked against the published types", async () => {
    writeFileSync(
      join(user, "typed.ts"),
      `import * as mx from "mlx-ts";
       import { symbols } from "mlx-ts/ffi";
       import * as trace from "mlx-ts/trace";
       using x: mx.Array = mx.array([1, 2]);
       const dtype: mx.Dtype = x.dtype;
       const sum: mx.Array = x.add(1).sum();
       // @ts-expect-error: text is no array
       mx.add(x, "text");
       // @ts-expect-error: a promise would outlive its scope
       mx.tidy(async () => x);
       using recording: trace.Recording = trace.record({ fine: false });
       const answer: number = trace.span("step", () => 42);
       console.log(dtype, sum, symbols.mlx_add.args.length, recording.dropped, answer);`,
    );
    const options = { target: "esnext", module: "preserve", moduleResolution: "bundler", strict: true, noEmit: true };
    const compilerOptions = { ...options, lib: ["esnext", "dom"], types: [], skipLibCheck: false };
    writeFileSync(join(user, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["typed.ts"] }));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const result = await run([process.execPath, "--bun", tsc, "-p", user, "--pretty", "false"], user);
    expect(result.output).toBe("");
    expect(result.code).toBe(0);
  });

  test("a compiled program finds the libraries beside itself", async () => {
    const app = join(folder, "app");
    mkdirSync(app);
    await must([process.execPath, "build", "--compile", "program.js", "--outfile", join(app, "program")], user);
    const packages = join(user, "node_modules/@mlx-ts");
    const [platform = ""] = [...new Bun.Glob("*/package.json").scanSync({ cwd: packages })].map((file) =>
      dirname(file),
    );
    cpSync(join(packages, platform, "lib"), join(app, "lib"), { recursive: true });
    // Without the packages, so that only the folder beside the program can serve.
    const alone = join(folder, "alone");
    cpSync(app, alone, { recursive: true });
    rmSync(app, { recursive: true });
    expect((await must([join(alone, "program")], alone)).trim()).toBe("[2,4,6]");
  }, 120_000);

  test("without the platform package, the error says what to do", async () => {
    const lonely = join(folder, "lonely");
    mkdirSync(join(lonely, "node_modules"), { recursive: true });
    cpSync(join(user, "node_modules/mlx-ts"), join(lonely, "node_modules/mlx-ts"), { recursive: true });
    copyFileSync(join(user, "program.js"), join(lonely, "program.js"));
    const result = await run([process.execPath, "program.js"], lonely);
    expect(result.code).toBe(1);
    expect(result.output).toContain("LibraryError");
    expect(result.output).toMatch(/bun add @mlx-ts\//);
  });
});

describe("the planner runs in other runtimes too:", () => {
  const planning = `
    import { attentionWork, formatPlan, metalLimits, planRanges } from "mlx-ts/planner";
    const work = attentionWork({ pass: "dkv", n: 8192, d: 128, hq: 32, hkv: 8 });
    const plan = planRanges({ ...work, rate: 7.33e11, limits: metalLimits("applegpu_g13s") });
    globalThis.result = JSON.stringify([...plan.bounds]);
    if (!formatPlan(plan).includes("applegpu_g13s")) throw new Error("no report");
  `;
  const bounds = "[0,4096,5793,7095,8192]";

  test("Bun", async () => {
    writeFileSync(join(user, "plan.js"), `${planning}; console.log(globalThis.result);`);
    expect((await must([process.execPath, "plan.js"], user)).trim()).toBe(bounds);
  });

  test("Node.js", async () => {
    const node = Bun.which("node");
    if (node === null) throw new Error("this test needs Node.js, which npx comes with");
    writeFileSync(join(user, "plan.mjs"), `${planning}; console.log(globalThis.result);`);
    expect((await must([node, "plan.mjs"], user)).trim()).toBe(bounds);
  });

  test("a bundle for the browser", async () => {
    const { build } = await import("esbuild");
    writeFileSync(join(user, "plan-browser.js"), planning);
    const bundle = await build({
      ...{ absWorkingDir: user, entryPoints: ["plan-browser.js"], bundle: true, write: false },
      ...{ platform: "browser", format: "iife", logLevel: "silent" },
    });
    const context: { result?: string } = {};
    runInNewContext(bundle.outputFiles[0]?.text ?? "", context);
    expect(context.result).toBe(bounds);
  });

  test("its types", async () => {
    writeFileSync(
      join(user, "plan.ts"),
      `import { attentionWork, type Plan, planRanges } from "mlx-ts/planner";
       const work = attentionWork({ pass: "dq", n: 8, d: 8, hq: 2, hkv: 1 });
       const explicit: Plan<"explicit"> = planRanges({ ...work, rate: 1e9 });
       const packed: Plan<"packed"> = planRanges({ ...work, rate: 1e9, mode: "packed", limits: { maxOps: 50, maxMb: 50 } });
       // @ts-expect-error: another mode
       const wrong: Plan<"packed"> = explicit;
       for (const [r0, r1] of packed) console.log(r0 + r1, wrong.count);`,
    );
    const options = { target: "esnext", module: "preserve", moduleResolution: "bundler", strict: true, noEmit: true };
    const compilerOptions = { ...options, lib: ["esnext", "dom"], types: [], skipLibCheck: false };
    writeFileSync(join(user, "tsconfig.plan.json"), JSON.stringify({ compilerOptions, files: ["plan.ts"] }));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const config = join(user, "tsconfig.plan.json");
    const result = await run([process.execPath, "--bun", tsc, "-p", config, "--pretty", "false"], user);
    expect(result.output).toBe("");
    expect(result.code).toBe(0);
  });
});

describe("in other runtimes, one clear sentence:", () => {
  const sentence = /mlx-ts calls MLX through bun:ffi and needs Bun 1\.4\.5 or newer; this is (.*?)\. Install Bun/;

  test("Node.js", async () => {
    const node = Bun.which("node");
    if (node === null) throw new Error("this test needs Node.js, which npx comes with");
    writeFileSync(join(user, "node.mjs"), `import "mlx-ts";`);
    const result = await run([node, "node.mjs"], user);
    expect(result.code).toBe(1);
    expect(sentence.exec(result.output)?.[1]).toMatch(/^Node\.js \d+/);
    // The sentence stands once in the error itself, and no import of bun:ffi failed first.
    expect(result.output).not.toContain("ERR_UNSUPPORTED");
  });

  test("a bundle for the browser", async () => {
    const { build } = await import("esbuild");
    writeFileSync(join(user, "browser.js"), program);
    const bundle = await build({
      absWorkingDir: user,
      entryPoints: ["browser.js"],
      bundle: true,
      platform: "browser",
      format: "iife",
      write: false,
      logLevel: "silent",
    });
    const code = bundle.outputFiles[0]?.text ?? "";
    expect(code).not.toContain("bun:jsc");
    expect(() => runInNewContext(code, {}) as unknown).toThrow(sentence);
  });
});
