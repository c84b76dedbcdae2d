// Libraries of another version are refused before any of their functions is called.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import expected from "../../generated/native-manifest.json" with { type: "json" };
import { headerInfo } from "../../generated/header-info.ts";
import { MLX_VERSION, MLXC_VERSION } from "../../native/recipes.ts";
import { LibraryError } from "../../src/backend/errors.ts";
import { type LibrarySource, type Located, versionGuard } from "../../src/backend/locate.ts";

function found(source: LibrarySource): Located {
  return { source, folder: "some/lib", mlxc: "some/lib/libmlxc.so", shim: "some/lib/libmlxts.so" };
}

const fitting = { mlx: expected.mlx, headers: expected.mlx, mlxc: expected.mlxc, abi: expected.abi };

function check(versions: Record<string, unknown>, source: LibrarySource = "package"): void {
  versionGuard(JSON.stringify({ ...fitting, ...versions }), found(source), {});
}

test("the expected versions are those of the recipes, the generated symbols and the shim's header", () => {
  const header = readFileSync(join(import.meta.dir, "../../native/shim/mlxts.h"), "utf8");
  const abi = /#define MLXTS_ABI (\d+)/.exec(header)?.[1];
  expect(expected).toEqual({ mlx: MLX_VERSION, mlxc: MLXC_VERSION, abi: Number(abi) });
  expect<string>(headerInfo.mlxc).toBe(expected.mlxc);
});

test("the fitting library passes", () => {
  expect(() => check({})).not.toThrow();
});

describe("a mismatch names both versions", () => {
  const cases = [
    [{ mlx: "0.30.0", headers: "0.30.0" }, `it is MLX 0.30.0, and MLX ${expected.mlx} is expected`],
    [{ mlx: `${expected.mlx}.dev1+abc`, headers: `${expected.mlx}.dev1+abc` }, `it is MLX ${expected.mlx}.dev1+abc`],
    [{ headers: "0.31.0" }, `compiled for MLX 0.31.0, and the MLX beside it is ${expected.mlx}`],
    [{ mlxc: "0.6.0" }, `it has mlx-c 0.6.0, and mlx-c ${expected.mlxc} is expected`],
    [{ abi: 99 }, `its shim has interface 99, and interface ${expected.abi} is expected`],
    [{ mlx: undefined, headers: undefined }, "it is MLX undefined"],
  ] as const;
  for (const [versions, sentence] of cases) {
    test(sentence, () => {
      expect(() => check(versions)).toThrow(LibraryError);
      expect(() => check(versions)).toThrow(sentence);
      expect(() => check(versions)).toThrow("some/lib");
    });
  }

  test("a text that is no JSON", () => {
    expect(() => versionGuard("rubbish", found("env"), {})).toThrow(`its versions cannot be read ("rubbish")`);
  });
});

test("the advice fits the place", () => {
  const wrong = { mlx: "0.1.0" };
  expect(() => check(wrong, "env")).toThrow("MLX_TS_LIBRARY points at it");
  expect(() => check(wrong, "executable")).toThrow("beside the executable");
  expect(() => check(wrong, "package")).toThrow("bun install");
  expect(() => check(wrong, "repository")).toThrow("bun native/build.ts");
});

test("MLX_TS_ALLOW_VERSION_MISMATCH=1 lets it pass, other values do not", () => {
  const text = JSON.stringify({ ...fitting, mlx: "0.1.0" });
  expect(() => versionGuard(text, found("env"), { MLX_TS_ALLOW_VERSION_MISMATCH: "1" })).not.toThrow();
  expect(() => versionGuard(text, found("env"), { MLX_TS_ALLOW_VERSION_MISMATCH: "0" })).toThrow(LibraryError);
  expect(() => versionGuard("rubbish", found("env"), { MLX_TS_ALLOW_VERSION_MISMATCH: "1" })).not.toThrow();
});
