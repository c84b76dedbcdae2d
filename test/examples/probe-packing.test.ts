// The packing probes: the model anywhere, and that the children run. What they measure means something on a Mac only.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { runProcess } from "../../scripts/gate/process.ts";
import { root } from "../helpers.ts";

const example = join(root, "examples/probe-packing.ts");
const run = (...args: string[]): ReturnType<typeof runProcess> =>
  runProcess([process.execPath, example, ...args], { cwd: root, timeout: 60 });

/** The lines of a probe, by condition. */
function table(output: string, title: string): Record<string, string> {
  const lines = output.split("\n");
  const at = lines.findIndex((line) => line.startsWith(title));
  expect(at).toBeGreaterThan(-1);
  return Object.fromEntries(lines.slice(at + 1, at + 4).map((line) => [line.trim().split(" ")[0]!, line]));
}

test("prints the model, and says that it is one where there is no Metal", async () => {
  const { code, output } = await run();
  expect(code).toBe(0);
  const metal = output.startsWith("Measured on this machine");
  if (!metal) expect(output).toContain("the model of applegpu_g13s alone, and nothing was confirmed");
  if (metal) return;
  const products = table(output, "2000 products");
  expect(products["default"]).toContain("50 ops, 50 units");
  expect(products["default"]).toContain("40 buffers, 51 each");
  expect(products["forced"]).toContain("2001 buffers, 1 each");
  expect(products["raised"]).toContain("1 buffers, one of all");
  const additions = table(output, "200 additions of 13000000 elements");
  expect(additions["default"]).toContain("51 buffers, 4 each");
  expect(additions["forced"]).toContain("201 buffers, 1 each");
  expect(additions["raised"]).toContain("1 buffers, one of all");
  expect(output).not.toContain("measured");
});

test("models another architecture", async () => {
  const { output } = await run("--architecture", "applegpu_g17p");
  expect(table(output, "2000 products")["default"]).toContain("20 ops, 40 units");
  expect(table(output, "2000 products")["default"]).toContain("96 buffers, 21 each");
});

test("the children run and are timed", async () => {
  const { code, output } = await run("--measure", "--rounds", "1", "--elements", "1000");
  expect(code).toBe(0);
  expect([...output.matchAll(/measured \d+\.\d ms, \d+\.\d\dx/g)]).toHaveLength(6);
}, 70_000);

test("counts that are none are refused before anything is printed", async () => {
  for (const flag of ["--elements=abc", "--elements=-5", "--rounds=0", "--rounds=1.5"]) {
    const { code, output } = await run(flag, "--measure");
    expect(code).toBe(1);
    expect(output).toContain(`${flag.split("=")[0]}: expected an integer of at least 1`);
    expect(output).not.toContain("modelled");
  }
});

test("flags that do not exist are refused without a stack", async () => {
  const { code, output } = await run("--nosuch");
  expect(code).toBe(1);
  expect(output.trim()).toBe("error: Unknown option '--nosuch'");
});
