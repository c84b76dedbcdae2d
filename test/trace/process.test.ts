// Traces of whole processes: by the environment, at every kind of end, of several threads and processes in one file.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProcessResult } from "../../scripts/gate/process.ts";
import type { TraceEvent, TraceFile } from "../../src/trace/index.ts";
import { root, runProgram } from "../helpers.ts";
import { parsedTrace } from "./schema.ts";

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mlx-ts-trace-"));
  file = join(folder, "t.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const tracing = JSON.stringify(join(root, "src/trace/index.ts"));
const importTrace = `import * as trace from ${tracing};\n`;

function written(): TraceFile {
  const left = readdirSync(folder).filter((name) => /\.(?:lock|tmp)$/.test(name));
  expect(left).toEqual([]);
  return parsedTrace(readFileSync(file, "utf8"));
}
const ops = (events: readonly TraceEvent[]): string[] =>
  events.filter(({ cat }) => cat === "op").map(({ name }) => name);

function traced(body: string, env: Record<string, string> = {}): Promise<ProcessResult> {
  return runProgram(body, { env: { MLX_TS_TRACE: file, ...env } });
}

test("MLX_TS_TRACE traces a program that knows nothing of tracing, from its first operation on", async () => {
  const result = await traced("mx.eval(mx.add(mx.array([1, 2]), 1)); mx.multiply(2, 3).item();");
  expect(result.code).toBe(0);
  const { traceEvents } = written();
  expect(ops(traceEvents)).toEqual(["add", "multiply"]);
  expect(traceEvents.filter(({ cat }) => cat === "eval").map(({ name }) => name)).toEqual(["eval", "item"]);
  expect(result.output).toContain(`events written to ${file}. Slowest:`);
  expect(result.output).toMatch(/^add +1 /m);
  expect(result.output).toMatch(/^the rest /m);
});

test("without the variable the tracer is not loaded", async () => {
  const body =
    "mx.eval(mx.add(1, 1)); say(Object.keys(require.cache).filter((name) => /src.trace./.test(name)).length);";
  const plain = await runProgram(body, { env: { MLX_TS_TRACE: "" } });
  expect(plain.output.trim()).toBe("0");
  expect((await traced(body)).output).not.toMatch(/^0$/m);
});

test("a fine process, and a bounded one", async () => {
  const result = await traced("for (let i = 0; i < 20; i++) mx.add(i, 1);", {
    MLX_TS_TRACE_FINE: "1",
    MLX_TS_TRACE_LIMIT: "12",
  });
  expect(result.output).toContain("mlx-ts trace: fine mode");
  expect(result.output).toMatch(/the oldest \d+ events were dropped/);
  const { traceEvents } = written();
  expect(traceEvents.filter(({ ph }) => ph !== "M")).toHaveLength(12);
  expect(traceEvents.some(({ cat, name }) => cat === "primitive" && name === "Add")).toBe(true);
});

test("variables that make no sense", async () => {
  expect((await traced("mx.add(1, 1)", { MLX_TS_TRACE_LIMIT: "many" })).output).toContain(
    'MLX_TS_TRACE_LIMIT is "many"',
  );
  expect((await traced("mx.add(1, 1)", { MLX_TS_TRACE_FINE: "maybe" })).output).toContain(
    'MLX_TS_TRACE_FINE is "maybe"',
  );
  const result = await traced("mx.add(1, 1)", { MLX_TS_TRACE: join(folder, "none", "t.json") });
  expect(result.output).toContain("cannot be written: there is no such folder.");
  expect(result.code).not.toBe(0);
});

const ends: Record<string, [body: string, code: number]> = {
  "process.exit": ["process.exit(3);", 3],
  "an uncaught error": ['throw new Error("uncaught");', 1],
  "an uncaught error in a timer": ['setTimeout(() => { throw new Error("uncaught"); }, 1);', 1],
  "a rejection that nobody handles": ['await Promise.reject(new Error("uncaught"));', 1],
  "process.exit inside of a span, a transform and a callback": [
    'trace.span("open", () => mx.grad((x) => { mx.sin(x); process.exit(4); })(mx.array(1)));',
    4,
  ],
};

test.each(Object.entries(ends))("%s: the file is written", async (_, [body, code]) => {
  const result = await traced(`${importTrace}mx.eval(mx.add(1, 1));\n${body}`);
  expect(result.code).toBe(code);
  const { traceEvents } = written();
  expect(ops(traceEvents)).toContain("add");
  if (code === 4) {
    const open = traceEvents.filter(({ args }) => args["open"] === true).map(({ name }) => name);
    expect(open).toEqual(["open", "grad", "closure"]);
    expect(ops(traceEvents)).toContain("sin");
  }
});

test.each(["SIGINT", "SIGTERM", "SIGHUP"])(
  "%s: the file is written, and the signal ends the process",
  async (signal) => {
    const result = await traced(
      `mx.eval(mx.add(1, 1)); setTimeout(() => {}, 20000); process.kill(process.pid, "${signal}");`,
    );
    expect(result.signal ?? result.code).not.toBe(0);
    expect(result.seconds).toBeLessThan(15);
    expect(ops(written().traceEvents)).toEqual(["add"]);
  },
);

test("a signal that the program handles is the program's", async () => {
  const body = `process.on("SIGINT", () => { mx.sin(1); say("handled"); process.exit(5); });
    mx.add(1, 1); setTimeout(() => {}, 20000); process.kill(process.pid, "SIGINT");`;
  const result = await traced(body);
  expect(result.code).toBe(5);
  expect(result.output).toContain("handled");
  expect(ops(written().traceEvents)).toEqual(["add", "sin"]);
});

test("a region's file is valid from its start on, is written on an uncaught error, and is gone from memory", async () => {
  const body = `${importTrace}import { readFileSync } from "node:fs";
    const path = ${JSON.stringify(file)};
    { using t = trace.record({ path, summary: false }); mx.add(1, 1);
      say(JSON.parse(readFileSync(path, "utf8")).traceEvents.filter((e) => e.cat === "op").length);
      t.write(); say(JSON.parse(readFileSync(path, "utf8")).traceEvents.filter((e) => e.cat === "op").length);
    }
    say(process.listenerCount("exit"));
    const left = trace.record({ path, summary: false }); mx.multiply(1, 1);
    throw new Error("uncaught");`;
  const result = await runProgram(body);
  expect(result.output.split("\n").slice(0, 2)).toEqual(["0", "1"]);
  expect(ops(written().traceEvents)).toEqual(["add", "multiply"]);
});

test("Workers and child processes write into the same file, each under its own number", async () => {
  const index = JSON.stringify(join(root, "src/index.ts"));
  const worker = join(folder, "worker.ts");
  writeFileSync(worker, `import * as mx from ${index};\nmx.eval(mx.cos(mx.array([1, 2])));\npostMessage("done");\n`);
  const child = join(folder, "child.ts");
  writeFileSync(child, `import * as mx from ${index};\nmx.eval(mx.tanh(mx.array([1, 2])));\n`);
  const body = `
    mx.eval(mx.sin(1));
    const ends = [1, 2].map(() => new Promise((resolve) => {
      const worker = new Worker(${JSON.stringify(worker)});
      worker.addEventListener("close", resolve);
    }));
    const children = [1, 2].map(() => Bun.spawn([process.execPath, ${JSON.stringify(child)}], { stderr: "ignore", env: process.env }).exited);
    await Promise.all([...ends, ...children]);
    mx.eval(mx.exp(1));`;
  const result = await traced(body, { TMPDIR: folder });
  expect(result.code).toBe(0);
  const { traceEvents, otherData } = written();
  expect(ops(traceEvents).sort()).toEqual(["cos", "cos", "exp", "sin", "tanh", "tanh"]);
  const threads = new Set(traceEvents.map(({ pid, tid }) => `${pid}.${tid}`));
  expect(threads.size).toBe(5);
  expect(new Set(traceEvents.map(({ pid }) => pid)).size).toBe(3);
  expect(otherData.writers).toHaveLength(5);
  for (const { from, count } of otherData.writers)
    expect(traceEvents[from]!.pid).toBe(traceEvents[from + count - 1]!.pid);
  const names = traceEvents.filter(({ name }) => name === "thread_name").map(({ args }) => String(args["name"]));
  expect(names.filter((name) => name === "main")).toHaveLength(3);
  expect(names.filter((name) => name.startsWith("Worker "))).toHaveLength(2);
  // One clock: what a Worker does lies between what the main thread does before and after.
  const at = (name: string): number => traceEvents.find((event) => event.cat === "op" && event.name === name)!.ts;
  expect(at("sin") < at("cos") && at("cos") < at("exp")).toBe(true);
}, 30_000);

test("two recordings of one thread into one file share their events, and another run overwrites", async () => {
  const body = (op: string): string => `${importTrace}const path = ${JSON.stringify(file)};
    const a = trace.record({ path, summary: false }); mx.add(1, 1);
    const b = trace.record({ path, summary: false }); mx.${op}(1, 1); b.write();
    a.dispose(); mx.subtract(1, 1); b.dispose(); b.write();`;
  expect((await runProgram(body("multiply"))).code).toBe(0);
  expect(ops(written().traceEvents).sort()).toEqual(["add", "multiply", "subtract"]);
  expect((await runProgram(body("divide"))).code).toBe(0);
  expect(ops(written().traceEvents).sort()).toEqual(["add", "divide", "subtract"]);
});

test("a file that is no trace is replaced; a lock whose process is gone is not waited for", async () => {
  writeFileSync(file, "not json");
  const gone = Bun.spawn([process.execPath, "-e", ""]);
  await gone.exited;
  writeFileSync(`${file}.lock`, String(gone.pid));
  const result = await traced("mx.add(1, 1);");
  expect(result.code).toBe(0);
  expect(result.seconds).toBeLessThan(8);
  expect(ops(written().traceEvents)).toEqual(["add"]);
});

test("threads that write at the same time lose nothing", async () => {
  const worker = join(folder, "worker.ts");
  const index = JSON.stringify(join(root, "src/index.ts"));
  writeFileSync(
    worker,
    `import * as mx from ${index};
    ${importTrace}
    for (let i = 0; i < 8; i++) {
      using t = trace.record({ path: ${JSON.stringify(file)}, summary: false });
      mx.add(i, 1).dispose();
    }`,
  );
  const body = `mx.sin(1);
    await Promise.all([1, 2, 3].map(() => new Promise((resolve) => {
      const worker = new Worker(${JSON.stringify(worker)});
      worker.addEventListener("error", ({ message }) => say(message));
      worker.addEventListener("close", resolve);
    })));`;
  const result = await runProgram(body);
  expect([result.code, result.output]).toEqual([0, ""]);
  const { traceEvents, otherData } = written();
  expect(ops(traceEvents)).toEqual(new Array<string>(24).fill("add"));
  expect(otherData.writers).toHaveLength(24);
}, 30_000);
