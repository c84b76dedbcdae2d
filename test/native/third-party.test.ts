// THIRD_PARTY.md lists what is really used: the npm packages of package.json and all that they bring, with version and
// licence as installed, and the parts of the native build at their pinned versions.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { MLX_VERSION, MLXC_VERSION, recipes } from "../../native/recipes.ts";

const root = resolve(import.meta.dir, "../..");
const document = readFileSync(join(root, "THIRD_PARTY.md"), "utf8");

interface Listed {
  readonly version: string;
  readonly licence: string;
}

/** The rows of the tables of npm packages, by package name. */
function listed(): Map<string, Listed> {
  const rows = new Map<string, Listed>();
  for (const line of document.split("\n")) {
    const [names = "", version = "", licence = ""] = line
      .split("|")
      .slice(1)
      .map((cell) => cell.trim());
    if (!/^\d+\.\d+\.\d+$/.test(version) || !/^(?:@|[a-z])[\w@/*, .-]*$/.test(names)) continue;
    for (const name of names.split(", ")) rows.set(name, { version, licence });
  }
  return rows;
}

/** Names of all packages in the lock file, with the version that is locked. */
function locked(): Map<string, string> {
  const text = readFileSync(join(root, "bun.lock"), "utf8");
  const packages = /"packages": \{([\s\S]*)\}/.exec(text)?.[1] ?? "";
  const found = [...packages.matchAll(/^ {4}"[^"]+": \["((?:@[^/"]+\/)?[^@"]+)@([^"]+)"/gm)];
  return new Map(found.map((match) => [match[1] ?? "", match[2] ?? ""]));
}

test("every locked npm package is listed with its version", () => {
  const rows = listed();
  const names = locked();
  expect(names.size).toBeGreaterThan(15);
  for (const [name, version] of names) {
    const row = rows.get(name) ?? rows.get(`${name.split("/")[0] ?? ""}/*`);
    expect(row, `${name} in THIRD_PARTY.md`).toBeDefined();
    expect(row?.version, name).toBe(version);
  }
});

test("no other package is listed, and the licence is the one of the installed package", () => {
  const names = locked();
  for (const [name, { licence }] of listed()) {
    if (name.endsWith("/*")) {
      expect([...names.keys()].some((one) => one.startsWith(name.slice(0, -1)))).toBe(true);
      continue;
    }
    expect(names.has(name), name).toBe(true);
    const path = join(root, "node_modules", name, "package.json");
    expect((JSON.parse(readFileSync(path, "utf8")) as { license: string }).license, name).toBe(licence);
  }
});

test("the parts of the native build", () => {
  const recipe = recipes["linux-x64"];
  expect(document).toContain(`\`${recipe.mlx.name}\``);
  expect(document).toContain(`\`${recipe.crate.name}\``);
  expect(document).toContain(`\`${recipe.openblas?.name ?? ""}\` ${recipe.openblas?.version ?? ""}`);
  const rows = document.split("\n").filter((line) => line.startsWith("|"));
  const version = (part: string): string | undefined =>
    rows
      .find((row) => row.startsWith(`| ${part}`))
      ?.split("|")[2]
      ?.trim();
  expect(version("MLX (`libmlx`)")).toBe(MLX_VERSION);
  expect(version("mlx-c (`libmlxc`)")).toBe(MLXC_VERSION);
});
