// What is recorded does what it would have done: its values, its errors, its end.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as mx from "../../src/index.ts";
import * as trace from "../../src/trace/index.ts";
import { openSpans } from "../../src/trace/tracer.ts";
import { root, runProgram, scoped } from "../helpers.ts";
import { checkedTrace, parsedTrace } from "./schema.ts";

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mlx-ts-trace-"));
  file = join(folder, "t.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const source = (path: string): string => JSON.stringify(join(root, "src", path));
const opsOf = (json: string): string[] =>
  parsedTrace(json)
    .traceEvents.filter(({ cat }) => cat === "op")
    .map(({ name }) => name);
const written = (): string[] => opsOf(readFileSync(file, "utf8"));

scoped("an operation of more operands than the ring has slots", () => {
  for (const fine of [false, true]) {
    using t = trace.record({ fine });
    const parts = Array.from({ length: 5000 }, (_, i) => mx.array([i]));
    expect(mx.concatenate(parts).sum().item()).toBe(12_497_500);
    expect(t.ops()[0]!.inputs).toHaveLength(5000);
  }
});

scoped("a lazy graph of more arrays than the ring has slots", () => {
  const before = mx.stack(Array.from({ length: 5000 }, (_, i) => mx.add(i, 1)));
  using t = trace.record({ fine: true });
  expect(mx.sum(before).item()).toBe(12_502_500);
  expect(t.steps().length).toBeGreaterThan(10_000);
});

const unreadable = (): never => {
  throw new Error("unreadable");
};
const { proxy: revoked, revoke } = Proxy.revocable({}, {});
revoke();
const thrown: [name: string, error: unknown, text: string][] = [
  ["an object without a prototype", Object.create(null), "cannot be read"],
  ["a message that throws", Object.defineProperty(new Error("a"), "message", { get: unreadable }), "cannot be read"],
  ["a revoked proxy", revoked, "cannot be read"],
  ["a message that is no text", Object.assign(new Error("a"), { message: 5n }), "5"],
  ["a symbol", Symbol("s"), "Symbol(s)"],
  ["nothing", undefined, "undefined"],
];

test.each(thrown)("what a span throws comes out as it is, and is noted: %s", async (_, error, text) => {
  using t = trace.record();
  const fail = (): never => {
    throw error;
  };
  const outcome = (run: () => unknown): unknown => {
    try {
      return run();
    } catch (out) {
      return { out };
    }
  };
  expect(Object.is((outcome(() => trace.span("sync", fail)) as { out: unknown }).out, error)).toBe(true);
  const late = trace.span("async", async () => fail());
  let same = false;
  await late.catch((out: unknown) => (same = Object.is(out, error)));
  expect(same).toBe(true);
  const events = parsedTrace(JSON.stringify(t)).traceEvents.filter(({ cat, ph }) => cat === "span" && ph !== "e");
  expect(events.map(({ args }) => [String(args["error"]).startsWith(text), args["open"]])).toEqual([
    [true, undefined],
    [true, undefined],
  ]);
});

test("what only looks like a promise is waited for, and what does not say so is a value", async () => {
  using t = trace.record();
  const thenable = { then: (done: (value: number) => void) => done(5) };
  const broken = { then: unreadable };
  const hidden = Object.defineProperty({}, "then", { get: unreadable });
  expect(await trace.span("thenable", () => thenable)).toBe(5);
  const failed = trace.span("broken", () => broken) as unknown as Promise<never>;
  expect(await failed.catch((error: Error) => error.message)).toBe("unreadable");
  expect(trace.span("hidden", () => hidden) === hidden).toBe(true);
  expect(trace.span("revoked", () => revoked) === revoked).toBe(true);
  const spans = parsedTrace(JSON.stringify(t)).traceEvents.filter(({ cat, ph }) => cat === "span" && ph !== "e");
  expect(spans.map(({ ph, name, args }) => [ph, name, args])).toEqual([
    ["b", "thenable", {}],
    ["b", "broken", { error: "unreadable" }],
    ["X", "hidden", {}],
    ["X", "revoked", {}],
  ]);
});

test("details that cannot be read are no error, and a list is copied", () => {
  using t = trace.record();
  const list: unknown[] = Object.assign([1, 2], { toJSON: () => 1n });
  const bad = Object.defineProperty({}, "a", { get: unreadable, enumerable: true });
  expect(trace.span("getter", () => 7, bad)).toBe(7);
  expect(trace.span("proxy", () => 8, { a: revoked })).toBe(8);
  trace.span("list", () => list.push({}), { list });
  const spans = parsedTrace(JSON.stringify(t)).traceEvents.filter(({ cat }) => cat === "span");
  expect(spans.map(({ args }) => args)).toEqual([
    { details: "cannot be read" },
    { details: "cannot be read" },
    { list: [1, 2] },
  ]);
});

test("in fine mode, operations of several results and transforms that fail leave nothing", () => {
  using bad = mx.full([2, 2], Number.NaN);
  using zeros = mx.zeros([2, 2, 2]);
  const stream = "cpu";
  const before = mx.memory().liveHandles;
  {
    using t = trace.record({ fine: true });
    expect(() => mx.linalg.svd(bad, { stream })).toThrow("linalg.svd");
    expect(() => mx.vmap((x: mx.Array) => mx.linalg.inv(x, { stream }))(zeros)).toThrow("vmap");
    checkedTrace(t.toJSON());
  }
  expect(mx.memory().liveHandles).toBe(before);
});

test("a span whose promise never ends is forgotten with the last recording", () => {
  const t = trace.record();
  void trace.span("forever", () => Promise.withResolvers<undefined>().promise);
  expect(openSpans()).toHaveLength(1);
  t.dispose();
  expect(openSpans()).toEqual([]);
});

test("stderr that takes nothing", async () => {
  const program = join(folder, "program.ts");
  writeFileSync(
    program,
    `import * as mx from ${source("index.ts")};\nimport * as trace from ${source("trace/index.ts")};
    { using t = trace.record({ fine: true, summary: true }); mx.add(1, 1).dispose(); }
    trace.captureGpu("x.gputrace", () => console.log("done", process.listenerCount("exit")));`,
  );
  // Writing to what was opened for reading fails.
  const stderr = openSync(program, "r");
  const env = { ...process.env, MLX_TS_TRACE: file };
  const child = Bun.spawn([process.execPath, program], { stdout: "pipe", stderr, env });
  const [text, code] = await Promise.all([child.stdout.text(), child.exited]);
  expect([text, code]).toEqual(["done 1\n", 0]);
  expect(written()).toEqual(["add"]);
});

test("a listener that the program has for one signal decides what the signal does", async () => {
  const body = `import * as trace from ${source("trace/index.ts")};
    process.once("SIGTERM", async () => { await Bun.sleep(50); mx.sin(1); process.exit(7); });
    const t = trace.record({ path: ${JSON.stringify(file)}, summary: false });
    mx.add(1, 1); setTimeout(() => {}, 20000); process.kill(process.pid, "SIGTERM");`;
  expect((await runProgram(body)).code).toBe(7);
  expect(written()).toEqual(["add", "sin"]);
});

/** Runs a program that loads itself anew once, by the option of Bun that is given, and then ends itself by SIGTERM. */
async function reloaded(option: string): Promise<{ text: string; signal: unknown }> {
  const other = join(folder, "other.ts");
  const program = join(folder, "program.ts");
  writeFileSync(other, "export const turn = 1;\n");
  writeFileSync(
    program,
    `import { writeFileSync } from "node:fs";\nimport * as mx from ${source("index.ts")};
    import { turn } from "./other.ts";
    if (turn === 1) mx.sin(1); else mx.cos(1);
    console.log(turn, process.listenerCount("SIGTERM"));
    if (turn === 1) setTimeout(() => writeFileSync(${JSON.stringify(other)}, "export const turn = 2;\\n"), 200);
    else process.kill(process.pid, "SIGTERM");
    setTimeout(() => process.exit(9), 15000);`,
  );
  const env = { ...process.env, MLX_TS_TRACE: file };
  const child = Bun.spawn([process.execPath, option, program], { stdout: "pipe", stderr: "ignore", env });
  const text = await child.stdout.text();
  await child.exited;
  return { text, signal: child.signalCode };
}

test("a program that --hot loads anew keeps what it recorded, and a signal ends it", async () => {
  expect(await reloaded("--hot")).toEqual({ text: "1 1\n2 1\n", signal: "SIGTERM" });
  expect(written().sort()).toEqual(["cos", "sin"]);
}, 20_000);

test("a program that --watch loads anew goes on, in a trace of its own", async () => {
  expect(await reloaded("--watch")).toEqual({ text: "1 1\n2 1\n", signal: "SIGTERM" });
  expect(written()).toEqual(["cos"]);
}, 20_000);

test("children that get the first environment, or begin in another folder, write into the same file", async () => {
  const inner = join(folder, "inner");
  mkdirSync(inner);
  const child = join(folder, "child.ts");
  writeFileSync(child, `import * as mx from ${source("index.ts")};\nmx.cos(1).dispose();\n`);
  const program = join(folder, "program.ts");
  // Bun.spawn gives the environment that the process had when it began, unless it is told otherwise.
  writeFileSync(
    program,
    `import * as mx from ${source("index.ts")};\nmx.sin(1);
    const command = [process.execPath, ${JSON.stringify(child)}];
    await Bun.spawn(command, { stderr: "ignore" }).exited;
    await Bun.spawn(command, { stderr: "ignore", env: process.env, cwd: ${JSON.stringify(inner)} }).exited;`,
  );
  const parent = Bun.spawn([process.execPath, program], {
    ...{ cwd: folder, stdout: "ignore", stderr: "ignore" },
    env: { ...process.env, MLX_TS_TRACE: "t.json" },
  });
  expect(await parent.exited).toBe(0);
  expect(written().sort()).toEqual(["cos", "cos", "sin"]);
}, 20_000);
