// Graphs of very many operations one behind the other. MLX's transforms go down them by recursion, and where the stack
// ends, the process does: such a graph is refused. Each case is a process of its own.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeEnd, runProcess } from "../../scripts/gate/process.ts";
import { root } from "../helpers.ts";

const folder = mkdtempSync(join(tmpdir(), "mlx-ts-deep-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function run(depth: number, where = ""): Promise<string[]> {
  const program = join(import.meta.dir, "fixtures", "deep.ts");
  const command = [process.execPath, program, String(depth), join(folder, "deep.mlxfn"), where];
  const result = await runProcess(command, { cwd: root, timeout: 60, env: { NO_COLOR: "1" } });
  const problem = describeEnd(result, 60);
  if (problem !== null) throw new Error(`${problem}\n${result.output}`);
  return JSON.parse(result.output.trim()) as string[];
}

const transforms = "grad,vjp,jvp,vmap,compile,checkpoint,grad of compile,exportToDot,exportFunction".split(",");
const rest = ["eval: 100000", "freeing: undefined", "argument: 120000"];

function expectValues(lines: readonly string[], depth: number): void {
  const values = ["1", "1", "1", String(depth), String(depth), "1", "1", "undefined", "undefined"];
  expect(lines).toEqual([
    ...transforms.flatMap((name, i) => [`${name}, inside: ${values[i]}`, `${name}, before: ${values[i]}`]),
    ...rest,
  ]);
}

function expectRefusals(lines: readonly string[]): void {
  expect(lines.length).toBe(transforms.length * 2 + rest.length);
  const words =
    /^([\w ]+), \w+: MlxError: \w+: the graph is more than (\d+) operations deep, and MLX walks it by recursion/;
  const refused = lines.slice(0, -rest.length).map((line) => words.exec(line)?.[1] ?? line);
  expect(refused).toEqual(transforms.flatMap((name) => [name, name]));
  expect(lines.slice(-rest.length)).toEqual(rest);
}

test("graphs of 8,000 operations are transformed, in a Worker too", async () => {
  const [here, worker] = await Promise.all([run(8_000), run(8_000, "worker")]);
  expectValues(here, 8_000);
  expectValues(worker, 8_000);
}, 130_000);

test("graphs of 60,000 operations are refused, in a Worker too", async () => {
  const [here, worker] = await Promise.all([run(60_000), run(60_000, "worker")]);
  expectRefusals(here);
  expectRefusals(worker);
}, 130_000);
