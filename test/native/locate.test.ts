// The search for the native library, on made-up folders: the order of the places, and what is said when none serves.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LibraryError } from "../../src/backend/errors.ts";
import { currentHost, type Host, locateLibrary } from "../../src/backend/locate.ts";

let root = "";

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "mlx-ts-locate-"));
});

afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

/** A folder with empty files of these names; returns its path. */
function folder(path: string, ...files: string[]): string {
  const made = join(root, path);
  mkdirSync(made, { recursive: true });
  for (const file of files) writeFileSync(join(made, file), "");
  return made;
}

const both = ["libmlxc.so", "libmlxts.so"];

/** A Linux machine on which nothing is to be found, with some of its answers replaced. */
function host(name: string, changes: Partial<Host> = {}): Host {
  const base = folder(name);
  return {
    platform: "linux",
    arch: "x64",
    env: {},
    execPath: join(base, "bin", "program"),
    moduleFolder: join(base, "node_modules", "mlx-ts", "dist"),
    resolve: () => {
      throw new Error("no such package");
    },
    usesMusl: () => false,
    ...changes,
  };
}

/** An installed package @mlx-ts/<name>, as the answer of `resolve`. */
function installed(base: string, ...names: string[]): Host["resolve"] {
  return (specifier) => {
    const name = names.find((one) => specifier === `@mlx-ts/${one}/package.json`);
    if (name === undefined) throw new Error("no such package");
    return join(root, base, "node_modules", "@mlx-ts", name, "package.json");
  };
}

function failure(which: Host): LibraryError {
  try {
    locateLibrary(which);
  } catch (error) {
    expect(error).toBeInstanceOf(LibraryError);
    return error as LibraryError;
  }
  throw new Error("a library was found where there is none");
}

describe("order", () => {
  test("MLX_TS_LIBRARY, then the executable's lib, the package, the repository", () => {
    const chosen = folder("order/chosen", ...both);
    const beside = folder("order/bin/lib", ...both);
    const inPackage = folder("order/node_modules/@mlx-ts/linux-x64/lib", ...both);
    const built = folder("order/checkout/native/build/linux-x64/lib", ...both);
    writeFileSync(join(root, "order/checkout/native/build.ts"), "");
    const all = host("order", {
      env: { MLX_TS_LIBRARY: chosen },
      resolve: installed("order", "linux-x64"),
      moduleFolder: folder("order/checkout/src/backend"),
    });
    const expected = [
      ["env", chosen],
      ["executable", beside],
      ["package", inPackage],
      ["repository", built],
    ] as const;
    for (const [source, place] of expected) {
      const found = locateLibrary(source === "env" ? all : { ...all, env: {} });
      expect(found).toEqual({
        source,
        folder: place,
        mlxc: join(place, "libmlxc.so"),
        shim: join(place, "libmlxts.so"),
      });
      rmSync(place, { recursive: true });
    }
    expect(() => locateLibrary({ ...all, env: {} })).toThrow(LibraryError);
  });

  test("MLX_TS_LIBRARY may name the folder, the folder above lib, or libmlxc itself", () => {
    const lib = folder("forms/lib", ...both);
    for (const value of [lib, join(root, "forms"), join(lib, "libmlxc.so")]) {
      expect(locateLibrary(host("forms", { env: { MLX_TS_LIBRARY: value } })).folder).toBe(lib);
    }
  });

  test("an empty MLX_TS_LIBRARY counts as unset", () => {
    const beside = folder("empty/bin/lib", ...both);
    expect(locateLibrary(host("empty", { env: { MLX_TS_LIBRARY: "" } })).folder).toBe(beside);
  });

  test("the manifest above lib is found along", () => {
    folder("manifest/bin/lib", ...both);
    writeFileSync(join(root, "manifest/bin/manifest.json"), "{}");
    expect(locateLibrary(host("manifest")).manifest).toBe(join(root, "manifest/bin/manifest.json"));
  });

  test("on a Mac the libraries are dylibs, and musl is not asked about", () => {
    const beside = folder("mac/bin/lib", "libmlxc.dylib", "libmlxts.dylib");
    const mac = host("mac", {
      platform: "darwin",
      arch: "arm64",
      usesMusl: () => {
        throw new Error("asked");
      },
    });
    expect(locateLibrary(mac).mlxc).toBe(join(beside, "libmlxc.dylib"));
  });

  test("this machine's own answers lead to a library", () => {
    const found = locateLibrary({ ...currentHost(), env: {} });
    expect(found.source).toBe("repository");
    expect(found.manifest).toBeDefined();
  });
});

describe("refusals", () => {
  test("nothing anywhere: what was looked for, each place with its reason, what to do", () => {
    const { message } = failure(host("nothing"));
    expect(message).toContain("libmlxc.so and, beside it, libmlxts.so");
    expect(message).toContain(`${join(root, "nothing/bin/lib")}: there is no such folder`);
    expect(message).toContain("the package @mlx-ts/linux-x64: it is not installed");
    expect(message).toContain("this copy of mlx-ts is an installed package");
    expect(message).toContain(`bun add @mlx-ts/linux-x64`);
    expect(message).toContain("MLX_TS_LIBRARY");
  });

  test("in a checkout, the advice is to build", () => {
    folder("checkout/native", "build.ts");
    const { message } = failure(host("checkout", { moduleFolder: folder("checkout/src/backend") }));
    expect(message).toContain(`Run "bun native/build.ts"`);
    expect(message).not.toContain("bun add");
  });

  test("node_modules from another system", () => {
    folder("foreign/node_modules/@mlx-ts/darwin-arm64/lib", "libmlxc.dylib", "libmlxts.dylib");
    const { message } = failure(host("foreign", { resolve: installed("foreign", "darwin-arm64") }));
    expect(message).toContain("@mlx-ts/darwin-arm64 is installed, so node_modules was probably copied");
  });

  test("a folder without the shim is named as such, and the search goes on", () => {
    folder("shimless/bin/lib", "libmlxc.so");
    const resolve = installed("shimless", "linux-x64");
    expect(failure(host("shimless", { resolve })).message).toContain("every library folder holds the shim");
    const whole = folder("shimless/node_modules/@mlx-ts/linux-x64/lib", ...both);
    expect(locateLibrary(host("shimless", { resolve })).folder).toBe(whole);
  });

  test("a wrong MLX_TS_LIBRARY is an error of its own: nothing else is tried", () => {
    folder("wrong/bin/lib", ...both);
    const cases = [
      [join(root, "wrong/nowhere"), "there is no such file or folder"],
      [folder("wrong/empty"), "the folder has no libmlxc.so"],
      [folder("wrong/half", "libmlxc.so"), "every library folder holds the shim"],
      [join(folder("wrong/file", "libmlxc.so"), "libmlxc.so"), "every library folder holds the shim"],
    ] as const;
    for (const [value, reason] of cases) {
      const { message } = failure(host("wrong", { env: { MLX_TS_LIBRARY: value } }));
      expect(message).toContain(`MLX_TS_LIBRARY is set to ${value}`);
      expect(message).toContain(reason);
    }
  });

  test("systems without a library", () => {
    for (const [platform, arch] of [
      ["win32", "x64"],
      ["darwin", "x64"],
      ["freebsd", "x64"],
    ] as const) {
      const { message } = failure(host("systems", { platform, arch }));
      expect(message).toContain(`no native library for ${platform} on ${arch}`);
      expect(message).toContain("linux-x64, linux-arm64, darwin-arm64");
    }
    expect(failure(host("systems", { usesMusl: () => true })).message).toContain("musl");
  });

  test("MLX_TS_LIBRARY serves on a system that has no package", () => {
    const lib = folder("own/lib", ...both);
    const found = locateLibrary(host("own", { platform: "freebsd", env: { MLX_TS_LIBRARY: lib } }));
    expect(found.source).toBe("env");
  });
});
