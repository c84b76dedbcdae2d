// The finished folder: what its libraries import, export and say about where they look for each other.
import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { exportedNames, forwarderSource, importedNames } from "../../native/blas.ts";
import { buildNative } from "../../native/build.ts";
import { type Manifest, readManifest } from "../../native/manifest.ts";
import { MLXC_EXPORTS, recipes } from "../../native/recipes.ts";
import { attempt, sha256 } from "../../native/tools.ts";

const root = resolve(import.meta.dir, "../..");
const tools = { nm: "nm" };
let folder = "";
let manifest: Manifest;

beforeAll(async () => {
  folder = await buildNative();
  const read = readManifest(folder);
  if (read === undefined) throw new Error("the build left no manifest");
  manifest = read;
}, 300_000);

const lib = (name: string): string => join(folder, "lib", name);

test("the manifest names every file with its hash, and the sources with theirs", () => {
  expect(manifest.files.map((file) => file.name)).toEqual(readdirSync(join(folder, "lib")).sort());
  for (const file of manifest.files) expect(sha256(lib(file.name))).toBe(file.sha256);
  const recipe = recipes[manifest.platform];
  const pins = [recipe.mlx, recipe.crate, ...(recipe.openblas ? [recipe.openblas] : [])];
  expect(manifest.sources).toEqual(pins.map(({ name, version, sha256 }) => ({ name, version, sha256 })));
});

test("the licences of all parts lie beside the libraries", () => {
  const licences = join(folder, "licences");
  const wanted = [
    ["MLX.txt", "Apple Inc."],
    ["mlx-c.txt", "ml-explore"],
    ["pocketfft.txt", "Max-Planck-Society"],
    ["inside-MLX.txt", "JSON for Modern C++"],
    ...(manifest.blas.startsWith("OpenBLAS")
      ? [
          ["OpenBLAS.txt", "The OpenBLAS Project"],
          ["OpenBLAS.txt", "GCC RUNTIME LIBRARY EXCEPTION"],
        ]
      : []),
  ] as const;
  for (const [file = "", words = ""] of wanted) {
    expect(readFileSync(join(licences, file), "utf8").toLowerCase()).toContain(words.toLowerCase());
  }
});

test("no path of the machine that built them is in the libraries", () => {
  for (const name of [manifest.mlxcLibrary, manifest.shimLibrary]) {
    expect(readFileSync(lib(name)).includes(root)).toBe(false);
  }
});

test("forwarder source: one jump a name, no C calling convention in between", () => {
  const x64 = forwarderSource(["cblas_sgemm", "sgeev_"], "x64");
  expect(x64.match(/jmp \*scipy_\w+@GOTPCREL\(%rip\)/g)).toEqual([
    "jmp *scipy_cblas_sgemm@GOTPCREL(%rip)",
    "jmp *scipy_sgeev_@GOTPCREL(%rip)",
  ]);
  const arm64 = forwarderSource(["cblas_sgemm"], "arm64");
  expect(arm64).toContain(":got_lo12:scipy_cblas_sgemm");
  expect(arm64).toContain("br x16");
});

if (process.platform === "linux") {
  describe("dynamic symbols", () => {
    test("libmlxc exports all functions of mlx-c", async () => {
      const names = (await exportedNames(lib("libmlxc.so"), tools)).filter((name) => /^_?mlx_/.test(name));
      // arm64 has the four accessors of 16-bit floats too.
      expect(names.length).toBe(MLXC_EXPORTS + (manifest.platform === "linux-arm64" ? 4 : 0));
      expect(new Set(names).size).toBe(names.length);
    });

    test("the shim exports what its header declares, and nothing else of that name", async () => {
      const header = readFileSync(join(root, "native/shim/mlxts.h"), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
      const declared = [...header.matchAll(/\b(mlxts_\w+)\(/g)].map((match) => match[1] ?? "");
      const exported = (await exportedNames(lib("libmlxts.so"), tools)).filter((name) => name.startsWith("mlxts_"));
      expect(declared.length).toBeGreaterThan(30);
      expect(exported.sort()).toEqual(declared.sort());
    });

    test("the forwarder has exactly the BLAS and LAPACK functions that libmlx imports", async () => {
      const lapack = manifest.files.find((file) => file.name.startsWith("liblapack"))?.name ?? "";
      const forwarded = (await exportedNames(lib(lapack), tools)).sort();
      const openblas = new Set(await exportedNames(lib("libscipy_openblas.so"), tools));
      const imported = await importedNames(lib("libmlx.so"), tools);
      // Every C name that OpenBLAS could serve and libmlx asks for.
      const wanted = imported.filter((name) => openblas.has(`scipy_${name}`)).sort();
      expect(wanted.length).toBe(24);
      expect(forwarded).toEqual(wanted);
      expect([...manifest.forwarded]).toEqual(wanted);
      expect((await importedNames(lib(lapack), tools)).sort()).toEqual(wanted.map((name) => `scipy_${name}`).sort());
      const blas = manifest.files.find((file) => file.name.startsWith("libblas"))?.name ?? "";
      expect(await exportedNames(lib(blas), tools)).toEqual([]);
    });
  });

  describe("dynamic section", () => {
    const section = async (name: string): Promise<string> => (await attempt(["readelf", "-dW", lib(name)])).stdout;

    test("our libraries look beside themselves first, before LD_LIBRARY_PATH", async () => {
      const ours = manifest.files.map((file) => file.name).filter((name) => !/openblas|libmlx\.so/.test(name));
      expect(ours.length).toBe(4);
      for (const name of ours) {
        const text = await section(name);
        expect(text).toContain("Library rpath: [$ORIGIN]");
        expect(text).not.toContain("RUNPATH");
      }
    });

    test("the stand-ins carry the names that libmlx asks for", async () => {
      const needed = [...(await section("libmlx.so")).matchAll(/NEEDED.*\[(lib(?:blas|lapack)[^\]]*)\]/g)];
      expect(needed.length).toBe(2);
      for (const [, name = ""] of needed) expect(await section(name)).toContain(`Library soname: [${name}]`);
    });

    test("nothing is needed that neither the folder nor every Linux system has", async () => {
      const system = /^(?:libstdc\+\+\.so\.6|libm\.so\.6|libgcc_s\.so\.1|libc\.so\.6|libpthread\.so\.0|ld-linux-.*)$/;
      const own = new Set(manifest.files.map((file) => file.name));
      for (const name of own) {
        const needed = [...(await section(name)).matchAll(/NEEDED.*\[([^\]]+)\]/g)].map((match) => match[1] ?? "");
        expect(needed.filter((one) => !own.has(one) && !system.test(one))).toEqual([]);
      }
    });
  });
}
