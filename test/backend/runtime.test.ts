// One clear sentence for every runtime that cannot load the library.
import { describe, expect, test } from "bun:test";
import { minimumBun, requireRuntime, runtimeProblem } from "../../src/backend/runtime.ts";
import { root } from "../helpers.ts";
import { runProcess } from "../../scripts/gate/process.ts";

describe("runtimeProblem", () => {
  test.each(["1.4.5", "1.4.6", "1.5.0", "2.0.0", "1.10.0", "1.4.5-canary.3", "1.4.12"])("Bun %s is fine", (bun) => {
    expect(runtimeProblem({ bun })).toBeNull();
  });

  test.each(["1.4.4", "1.3.99", "0.9.0", "1.4.4-canary.99", "1"])("Bun %s is too old", (bun) => {
    expect(runtimeProblem({ bun })).toBe(`mlx-ts needs Bun 1.4.5 or newer; this is Bun ${bun}. Run "bun upgrade".`);
  });

  test("Node.js, a browser and what has no versions at all", () => {
    const text = (where: string): string =>
      `mlx-ts calls MLX through bun:ffi and needs Bun 1.4.5 or newer; this is ${where}. Install Bun (npm i -g bun) and start the program with "bun run".`;
    expect(runtimeProblem({ node: "20.11.0", v8: "11" })).toBe(text("Node.js 20.11.0"));
    expect(runtimeProblem({})).toBe(text("a browser or another runtime"));
    expect(runtimeProblem(undefined)).toBe(text("a browser or another runtime"));
  });

  test("is one sentence or two, in one line", () => {
    for (const versions of [undefined, {}, { node: "20" }, { bun: "1.0.0" }]) {
      expect(runtimeProblem(versions)).not.toContain("\n");
    }
  });
});

test("this runtime passes, and is what package.json asks for", async () => {
  requireRuntime();
  const { engines } = (await Bun.file(`${root}/package.json`).json()) as { engines: { bun: string } };
  expect(engines.bun).toBe(`>=${minimumBun}`);
});

test("an older Bun is refused at the first use, not at import", async () => {
  const program = `
    const mx = await import("./src/index.ts");
    console.log("imported");
    Object.defineProperty(process, "versions", { value: { ...process.versions, bun: "1.2.3" } });
    try { mx.array(1); } catch (error) { console.log(error.message); }
  `;
  const { output, code } = await runProcess([process.execPath, "-e", program], { cwd: root, timeout: 30 });
  expect(output.trimEnd().split("\n")).toEqual([
    "imported",
    'mlx-ts needs Bun 1.4.5 or newer; this is Bun 1.2.3. Run "bun upgrade".',
  ]);
  expect(code).toBe(0);
});

test("the entry point of other runtimes throws that sentence", async () => {
  const program = `
    Object.defineProperty(process, "versions", { value: { node: "20.1.0" } });
    await import("./src/unsupported.ts").catch((error) => console.log(error.message));
  `;
  const { output } = await runProcess([process.execPath, "-e", program], { cwd: root, timeout: 30 });
  expect(output).toStartWith("mlx-ts calls MLX through bun:ffi and needs Bun 1.4.5 or newer; this is Node.js 20.1.0.");
});
