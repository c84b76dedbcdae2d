// Reports from users of MLX's bindings: disposal, growth in loops, long graphs.
import { describe, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { refusal, said, scoped } from "../helpers.ts";

describe("B22: disposing early harms nothing:", () => {
  scoped("in a function that is differentiated", () => {
    const gradient = mx.grad((x: mx.Array) => {
      using y = x.square();
      return y.square();
    })(mx.array(1.5));
    expect(gradient.item()).toBe(13.5);
  });
  scoped("before the result is evaluated", () => {
    const a = mx.ones([3]);
    const b = a.add(1);
    a.dispose();
    expect(b.tolist()).toEqual([2, 2, 2]);
  });
});

describe("B23: dispose", () => {
  scoped("can be repeated, and use afterwards throws with the operation's name", () => {
    const a = mx.array([1, 2, 3]);
    {
      using same = a;
      same.dispose();
      same.dispose();
    }
    a.dispose();
    const uses: Record<string, () => unknown> = {
      add: () => a.add(1),
      shape: () => a.shape,
      dtype: () => a.dtype,
      tolist: () => a.tolist(),
      toTypedArray: () => a.toTypedArray(),
      item: () => a.item(),
      eval: () => mx.eval(a),
      get: () => a.get(0),
      matmul: () => mx.matmul(mx.ones([3]), a),
    };
    for (const [name, use] of Object.entries(uses)) {
      expect(refusal(use)).toMatch(new RegExp(`^DisposedError: ${name}\\b`));
    }
  });
  scoped("leaves every alias readable", () => {
    const a = mx.array([1, 2, 3, 4]);
    const aliases = [a.astype("float32"), a.reshape(4), a.get(":"), mx.stopGradient(a), a.T, mx.contiguous(a)];
    a.dispose();
    for (const alias of aliases) expect(alias.tolist()).toEqual([1, 2, 3, 4]);
  });
  test("brings the live handles back to where they were", () => {
    const before = mx.memory().liveHandles;
    const a = mx.array([1, 2, 3]);
    const [b, c] = [a.add(1), a.reshape(3, 1)];
    expect(mx.memory().liveHandles).toBe(before + 3);
    for (const array of [a, b, c, a, b, c]) array.dispose();
    expect(mx.memory().liveHandles).toBe(before);
  });
});

describe("B25: a hot loop stays bounded", () => {
  // 256 KiB twice a step: 10 GB in all, if nothing were freed.
  const loop = (step: string): string => `
    const warm = (n) => { for (let i = 0; i < n; i++) { ${step} } };
    warm(500);
    Bun.gc(true); mx.collectForgotten(); mx.clearCache();
    const active = mx.activeMemory();
    const before = process.memoryUsage.rss();
    warm(20000);
    const grown = (process.memoryUsage.rss() - before) / 2 ** 20;
    const left = mx.activeMemory() - active;
    mx.collectForgotten();
    say(left, grown);`;

  test("in scopes: nothing is left", async () => {
    const [line = ""] = await said(loop("mx.tidy(() => mx.ones([256, 256]).add(i).get(0, 0).item());"), {
      timeout: 100,
    });
    const [left, grown] = line.split(" ").map(Number) as [number, number];
    console.log(`scoped: ${left} bytes active, resident memory grew ${grown.toFixed(1)} MB`);
    expect(left).toBe(0);
    expect(grown).toBeLessThan(200);
  }, 110_000);

  test("without any scope: the ledger keeps to its budget", async () => {
    const [line = ""] = await said(loop("mx.ones([256, 256]).add(i).get(0, 0).item();"), {
      timeout: 100,
      env: { MLX_TS_MEMORY_BUDGET: "256M" },
    });
    const [left, grown] = line.split(" ").map(Number) as [number, number];
    console.log(`unscoped: ${left} bytes active, resident memory grew ${grown.toFixed(1)} MB`);
    expect(left).toBeLessThan(300 * 2 ** 20);
    expect(grown).toBeLessThan(800);
  }, 110_000);
});

test("B26: transforms in a loop leave no handle, no function, no memory", async () => {
  const lines = await said(
    `
    const { liveFunctions } = await import(${JSON.stringify(`${import.meta.dir}/../../src/core/callbacks.ts`)});
    const x = mx.array(1);
    const measured = (name, count, step) => {
      for (let i = 0; i < count / 10; i++) step(i);
      const before = [mx.memory().liveHandles, liveFunctions(), mx.memory().rescued];
      const rss = process.memoryUsage.rss();
      for (let i = 0; i < count; i++) step(i);
      const after = [mx.memory().liveHandles, liveFunctions(), mx.memory().rescued];
      say(name, after.map((value, i) => value - before[i]).join(" "), (process.memoryUsage.rss() - rss) / 2 ** 20 < 50);
    };
    const g = mx.grad((x) => x.multiply(x));
    measured("grad", 50000, () => { using d = g(x); });
    measured("fresh grad", 5000, () => { using d = mx.grad((x) => x.multiply(x))(x); });
    const row = mx.ones([2]);
    measured("fresh vmap", 5000, () => { using d = mx.vmap((x) => x.multiply(x))(row); });
    measured("fresh compile", 5000, () => { using f = mx.compile((x) => x.multiply(x)); using d = f(x); });
    const data = new Float32Array(1000);
    measured("host buffers", 5000, () => { using d = mx.array(data); });
    const ten = mx.arange(10);
    measured("split", 5000, () => { mx.dispose(mx.split(ten, 5)); });
    say("grad", g(x).item());
  `,
    { timeout: 100 },
  );
  const names = ["grad", "fresh grad", "fresh vmap", "fresh compile", "host buffers", "split"];
  expect(lines).toEqual([...names.map((name) => `${name} 0 0 0 true`), "grad 2"]);
}, 110_000);

describe("B43: long graphs", () => {
  const body = `
    const chain = (n) => {
      let x = mx.array(1);
      for (let i = 0; i < n; i++) { const y = mx.sin(x); x.dispose(); x = y; }
      return x;
    };
    chain(100000).dispose();
    let pieces = mx.ones([4]);
    for (let i = 0; i < 100000; i++) {
      const parts = mx.split(pieces, 2);
      const next = mx.concatenate(parts);
      mx.dispose([parts, pieces]);
      pieces = next;
    }
    pieces.dispose();
    const short = chain(100000);
    say(short.item());
    const long = chain(300000);
    mx.eval(long);
    say(long.item());`;
  const values = (lines: string[]): void => {
    expect(lines.length).toBe(2);
    expect(Number(lines[0])).toBeCloseTo(0.005477, 6);
    expect(Number(lines[1])).toBeCloseTo(0.00316226, 8);
  };

  test("are disposed and evaluated on the main thread", async () => {
    values(await said(body, { timeout: 100 }));
  }, 110_000);

  test("and in a Worker, whose stack is smaller", async () => {
    const index = JSON.stringify(`${import.meta.dir}/../../src/index.ts`);
    const source = `import * as mx from ${index};\nconst say = (value) => postMessage(String(value));\n${body}\npostMessage("end");`;
    const lines = await said(
      `
      const worker = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(source)}], { type: "text/javascript" })));
      const ended = Promise.withResolvers();
      worker.onmessage = ({ data }) => (data === "end" ? ended.resolve() : say(data));
      worker.onerror = (event) => ended.reject(event.error ?? new Error(event.message));
      await ended.promise;
      worker.terminate();
    `,
      { timeout: 100 },
    );
    values(lines);
  }, 110_000);
});
