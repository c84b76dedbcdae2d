// examples/trace-chat.ts as a user runs it, on a tiny model: its trace has the prompt's work, the steps, and the memory.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runProcess } from "../../scripts/gate/process.ts";
import type { TraceEvent, TraceFile } from "../../src/trace/index.ts";
import { root } from "../helpers.ts";
import { scratchFolder } from "../io/make-gguf.ts";
import { tinyGguf } from "../llm/tiny.ts";
import { parsedTrace } from "./schema.ts";

const folder = scratchFolder();
let tiny = "";
beforeAll(() => {
  tiny = folder.write("tiny.gguf", tinyGguf());
});
afterAll(folder.remove);

async function run(program: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const result = await runProcess([process.execPath, join(root, "examples", program), "--model", tiny, ...args], {
    cwd: folder.path,
    timeout: 60,
    env: { NO_COLOR: "1", MLX_TS_BLAS_THREADS: "1", ...env },
  });
  expect([result.code, result.output]).toEqual([0, result.output]);
  return result.output;
}

const written = (): TraceFile => parsedTrace(readFileSync(join(folder.path, "chat.json"), "utf8"));
const named = (events: readonly TraceEvent[], name: string, ph = "b"): TraceEvent[] =>
  events.filter((event) => event.name === name && event.ph === ph);

test.each([[[]], [["--fine"]]])(
  "the example's trace, with %p",
  async (more) => {
    const output = await run("trace-chat.ts", ["--out", "chat.json", "--max-tokens", "6", ...more, "hello", "there"]);
    expect(output).toContain("Slowest:");
    const { traceEvents } = written();
    for (const name of ["load", "session", "prefill"]) expect(named(traceEvents, name)).toHaveLength(1);
    expect(named(traceEvents, "decode step").length).toBeGreaterThan(2);
    // A step builds the next token's graph and starts it.
    const ends = new Map(traceEvents.filter(({ ph }) => ph === "e").map(({ id, ts }) => [id, ts]));
    const prefill = named(traceEvents, "prefill")[0]!;
    const inside = traceEvents.filter(({ ts }) => ts >= prefill.ts && ts <= ends.get(prefill.id)!);
    expect(inside.filter(({ cat }) => cat === "op").length).toBeGreaterThan(10);
    expect(named(inside, "eval", "X").length).toBeGreaterThan(0);
    expect(named(traceEvents, "asyncEval", "X").length).toBeGreaterThan(2);
    const memory = named(traceEvents, "MLX memory", "C");
    expect(memory.length).toBeGreaterThan(5);
    expect(Math.max(...memory.map(({ args }) => args["peak"] as number))).toBeGreaterThan(10_000);
    expect(traceEvents.some(({ cat }) => cat === "primitive")).toBe(more.length > 0);
  },
  70_000,
);

test("the chat example itself, by the environment alone", async () => {
  const output = await run("chat.ts", ["--prompt-ids", "5,6,7", "--max-tokens", "4"], {
    MLX_TS_TRACE: join(folder.path, "chat.json"),
  });
  expect(output).toContain("Slowest:");
  const { traceEvents } = written();
  expect(traceEvents.filter(({ cat }) => cat === "io").map(({ name }) => name)).toEqual(["load"]);
  expect(named(traceEvents, "item", "X")).toHaveLength(4);
}, 70_000);
