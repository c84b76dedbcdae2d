// Importing a module never opens the shared library; the first use does.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { runProcess } from "../../scripts/gate/process.ts";
import { filesOf, root } from "./sources.ts";

// Without the command, which runs when it is imported, and the module that throws on purpose.
const modules = filesOf("src/**/*.ts", "generated/*.ts").filter((file) => !/^src\/(?:cli|unsupported)\.ts$/.test(file));

/** A program that prints the MLX libraries which are loaded in the process, after `body`. */
function program(body: string): string {
  return `
    ${body}
    if (process.platform === "linux") {
      const maps = await Bun.file("/proc/self/maps").text();
      console.log("LOADED " + [...new Set(maps.match(/lib(?:mlx|mlxc|mlxts)\\.so/g) ?? [])].join(","));
    }
  `;
}

async function loaded(body: string): Promise<string> {
  const result = await runProcess([process.execPath, "-e", program(body)], {
    cwd: root,
    timeout: 60,
    // On macOS the loader itself reports what it loads.
    env: process.platform === "darwin" ? { DYLD_PRINT_LIBRARIES: "1" } : {},
  });
  if (result.code !== 0) throw new Error(`the program failed:\n${result.output}`);
  if (process.platform === "darwin")
    return [...new Set(result.output.match(/libmlx(?:c|ts)?\.dylib/g) ?? [])].join(",");
  return /LOADED (.*)/.exec(result.output)?.[1] ?? "no answer";
}

test("importing every module loads nothing", async () => {
  const imports = modules.map((file) => `await import(${JSON.stringify(join(root, file))});`).join("\n");
  expect(modules.length).toBeGreaterThan(30);
  expect(await loaded(imports)).toBe("");
});

test("the first operation loads the library: the check above can fail", async () => {
  const index = JSON.stringify(join(root, "src/index.ts"));
  expect(await loaded(`const mx = await import(${index}); mx.array([1]).dispose();`)).toContain("libmlx");
});
