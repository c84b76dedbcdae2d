// The library is opened at the first use, by whatever is used first, and a load that fails says why at every use.
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { symbols } from "../../generated/symbols.ts";
import { shimSymbols } from "../../generated/shim-symbols.ts";
import { C, loadedLibrary, loadLibrary, onLoad } from "../../src/core/native.ts";
import { caught, said } from "../helpers.ts";

const internals = `const { loadedLibrary, loadLibrary, onLoad, C } = await import("./src/core/native.ts");`;

describe("loading", () => {
  test("waits for the first use, whichever it is", async () => {
    const uses = [
      "mx.array(1)",
      "mx.add(1, 2)",
      "mx.versions()",
      "mx.newStream('cpu')",
      "mx.isAvailable('cpu')",
      "mx.activeMemory()",
      "mx.blasName()",
      "new mx.Device('cpu')",
      "new mx.Closure((x) => x)",
      "mx.grad((x) => x)(mx.array(1))",
      "loadLibrary()",
      "C.mlx_array_new()",
    ];
    const lines = await said(`${internals}
      say(loadedLibrary());
      mx.float(2);
      mx.setMemoryBudget(2 ** 30);
      mx.memory();
      mx.tidy(() => [mx.keep(1)]);
      mx.dispose({});
      mx.eval([], "nothing");
      try { mx.array("wrong"); } catch {}
      say(loadedLibrary());
      mx.array(1);
      say(loadedLibrary() !== null);
    `);
    expect(lines).toEqual(["null", "null", "true"]);
    const each = await Promise.all(
      uses.map((use) => said(`${internals} say(loadedLibrary()); ${use}; say(loadedLibrary().source);`)),
    );
    for (const lines of each) expect(lines).toEqual(["null", loadLibrary().source]);
  }, 60_000);

  test("happens once", () => {
    const found = loadLibrary();
    expect(loadLibrary()).toBe(found);
    expect(loadedLibrary()).toBe(found);
    expect(found.mlxc).toStartWith(found.folder);
    let told = 0;
    onLoad((again) => {
      expect(again).toBe(found);
      told++;
    });
    expect(told).toBe(1);
  });

  test("every symbol of both tables is there to be called", () => {
    for (const name of [...Object.keys(symbols), ...Object.keys(shimSymbols)]) {
      expect(typeof (C as unknown as Record<string, unknown>)[name]).toBe("function");
    }
  });
});

describe("a load that fails", () => {
  const uses = `
    attempt("first", () => mx.array(1).item());
    attempt("second", () => mx.add(1, 2).item());
    attempt("third", () => mx.versions());
    say(mx.memory().liveHandles);
  `;

  test("says the same at every use", async () => {
    const lines = await said(uses, { env: { MLX_TS_LIBRARY: "no/such/folder" } });
    const text = "LibraryError: MLX_TS_LIBRARY is set to no/such/folder, but there is no such file or folder.";
    for (const name of ["first", "second", "third"]) expect(lines).toContain(`${name}: ${text}`);
    expect(lines.at(-1)).toBe("0");
  });

  test("for a file that is no library", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mlx-ts-native-"));
    try {
      for (const name of ["libmlxc.so", "libmlxts.so", "libmlxc.dylib", "libmlxts.dylib"]) {
        writeFileSync(join(folder, name), "this is no library");
      }
      const lines = await said(uses, { env: { MLX_TS_LIBRARY: folder } });
      expect(lines[0]).toStartWith(`first: LibraryError: mlx-ts found ${join(folder, "libmlxts")}`);
      expect(lines[0]).toContain("but could not open it: ");
      expect(lines[0]).toContain("It is damaged, of another version, or made for another system.");
      expect(lines[1]).toStartWith("second: LibraryError: ");
      expect(lines.at(-1)).toBe("0");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("is over when its cause is", async () => {
    const lines = await said(
      `
      attempt("wrong", () => mx.array(1).item());
      delete process.env.MLX_TS_LIBRARY;
      attempt("right", () => mx.array(1).item());
    `,
      { env: { MLX_TS_LIBRARY: "no/such/folder" } },
    );
    expect(lines.at(-1)).toBe("right: 1");
  });

  test("by a check at load: nothing is computed until it passes", async () => {
    const lines = await said(
      `
      for (const name of ["first", "second"]) attempt(name, () => mx.add(1, 2).item());
      process.env.MLX_TS_BLAS_THREADS = "1";
      attempt("third", () => mx.add(1, 2).item());
      say(mx.blasThreads());
    `,
      { env: { MLX_TS_BLAS_THREADS: "-2" } },
    );
    for (const line of lines.slice(0, 2)) expect(line).toContain('MLX_TS_BLAS_THREADS is "-2": give a positive number');
    expect(lines.slice(2)).toEqual(["third: 3", "1"]);
  });
});

describe("another folder", () => {
  test("is used when MLX_TS_LIBRARY names it, or the file in it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mlx-ts-native-"));
    try {
      const { folder: built, mlxc } = loadLibrary();
      symlinkSync(built, join(folder, "lib"));
      for (const choice of [folder, join(folder, "lib"), join(folder, "lib", mlxc.slice(dirname(mlxc).length + 1))]) {
        const lines = await said(
          `${internals} say(mx.add(1, 2).item(), loadedLibrary().source, loadedLibrary().folder);`,
          {
            env: { MLX_TS_LIBRARY: choice },
          },
        );
        expect(lines).toEqual([`3 env ${join(folder, "lib")}`]);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

test("a function that this platform does not export is an error at its use only", () => {
  const name = "mlx_array_item_float16";
  const error = process.arch === "x64" ? caught(() => C[name](0, 0)) : null;
  if (error !== null) {
    expect(error.name).toBe("LibraryError");
    expect(error.message).toContain(name);
  }
});
