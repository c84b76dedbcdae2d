// What a recording holds: operations, evaluations, transforms, files, counters, marks; and what is left behind: nothing.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { opHook, tracer } from "../../src/core/hooks.ts";
import { C } from "../../src/core/native.ts";
import * as mx from "../../src/index.ts";
import * as trace from "../../src/trace/index.ts";
import { collected } from "../collected.ts";
import { caught, refusal, untyped } from "../helpers.ts";
import { checkedTrace } from "./schema.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mlx-ts-trace-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The events of what `run` does, checked for form. */
function recorded(run: () => void, options: trace.RecordOptions = {}): trace.TraceEvent[] {
  using t = trace.record(options);
  mx.tidy(run);
  t.dispose();
  return checkedTrace(JSON.parse(JSON.stringify(t))).traceEvents;
}

const named = (events: readonly trace.TraceEvent[], cat: string): trace.TraceEvent[] =>
  events.filter((one) => one.cat === cat);

test("an operation has its shapes, dtypes, sizes and stream", () => {
  const events = recorded(() => {
    const a = mx.ones([3, 4]);
    mx.concatenate([mx.matmul(a, mx.ones([4, 5], { dtype: "float16" })), mx.zeros([3, 1])], { axis: 1, stream: "cpu" });
  });
  const ops = named(events, "op");
  expect(ops.map(({ name }) => name)).toEqual(["ones", "ones", "matmul", "zeros", "concatenate"]);
  expect(ops[2]!.args).toEqual({
    shape: [3, 5],
    dtype: "float32",
    elements: 15,
    bytes: 60,
    inputs: ["float32[3, 4]", "float16[4, 5]"],
    stream: "cpu 0",
  });
  expect(ops[4]!.args).toMatchObject({ shape: [3, 6], inputs: ["float32[3, 5]", "float32[3, 1]"] });
  for (const { dur, ts } of ops) expect([dur! > 0, ts > 0]).toEqual([true, true]);
});

test("scalars and operands that are left out", () => {
  const events = recorded(() => {
    mx.add(mx.array([1, 2]), 1);
    mx.fast.layerNorm(mx.ones([2, 4]), null, null, 1e-5);
  });
  const ops = named(events, "op");
  expect(ops.find(({ name }) => name === "add")!.args["inputs"]).toEqual(["float32[2]", "float32[]"]);
  expect(ops.find(({ name }) => name.endsWith("layerNorm"))!.args["inputs"]).toEqual(["float32[2, 4]"]);
});

test("several results of one call are one operation", () => {
  const ops = named(
    recorded(() => void mx.split(mx.arange(6), 3)),
    "op",
  );
  expect(ops.map(({ name }) => name)).toEqual(["arange", "split"]);
  expect(ops[1]!.args["outputs"]).toEqual(["int32[2]", "int32[2]", "int32[2]"]);
  // Its native call has no stream and is not watched.
  const x = mx.array([1]);
  const depends = recorded(() => [1, 2].forEach((count) => mx.depends(new Array<mx.Array>(count).fill(x), [x])));
  expect(named(depends, "op").map(({ args }) => args["outputs"] ?? 1)).toEqual([1, ["float32[1]", "float32[1]"]]);
  x.dispose();
});

test("a stream of one's own", () => {
  const events = recorded(() => {
    using stream = mx.newStream("cpu");
    mx.add(1, 2, { stream });
  });
  expect(named(events, "op")[0]!.args["stream"]).toMatch(/^cpu [1-9]\d*$/);
});

test("evaluations say how many arrays they were given", () => {
  const events = recorded(() => {
    const [a, b, c] = [mx.add(1, 1), mx.add(1, 2), mx.add(1, 3)];
    mx.eval(a, { b });
    mx.asyncEval(c);
    c.item();
    mx.synchronize();
  });
  expect(named(events, "eval").map(({ name, args }) => [name, args])).toEqual([
    ["eval", { arrays: 2 }],
    ["item", { arrays: 1 }],
  ]);
  expect(named(events, "asyncEval").map(({ args }) => args)).toEqual([{ arrays: 1 }]);
  expect(named(events, "wait").map(({ name }) => name)).toEqual(["synchronize"]);
});

test("a failed evaluation ends its span", () => {
  const events = recorded(() => {
    const singular = mx.linalg.inv(mx.zeros([2, 2]), { stream: "cpu" });
    expect(caught(() => mx.eval(singular))).toBeInstanceOf(mx.MlxError);
    expect(caught(() => mx.matmul(mx.ones([2, 3]), mx.ones([2, 3])))).toBeInstanceOf(mx.MlxError);
  });
  expect(named(events, "eval")).toHaveLength(1);
  // The call that failed built nothing.
  expect(named(events, "op").map(({ name }) => name)).toEqual(["zeros", "linalg.inv", "ones", "ones"]);
});

test("compiled functions: a miss, hits, a retrace, off", () => {
  const events = recorded(() => {
    using f = mx.compile(function twice(x: mx.Array) {
      return x.multiply(2);
    });
    for (const shape of [[2], [2], [3], [3]]) f(mx.ones(shape));
    mx.disableCompile();
    f(mx.ones([2]));
    mx.enableCompile();
  });
  const compiled = named(events, "compile");
  expect(compiled.map(({ name }) => name)).toEqual(new Array<string>(5).fill("twice"));
  expect(compiled.map(({ args }) => args["cache"])).toEqual(["miss", "hit", "retrace", "hit", "off"]);
});

test("transforms, and the functions that they call", () => {
  const events = recorded(() => {
    mx.grad((x: mx.Array) => mx.sum(x.square()))(mx.ones([3]));
  });
  expect(named(events, "transform").map(({ name }) => name)).toEqual(["grad"]);
  const [closure] = named(events, "closure");
  const inside = named(events, "op").filter(({ ts }) => ts >= closure!.ts && ts <= closure!.ts + closure!.dur!);
  expect(inside.map(({ name }) => name)).toEqual(["square", "sum"]);
});

test("an exception inside of a transform ends all of its spans", () => {
  const events = recorded(() => {
    const fail = (_x: mx.Array): mx.Array => {
      throw new Error("inside");
    };
    expect(caught(() => mx.grad(fail)(mx.ones([3]))).message).toBe("inside");
    mx.add(1, 1);
  });
  expect(named(events, "transform")).toHaveLength(1);
  expect(named(events, "closure")).toHaveLength(1);
});

test("loads and saves, with the sizes of files", () => {
  const events = recorded(() => {
    const a = mx.ones([100]);
    mx.save(join(folder, "a"), a);
    mx.saveSafetensors(join(folder, "b"), { a });
    mx.load(join(folder, "a.npy"));
    const bytes = mx.saveToBytes(a);
    mx.loadFromBytes(bytes, { format: "npy" });
    expect(caught(() => mx.load(join(folder, "none.npy")))).toBeInstanceOf(mx.MlxError);
  });
  const io = named(events, "io");
  expect(io.map(({ name }) => name)).toEqual(["save", "saveSafetensors", "load", "loadFromBytes", "load"]);
  for (const { args } of io.slice(0, 4)) expect(args["bytes"]).toBeGreaterThanOrEqual(400);
  expect(String(io[0]!.args["path"])).toEndWith("a.npy");
});

test("counters of memory and handles", () => {
  const events = recorded(() => {
    const a = mx.ones([1024, 256]);
    mx.eval(a);
    mx.eval(a.add(1));
  });
  const counters = named(events, "counter");
  expect([...new Set(counters.map(({ name }) => name))].sort()).toEqual([
    "MLX memory",
    "live bytes",
    "live handles",
    "rescued",
  ]);
  const memory = counters.filter(({ name }) => name === "MLX memory").map(({ args }) => args as Record<string, number>);
  expect(Object.keys(memory[0]!)).toEqual(["active", "cache", "peak"]);
  expect(memory.at(-1)!["peak"]! - memory[0]!["active"]!).toBeGreaterThanOrEqual(2 ** 20);
});

test("spans and marks nest, carry details, and note errors", () => {
  const events = recorded(() => {
    const value = trace.span("session", () => {
      trace.span("step", () => mx.add(1, 1), { step: 0 });
      expect(caught(() => trace.span("bad", () => mx.matmul(mx.ones([2]), mx.ones([3]))))).toBeInstanceOf(mx.MlxError);
      trace.mark("here", { at: 1 });
      return 7;
    });
    expect(value).toBe(7);
  });
  const spans = named(events, "span");
  expect(spans.map(({ name }) => name)).toEqual(["session", "step", "bad"]);
  expect(spans[1]!.args).toEqual({ step: 0 });
  expect(spans[2]!.args["error"]).toContain("matmul");
  expect(named(events, "mark").map(({ name, args }) => [name, args])).toEqual([["here", { at: 1 }]]);
});

test("details that a file cannot hold become words, and no Array is computed for them", () => {
  const loop: Record<string, unknown> = {};
  loop["self"] = loop;
  const events = recorded(() => {
    const x = mx.add(1, 1);
    trace.mark("here", { n: 1n, nan: Number.NaN, x, loop, list: [1, "a"], deep: [[1]], none: null, f: () => 1 });
    expect(x.isAvailable).toBe(false);
  });
  expect(named(events, "mark")[0]!.args).toEqual({
    ...{ n: "1n", nan: "NaN", x: "an Array", loop: "an object", list: [1, "a"] },
    ...{ deep: "[[1]]", none: null, f: "a function" },
  });
});

test("a path that is no file is refused, and a link stays one", () => {
  expect(refusal(() => trace.record({ path: folder }))).toBe(
    `MlxError: trace: ${folder} cannot be written: it is a folder.`,
  );
  const link = join(folder, "link.json");
  writeFileSync(join(folder, "real.json"), "");
  symlinkSync(join(folder, "real.json"), link);
  trace.record({ path: link, summary: false }).dispose();
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  checkedTrace(JSON.parse(readFileSync(join(folder, "real.json"), "utf8")));
  expect(readdirSync(folder).sort()).toEqual(["link.json", "real.json"]);
});

test("spans of promises overlap, and end when theirs does", async () => {
  using t = trace.record();
  const wait = (ms: number): Promise<number> => Bun.sleep(ms).then(() => ms);
  const results = await Promise.allSettled([
    trace.span("long", () => wait(30)),
    trace.span("short", () => wait(4)),
    trace.span("failing", async () => {
      await Bun.sleep(1);
      throw new Error("late");
    }),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  const { traceEvents } = checkedTrace(t.toJSON());
  const begun = traceEvents.filter(({ ph }) => ph === "b");
  expect(begun.map(({ name }) => name)).toEqual(["long", "short", "failing"]);
  expect(begun[2]!.args).toEqual({ error: "late" });
  expect(traceEvents.findLast(({ ph }) => ph === "e")!.name).toBe("long");
});

test("recordings nest and overlap; each has what happened while it lasted", () => {
  const names = (t: trace.Recording): string[] =>
    named(checkedTrace(t.toJSON()).traceEvents, "op").map(({ name }) => name);
  mx.tidy(() => {
    const first = trace.record();
    mx.add(1, 1);
    const second = trace.record();
    mx.multiply(1, 1);
    first.dispose();
    mx.subtract(1, 1);
    second.dispose();
    mx.divide(1, 1);
    expect(names(first)).toEqual(["add", "multiply"]);
    expect(names(second)).toEqual(["multiply", "subtract"]);
    expect(first.ops().map(({ name, outputs }) => [name, outputs[0]!.dtype])).toEqual([
      ["add", "int32"],
      ["multiply", "int32"],
    ]);
  });
});

test("a span is cut where the recording ends inside of it, and left out where it begins inside", () => {
  const outer = trace.record();
  let inner: trace.Recording | undefined;
  trace.span("around", () => {
    inner = trace.record();
    trace.span("inside", () => outer.dispose());
  });
  inner!.dispose();
  const spans = (t: trace.Recording): [string, boolean][] =>
    named(checkedTrace(t.toJSON()).traceEvents, "span").map(({ name, args }) => [name, args["open"] === true]);
  expect(spans(outer)).toEqual([
    ["around", true],
    ["inside", true],
  ]);
  expect(spans(inner!)).toEqual([["inside", false]]);
});

test("the buffer keeps the newest and says how many are gone", () => {
  using t = trace.record({ limit: 10 });
  mx.tidy(() => {
    for (let i = 0; i < 30; i++) mx.add(i, 1);
    trace.mark("last");
  });
  expect(t.length).toBe(10);
  expect(t.dropped).toBeGreaterThanOrEqual(21);
  const { traceEvents } = checkedTrace(t.toJSON());
  expect(traceEvents.filter(({ ph }) => ph !== "M")).toHaveLength(10);
  expect(traceEvents.some(({ name }) => name === "last")).toBe(true);
  expect(traceEvents.find(({ name }) => name === "mlx-ts recording")!.args).toMatchObject({
    limit: 10,
    dropped: t.dropped,
  });
  // The table counts what was dropped too.
  expect(t.slowest().rows.find(({ name }) => name === "add")!.count).toBe(30);
});

test("the slowest: ten rows and one for the rest, which add up to all of it", () => {
  using t = trace.record();
  mx.tidy(() => {
    const a = mx.ones([4]);
    for (const op of ["exp", "log", "sin", "cos", "tan", "sqrt", "abs", "square", "negative", "floor", "ceil"] as const)
      a[op]();
    mx.eval(a);
  });
  const { rows, rest, totalMs, wallMs, recordingMs } = t.slowest();
  expect(recordingMs).toBeGreaterThan(0);
  expect(rows).toHaveLength(10);
  expect(rest.count).toBe(3);
  expect(rows.map((row) => row.totalMs)).toEqual(rows.map((row) => row.totalMs).toSorted((a, b) => b - a));
  expect(rows.reduce((sum, row) => sum + row.totalMs, rest.totalMs)).toBeCloseTo(totalMs, 9);
  expect(totalMs + recordingMs).toBeLessThan(wallMs);
  expect(t.slowest(2).rows).toEqual(rows.slice(0, 2));
  const whole = t.toJSON().traceEvents.find(({ name }) => name === "mlx-ts slowest ops");
  expect((whole!.args["rows"] as unknown[]).length).toBe(10);
  expect(refusal(() => t.slowest(0))).toBe("RangeError: slowest: top must be a whole number from 1 on, got 0.");
});

test("where nothing is recorded, nothing of tracing is in the way", () => {
  const plain = { ...C };
  const listeners = process.eventNames().map((name) => [name, process.listenerCount(name)]);
  using t = trace.record({ path: join(folder, "t.json"), summary: false });
  expect(opHook).not.toBeNull();
  expect(tracer).not.toBeNull();
  expect(C.mlx_add).not.toBe(plain.mlx_add);
  expect(process.listenerCount("exit")).toBeGreaterThan(0);
  t.dispose();
  t.dispose();
  expect(opHook).toBeNull();
  expect(tracer).toBeNull();
  expect(Object.keys(plain).filter((name) => C[name as keyof typeof C] !== plain[name as keyof typeof C])).toEqual([]);
  expect(process.eventNames().map((name) => [name, process.listenerCount(name)])).toEqual(listeners);
  expect(trace.span("unseen", () => 1)).toBe(1);
  trace.mark("unseen");
  expect(checkedTrace(t.toJSON()).traceEvents.some(({ name }) => name === "unseen")).toBe(false);
});

test("ten thousand recordings leave nothing", async () => {
  const a = mx.array(1);
  const use = (): void => {
    using t = trace.record({ limit: 4 });
    using b = mx.add(a, 1);
    trace.span("step", () => b.shape);
    if (t.length === 0) throw new Error("nothing was recorded");
  };
  for (let i = 0; i < 500; i++) use();
  const before = await collected(1);
  Bun.gc(true);
  const heap = process.memoryUsage().heapUsed;
  for (let i = 0; i < 10_000; i++) use();
  expect(await collected(1)).toBe(before);
  Bun.gc(true);
  expect(process.memoryUsage().heapUsed - heap).toBeLessThan(2 ** 22);
  expect(opHook).toBeNull();
  a.dispose();
}, 20_000);

test("bad options", () => {
  expect(refusal(() => trace.record(untyped({ file: "x" })))).toBe(
    'TypeError: trace.record: unknown option "file". Did you mean "fine"? The options are path, fine, limit, summary.',
  );
  expect(refusal(() => trace.record({ path: "" }))).toBe(
    'TypeError: trace.record: path must be the name of a file, got "".',
  );
  expect(refusal(() => trace.record(untyped({ fine: 1 })))).toBe(
    "TypeError: trace.record: fine must be true or false, got 1.",
  );
  for (const limit of [0, 1.5, -1, Number.NaN, Infinity]) {
    expect(refusal(() => trace.record({ limit }))).toBe(
      `RangeError: trace.record: limit must be a whole number from 1 on, got ${limit}.`,
    );
  }
  const missing = join(folder, "no", "t.json");
  expect(refusal(() => trace.record({ path: missing }))).toStartWith(
    `MlxError: trace: ${missing} cannot be written: there is no such folder.`,
  );
  expect(refusal(() => trace.span(untyped(1), () => 1))).toBe("TypeError: trace.span: name must be a string, got 1.");
  expect(refusal(() => trace.span("a", untyped(1)))).toBe("TypeError: trace.span: expected a function, got 1.");
  expect(refusal(() => trace.span("a", () => 1, untyped([])))).toStartWith("TypeError: trace.span: details must be");
  expect(refusal(() => trace.mark(untyped(null)))).toBe("TypeError: trace.mark: name must be a string, got null.");
  using t = trace.record();
  expect(refusal(() => t.write())).toBe("TypeError: write: the recording has no path; give one.");
  expect(refusal(() => t.steps())).toBe("TypeError: steps: only a recording with { fine: true } knows the buffers.");
  t.dispose();
  expect(opHook).toBeNull();
});
