// The platform package: plain files, the fields that npm and Bun choose by, and what is refused.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { aboveBaseline } from "../../native/baseline.ts";
import { buildNative } from "../../native/build.ts";
import { type Manifest, readManifest } from "../../native/manifest.ts";
import { checkBaseline, packPlatform } from "../../native/pack.ts";
import { BuildError } from "../../native/tools.ts";

let folder = "";
let built = "";
let manifest: Manifest;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mlx-ts-pack-"));
  built = await buildNative();
  const read = readManifest(built);
  if (read === undefined) throw new Error("the build left no manifest");
  manifest = read;
}, 300_000);

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A small stand-in for a built folder. */
function standIn(name: string, changes: Partial<Manifest> = {}): string {
  const made = join(folder, name);
  for (const part of ["lib", "licences"]) mkdirSync(join(made, part), { recursive: true });
  writeFileSync(join(made, "lib", "libmlxc.so"), "");
  writeFileSync(join(made, "licences", "MLX.txt"), "");
  const text: Manifest = { ...manifest, platform: "linux-x64", blas: "OpenBLAS", asan: false, ...changes };
  writeFileSync(join(made, "manifest.json"), JSON.stringify(text));
  return made;
}

test("this machine's package has every library as a plain file, its licences and its manifest", () => {
  const target = join(folder, "packed");
  expect(packPlatform({ platform: manifest.platform, built, target, version: "1.2.3" })).toBe(target);
  const description = JSON.parse(readFileSync(join(target, "package.json"), "utf8")) as Record<string, unknown>;
  const [os, cpu] = manifest.platform.split("-");
  expect(description).toMatchObject({ name: `@mlx-ts/${manifest.platform}`, version: "1.2.3", os: [os], cpu: [cpu] });
  if (os === "linux") expect(description["libc"]).toEqual(["glibc"]);
  expect(description["scripts"]).toBeUndefined();
  expect(readdirSync(join(target, "lib")).sort()).toEqual(manifest.files.map((file) => file.name));
  for (const name of readdirSync(join(target, "lib"))) expect(lstatSync(join(target, "lib", name)).isFile()).toBe(true);
  expect(readdirSync(join(target, "licences"))).toContain("OpenBLAS.txt");
  expect(readManifest(target)).toEqual(manifest);
});

test("an older package in the same place is replaced", () => {
  const target = join(folder, "replaced");
  mkdirSync(join(target, "lib"), { recursive: true });
  writeFileSync(join(target, "lib", "old.so"), "");
  packPlatform({ platform: "linux-x64", built: standIn("fresh"), target, version: "1.0.0" });
  expect(readdirSync(join(target, "lib"))).toEqual(["libmlxc.so"]);
});

test("what libmlx reads at run time lies in the package as it lies beside it in the build", () => {
  const made = standIn("headers", { platform: "linux-x64-cuda" });
  for (const folder of ["cccl/cuda/std", "cute", "cutlass"]) {
    mkdirSync(join(made, "include", folder), { recursive: true });
    writeFileSync(join(made, "include", folder, "a.h"), folder);
  }
  const target = join(folder, "with-headers");
  packPlatform({ platform: "linux-x64-cuda", built: made, target, version: "1.0.0" });
  for (const name of ["cccl/cuda/std", "cute", "cutlass"]) {
    expect(readFileSync(join(target, "include", name, "a.h"), "utf8")).toBe(name);
  }
  const { files } = JSON.parse(readFileSync(join(target, "package.json"), "utf8")) as { files: string[] };
  expect(files).toEqual(["lib", "licences", "manifest.json", "include/cccl", "include/cute", "include/cutlass"]);
});

describe("refused", () => {
  const attempt = (from: string): (() => string) => {
    return () => packPlatform({ platform: "linux-x64", built: from, target: join(folder, "none"), version: "1.0.0" });
  };

  test("what was not finished, or made for something else", () => {
    expect(attempt(join(folder, "nowhere"))).toThrow("is not a finished build");
    expect(attempt(standIn("other", { platform: "linux-arm64" }))).toThrow("was built for linux-arm64");
    expect(attempt(standIn("asan", { asan: true }))).toThrow("AddressSanitizer");
    expect(attempt(standIn("slow", { blas: "reference" }))).toThrow("only the build with OpenBLAS is published");
  });

  test("a symbolic link, which npm would leave out", () => {
    const made = standIn("linked");
    symlinkSync("libmlxc.so", join(made, "lib", "libmlxc.so.1"));
    expect(attempt(made)).toThrow("is not a plain file");
  });

  test("libraries that need a newer system", async () => {
    expect(aboveBaseline("Name: GLIBC_2.35 GLIBC_2.4 GLIBCXX_3.4.30 CXXABI_1.3.9")).toEqual([]);
    expect(aboveBaseline("GLIBC_2.36 GLIBC_2.38 GLIBCXX_3.4.31 GLIBC_2.36 GLIBC_2.9")).toEqual([
      "GLIBCXX_3.4.31",
      "GLIBC_2.36",
      "GLIBC_2.38",
    ]);
    if (process.platform === "linux") {
      const made = standIn("unreadable");
      expect(checkBaseline(join(made, "lib"))).rejects.toThrow(BuildError);
    }
  });
});
