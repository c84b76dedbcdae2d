// Reports from users of MLX's bindings: native errors, Workers, the end of the process.
import { describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { describeEnd } from "../../scripts/gate/process.ts";
import { root, runProgram, said } from "../helpers.ts";

const index = JSON.stringify(`${root}/src/index.ts`);

/** A program of its own, with its two outputs apart. */
async function outputs(body: string): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, ["-e", `import * as mx from ${index};\n${body}`], { cwd: root });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, out, err };
}

/** What a program does with a Worker that runs `source`: resolves to the messages, in order, when it says "end". */
const worker = (source: string): string => `
  const start = () => {
    const { promise, resolve, reject } = Promise.withResolvers();
    const url = URL.createObjectURL(new Blob([${JSON.stringify(source)}], { type: "text/javascript" }));
    const worker = new Worker(url);
    const messages = [];
    worker.onmessage = ({ data }) => (data === "end" ? resolve({ worker, messages }) : messages.push(data));
    worker.onerror = (event) => reject(new Error(event.message));
    return promise;
  };`;

describe("B30: a native error", () => {
  const message = "[broadcast_shapes] Shapes (2,3) and (2) cannot be broadcast.";

  test("as the very first call: an Error, nothing on either output, and the process goes on", async () => {
    const { code, out, err } = await outputs(`
      let found;
      try { mx.add(mx.ones([2, 3]), mx.ones([2])); } catch (error) { found = error; }
      if (!(found instanceof mx.MlxError) || !found.message.includes(${JSON.stringify(message)})) process.exit(5);
      if (mx.add(1, 2).item() !== 3) process.exit(6);
      process.exit(4);
    `);
    expect({ code, out, err }).toEqual({ code: 4, out: "", err: "" });
  });

  test("inside a Worker, and in the main thread after it", async () => {
    const source = `import * as mx from ${index};
      try { mx.add(mx.ones([2, 3]), mx.ones([2])); } catch (error) { postMessage(error.message); }
      postMessage("end");`;
    const lines = await said(`${worker(source)}
      const { worker, messages } = await start();
      say(messages.length, messages[0]);
      worker.terminate();
      attempt("main", () => mx.add(mx.ones([2, 3]), mx.ones([2])));
      say(mx.add(1, 2).item());
    `);
    expect(lines[0]).toContain(`1 add: ${message}`);
    expect(lines[1]).toContain(`main: MlxError: add: ${message}`);
    expect(lines[2]).toBe("3");
  });

  test("a thousand times leaves nothing behind", async () => {
    const lines = await said(`
      const [a, b] = [mx.ones([2, 3]), mx.ones([2])];
      const { functions } = await import(${JSON.stringify(`${root}/src/ffi.ts`)});
      const fail = (n) => { let failed = 0; for (let i = 0; i < n; i++) try { mx.add(a, b); } catch { failed++; } return failed; };
      fail(100);
      const before = [mx.memory().liveHandles, functions.mlxts_live_handles()];
      const rss = process.memoryUsage.rss();
      const failed = fail(1000);
      say(failed, mx.memory().liveHandles - before[0], functions.mlxts_live_handles() - before[1]);
      say((process.memoryUsage.rss() - rss) / 2 ** 20 < 20);
    `);
    expect(lines).toEqual(["1000 0 0", "true"]);
  });
});

describe("B31: Workers", () => {
  const sum = `import * as mx from ${index};
    postMessage(mx.sum(mx.arange(10)).item());
    postMessage("end");`;

  test("eight at once load, compute and are terminated", async () => {
    const lines = await said(
      `${worker(sum)}
      const all = await Promise.all(Array.from({ length: 8 }, start));
      say(all.map(({ messages }) => messages.join()).join(" "));
      for (const { worker } of all) worker.terminate();
      say(mx.sum(mx.arange(10)).item());
    `,
      { timeout: 90 },
    );
    expect(lines).toEqual([new Array(8).fill("45").join(" "), "45"]);
  }, 100_000);

  test("one ends with an evaluation pending", async () => {
    const pending = `import * as mx from ${index};
      const x = mx.random.normal([600, 600]);
      mx.asyncEval(x.matmul(x).matmul(x));
      postMessage("end");`;
    const lines = await said(
      `${worker(pending)}
      const { worker } = await start();
      await worker.terminate();
      say(mx.sum(mx.arange(10)).item());
    `,
      { timeout: 60 },
    );
    expect(lines).toEqual(["45"]);
  }, 70_000);

  test("an error in one does not reach another, and functions run in their own thread", async () => {
    const bad = `import * as mx from ${index};
      let caught = 0;
      for (let i = 0; i < 200; i++) try { mx.add(mx.ones([2, 3]), mx.ones([2])); } catch { caught++; }
      const gradient = mx.grad((x) => x.multiply(x));
      let sum = 0;
      for (let i = 0; i < 200; i++) sum += gradient(mx.array(i)).item();
      postMessage(caught + " " + sum);
      postMessage("end");`;
    const lines = await said(
      `${worker(bad)}
      const others = [start(), start()];
      let failed = 0;
      const gradient = mx.grad((x) => x.multiply(3).multiply(x));
      let sum = 0;
      for (let i = 0; i < 400; i++) {
        try { sum += gradient(mx.array(i)).item(); } catch { failed++; }
        if (i % 20 === 0) await Bun.sleep(1);
      }
      const all = await Promise.all(others);
      say(failed, sum, all.map(({ messages }) => messages.join()).join(" | "));
      for (const { worker } of all) worker.terminate();
    `,
      { timeout: 60 },
    );
    const sumTo = (n: number): number => (n * (n - 1)) / 2;
    expect(lines).toEqual([`0 ${6 * sumTo(400)} 200 ${2 * sumTo(200)} | 200 ${2 * sumTo(200)}`]);
  }, 70_000);

  test("a lazy array of another thread cannot be reached: arrays refuse to be sent", async () => {
    const lines = await said(`${worker(sum)}
      const { worker } = await start();
      attempt("send", () => worker.postMessage(mx.arange(3)));
      attempt("clone", () => structuredClone(mx.arange(3)));
      worker.terminate();
    `);
    for (const line of lines) expect(line).toMatch(/^(send|clone): \w*Error: /);
    expect(lines.length).toBe(2);
  });
});

describe("B32: the end of the process", () => {
  const queue = `
    const x = mx.random.normal([1500, 1500]);
    let y = x;
    for (let i = 0; i < 6; i++) y = y.matmul(x);
    mx.asyncEval(y);`;
  const endings: Record<string, [body: string, code: number]> = {
    "with work in flight": [queue, 0],
    "by process.exit with work in flight": [`${queue}\nprocess.exit(3);`, 3],
    "with live arrays and a compiled function": [
      "const f = mx.compile((x) => x.add(1)); globalThis.kept = [f, f(mx.array(1)), mx.ones([100])]; mx.eval(kept[1]);",
      0,
    ],
    "by an uncaught error with live arrays": [
      "globalThis.kept = mx.ones([100]).add(1); mx.eval(kept); throw new Error('uncaught');",
      1,
    ],
  };
  for (const [name, [body, code]] of Object.entries(endings)) {
    test(`${name}: code ${code}, soon`, async () => {
      const result = await runProgram(body, { timeout: 30 });
      expect({ code: result.code, signal: result.signal, timedOut: result.timedOut }).toEqual({
        code,
        signal: null,
        timedOut: false,
      });
      if (code === 0) expect(describeEnd(result, 30)).toBeNull();
      console.log(`${name}: ${result.seconds.toFixed(1)} s`);
      expect(result.seconds).toBeLessThan(10);
    }, 40_000);
  }
});
