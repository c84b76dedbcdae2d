// The build command: what it prints without doing anything, that it does nothing twice, and what it says when a tool
// is missing.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { buildFolder, buildNative } from "../../native/build.ts";
import { isCurrent, readManifest, stampOf } from "../../native/manifest.ts";
import { describePlan } from "../../native/plan.ts";
import { hostPlatform, platforms, recipes, type Recipe } from "../../native/recipes.ts";
import { runProcess } from "../../scripts/gate/process.ts";

const root = resolve(import.meta.dir, "../..");
const variant = { blas: "openblas", asan: false } as const;

function build(args: string[], env: Record<string, string> = {}): ReturnType<typeof runProcess> {
  return runProcess([process.execPath, "native/build.ts", ...args], { cwd: root, timeout: 60, env });
}

describe("dry run", () => {
  for (const platform of platforms) {
    test(platform, async () => {
      const { code, output } = await build(["--platform", platform, "--dry-run"]);
      expect(code).toBe(0);
      const recipe = recipes[platform];
      for (const pin of [recipe.mlx, recipe.runtime, recipe.openblas]) {
        if (pin === undefined) continue;
        expect(output).toContain(`${pin.name}==${pin.version}`);
        expect(output).toContain(`sha256 ${pin.sha256}`);
      }
      expect(output).toContain(`crate ${recipe.crate.name} ${recipe.crate.version}`);
      expect(output).toContain(recipe.crate.sha256);
      for (const name of [recipe.files.mlx, recipe.files.mlxc, recipe.files.shim]) expect(output).toContain(name);
      if (platform !== "linux-x64") expect(output).toMatch(/^status: .*unverified/m);
    });
  }

  test("a Mac's recipe is the one that a Mac gets, and says that it was not run on one", () => {
    expect(hostPlatform("darwin", "arm64")).toBe("darwin-arm64");
    expect(hostPlatform("linux", "x64")).toBe("linux-x64");
    expect(hostPlatform("linux", "arm64")).toBe("linux-arm64");
    expect(hostPlatform("win32", "x64")).toBeUndefined();
    const { text } = describePlan(recipes["darwin-arm64"], variant);
    expect(text).toContain("has not been run on a Mac");
    expect(text).toContain("mlx.metallib");
    expect(text).not.toContain("OpenBLAS");
  });

  test("wrong pins are found without a download", () => {
    const good = recipes["linux-x64"];
    const broken: readonly (readonly [Partial<Recipe>, string])[] = [
      [{ mlx: { ...good.mlx, sha256: "abc" } }, "mlx-cpu: the sha256 pin is not 64 hex digits"],
      [{ mlx: { ...good.mlx, version: "0.1.0" } }, "does not start with mlx_cpu-0.1.0-"],
      [{ mlx: { ...good.mlx, tag: "macosx_14_0_arm64" } }, "is not for macosx_14_0_arm64"],
      [{ crate: { ...good.crate, sha256: "" } }, "mlx-sys: the sha256 pin is not 64 hex digits"],
      [{ files: { ...good.files, mlxc: "libmlxc.dylib" } }, "libmlxc.dylib is no library name on linux"],
    ];
    expect(describePlan(good, variant).problems).toEqual([]);
    for (const [change, problem] of broken) {
      expect(describePlan({ ...good, ...change }, variant).problems.join("\n")).toContain(problem);
    }
  });
});

describe("on this machine", () => {
  test("a second build returns at once and touches nothing", async () => {
    const folder = await buildNative();
    const before = statSync(join(folder, "manifest.json")).mtimeMs;
    const { code, output } = await build([]);
    expect(code).toBe(0);
    expect(output).toContain("are up to date");
    expect(output.trim().split("\n").at(-1)).toBe(join(folder, "lib"));
    expect(statSync(join(folder, "manifest.json")).mtimeMs).toBe(before);
  }, 300_000);

  test("a finished folder is kept only for the same inputs and with all its files", async () => {
    const folder = await buildNative();
    const manifest = readManifest(folder);
    if (manifest === undefined) throw new Error("no manifest");
    const recipe = recipes[manifest.platform];
    const native = join(root, "native");
    expect(stampOf(recipe, variant, native)).toBe(manifest.stamp);
    expect(isCurrent(folder, manifest.stamp)).toBe(true);
    const other = { ...recipe, crate: { ...recipe.crate, version: "0.0.1" } };
    expect(isCurrent(folder, stampOf(other, variant, native))).toBe(false);
    expect(isCurrent(folder, stampOf(recipe, { blas: "openblas", asan: true }, native))).toBe(false);
    expect(isCurrent(join(folder, "nowhere"), manifest.stamp)).toBe(false);
  }, 300_000);

  test("variants have folders of their own", () => {
    const folders = [
      buildFolder("linux-x64", variant),
      buildFolder("linux-x64", { blas: "reference", asan: false }),
      buildFolder("linux-x64", { blas: "openblas", asan: true }),
      buildFolder("linux-arm64", variant),
    ];
    expect(new Set(folders).size).toBe(folders.length);
  });

  test("unknown options and values", async () => {
    for (const [args, sentence] of [
      [["--platform", "amiga"], "--platform amiga: expected one of linux-x64"],
      [["--blas", "mkl"], "--blas mkl: expected one of openblas, reference"],
      [["--colour"], "colour"],
    ] as const) {
      const { code, output } = await build([...args]);
      expect(code).toBe(1);
      expect(output).toContain("error: ");
      expect(output).toContain(sentence);
      expect(output).not.toContain("    at ");
    }
  });
});

describe("missing prerequisites", () => {
  let bin = "";
  beforeAll(() => {
    bin = mkdtempSync(join(tmpdir(), "mlx-ts-bin-"));
    symlinkSync(process.execPath, join(bin, "bun"));
  });
  afterAll(() => rmSync(bin, { recursive: true, force: true }));

  test("all are named at once, with what to install, before anything is downloaded", async () => {
    const { code, output } = await build(["--platform", "linux-arm64", "--force"], { PATH: bin });
    expect(code).toBe(1);
    for (const word of ["cmake 3.16", "make or ninja", "a C++20 compiler", "aarch64-linux-gnu-g++", "nm and strip"]) {
      expect(output).toContain(word);
    }
    expect(output).toContain("apt-get install cmake");
    expect(output).toContain("prerequisites are missing");
    expect(output).toContain("MLX_TS_LIBRARY");
    expect(output).not.toContain("fetch wheels");
  });
});
