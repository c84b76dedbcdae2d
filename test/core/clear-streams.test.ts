// Streams of every kind, and their end. In processes of their own: other tests keep their default stream.
import { expect, test } from "bun:test";
import { said } from "../helpers.ts";

test("a thread-local stream, and one that any thread may use, compute", async () => {
  const lines = await said(`
    using local = mx.newThreadLocalStream("cpu");
    using shared = mx.newThreadUnsafeStream("cpu");
    attempt("local", () => mx.add(1, 1, { stream: local }).item());
    attempt("shared", () => mx.add(1, 2, { stream: shared }).item());
    attempt("scope", () => mx.withStream(local, () => mx.add(2, 2)).item());
    mx.synchronize(local);
    mx.synchronize(shared);
    say(String(local).replace(/[0-9]+\\)$/, "N)"), String(shared).replace(/[0-9]+\\)$/, "N)"));
    local.dispose();
    attempt("disposed", () => mx.add(1, 1, { stream: local }));
    attempt("gpu", () => mx.newThreadLocalStream("gpu"));
    attempt("nothing", () => mx.newThreadUnsafeStream("tpu"));
    attempt("by hand", () => new mx.ThreadLocalStream());
  `);
  expect(lines).toEqual([
    "local: 2",
    "shared: 3",
    "scope: 4",
    "ThreadLocalStream(Device(cpu, 0), N) Stream(Device(cpu, 0), N)",
    expect.stringContaining("disposed: DisposedError: add: this StreamThreadLocal was already disposed."),
    expect.stringContaining("gpu: MlxError: newThreadLocalStream: Device(gpu, 0) is not available"),
    expect.stringContaining('nothing: TypeError: newThreadUnsafeStream: a device is "cpu", "gpu" or a Device'),
    expect.stringContaining('by hand: TypeError: StreamThreadLocal cannot be made with "new".'),
  ]);
});

test("after clearStreams the defaults are new, old streams are refused, evaluated arrays and random numbers go on", async () => {
  const lines = await said(`
    const own = mx.newStream("cpu");
    const local = mx.newThreadLocalStream("cpu");
    const shared = mx.newThreadUnsafeStream("cpu");
    mx.add(1, 1, { stream: local }).item();
    mx.random.seed(3);
    const first = mx.random.uniform({ shape: [2] });
    const done = mx.add(1, 1);
    const lazy = mx.add(done, 1);
    mx.eval(done);
    mx.setDefaultStream(own);
    mx.clearStreams();
    attempt("default", () => mx.add(1, 1).item());
    attempt("shared", () => mx.add(1, 1, { stream: shared }).item());
    attempt("own", () => mx.add(1, 1, { stream: own }).item());
    attempt("own as default", () => mx.setDefaultStream(own));
    attempt("local", () => mx.add(1, 1, { stream: local }).item());
    attempt("wait for local", () => mx.synchronize(local));
    attempt("done", () => done.item());
    attempt("lazy", () => lazy.item());
    attempt("random", () => mx.random.uniform({ shape: [2] }).shape);
    attempt("inside", () => mx.withStream("cpu", () => mx.clearStreams()));
    for (let i = 0; i < 200; i++) {
      mx.clearStreams();
      using two = mx.add(1, 1);
      if (two.item() !== 2) throw new Error("wrong value");
    }
    attempt("new", () => mx.add(1, 1, { stream: mx.newStream("cpu") }).item());
    own.dispose();
  `);
  const gone = "this stream was destroyed by clearStreams";
  expect(lines).toEqual([
    "default: 2",
    "shared: 2",
    `own: MlxError: add: ${gone}`,
    `own as default: MlxError: setDefaultStream: ${gone}`,
    `local: MlxError: add: ${gone}`,
    `wait for local: MlxError: synchronize: ${gone}`,
    "done: 2",
    expect.stringMatching(/^lazy: MlxError: item: There is no Stream\(cpu, \d+\) in current thread\.$/),
    "random: [2]",
    "inside: Error: clearStreams: cannot be called inside withStream, whose stream would be gone.",
    "new: 2",
  ]);
});

test("a Worker that clears its streams leaves those of the main thread alone", async () => {
  const lines = await said(`
    const index = ${JSON.stringify(new URL("../../src/index.ts", import.meta.url).pathname)};
    const source = \`
      import * as mx from "\${index}";
      const before = mx.add(1, 1).item();
      mx.clearStreams();
      postMessage([before, mx.add(1, 2).item()]);
    \`;
    const own = mx.newStream("cpu");
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "application/typescript" })));
    const answer = await new Promise((resolve, reject) => {
      worker.onmessage = (event) => resolve(event.data);
      worker.onerror = (event) => reject(new Error(event.message));
    });
    worker.terminate();
    say(JSON.stringify(answer), mx.add(1, 1, { stream: own }).item(), mx.add(1, 1).item());
  `);
  expect(lines).toEqual(["[2,3] 2 2"]);
});
