// Who owns native handles: each is freed exactly once, at once where it is asked for, within a budget where it is not.
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { liveFunctions } from "../../src/core/callbacks.ts";
import { adopt, Entry, enterNative, forEachLive, type Kind, release } from "../../src/core/ledger.ts";
import { functions } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { refusal, said, scoped, untyped } from "../helpers.ts";

const native = (): number => functions.mlxts_live_handles();

// The handle of the default stream is made once and kept.
mx.tidy(() => void mx.add(1, 1));

/** A kind that writes down what it frees. */
function counted(reentrant = false): { kind: Kind; freed: number[] } {
  const freed: number[] = [];
  return { freed, kind: { name: "Test", reentrant, free: (handle) => freed.push(handle) } };
}

describe("release", () => {
  test("frees once, whoever asks how often", () => {
    const { kind, freed } = counted();
    const before = mx.memory();
    const owner = {};
    const entry = adopt(owner, 7, 100, kind);
    expect(entry).toBeInstanceOf(Entry);
    expect(mx.memory().liveHandles - before.liveHandles).toBe(1);
    expect(mx.memory().liveBytes - before.liveBytes).toBe(100);
    for (let i = 0; i < 3; i++) release(entry);
    expect(freed).toEqual([7]);
    expect(entry.handle).toBe(0);
    expect(mx.memory().liveHandles).toBe(before.liveHandles);
    expect(mx.memory().liveBytes).toBe(before.liveBytes);
  });

  test("a view claims no more than a gibibyte", () => {
    const { kind } = counted();
    const before = mx.memory().liveBytes;
    const entry = adopt({}, 1, 2 ** 60, kind);
    expect(mx.memory().liveBytes - before).toBe(2 ** 30);
    release(entry);
    expect(mx.memory().liveBytes).toBe(before);
  });

  test("waits until no native call that runs JavaScript is on the stack, in order", () => {
    const { kind, freed } = counted(true);
    const plain = counted();
    const [a, b] = [adopt({}, 1, 0, kind), adopt({}, 2, 0, kind)];
    const c = adopt({}, 3, 0, plain.kind);
    const before = mx.memory().liveHandles;
    enterNative(() => {
      enterNative(() => {
        release(a);
        release(b);
        release(a);
        release(c);
      });
      // A plain handle is freed at once: only closures can be running.
      expect(plain.freed).toEqual([3]);
      expect(freed).toEqual([]);
    });
    expect(freed).toEqual([1, 2]);
    expect(mx.memory().liveHandles).toBe(before - 3);
  });

  test("what waits is freed too when the native call throws", () => {
    const { kind, freed } = counted(true);
    const entry = adopt({}, 9, 0, kind);
    const mine = new Error("mine");
    expect(() =>
      enterNative(() => {
        release(entry);
        throw mine;
      }),
    ).toThrow(mine);
    expect(freed).toEqual([9]);
    // And a later release frees at once again.
    const next = adopt({}, 10, 0, kind);
    release(next);
    expect(freed).toEqual([9, 10]);
  });
});

describe("dispose", () => {
  test("frees arrays in any order, views and results stay", () => {
    const before = native();
    const a = mx.array([
      [1, 2],
      [3, 4],
    ]);
    const t = a.T;
    const sum = mx.add(t, a);
    a.dispose();
    t.dispose();
    expect(sum.tolist()).toEqual([
      [2, 5],
      [5, 8],
    ]);
    sum.dispose();
    expect(native()).toBe(before);
  });

  test("using frees in the opposite order of declaration", () => {
    const { kind, freed } = counted();
    const disposable = (handle: number): Disposable => {
      const owner = {};
      const entry = adopt(owner, handle, 0, kind);
      return { [Symbol.dispose]: () => release(entry) };
    };
    {
      using _a = disposable(1);
      using _b = disposable(2);
      using _c = disposable(3);
    }
    expect(freed).toEqual([3, 2, 1]);
  });

  test("works in a DisposableStack, and on every kind of handle", () => {
    const before = native();
    const functionsBefore = liveFunctions();
    using stack = new DisposableStack();
    const values = [
      mx.array(1),
      mx.newStream("cpu"),
      mx.defaultStream("cpu"),
      new mx.Device("cpu", 3),
      new mx.Closure(([x]) => x!),
    ];
    for (const value of values) stack.use(value);
    expect(native()).toBe(before + 5);
    for (const value of values) expect(value.disposed).toBe(false);
    stack.dispose();
    for (const value of values) {
      expect(value.disposed).toBe(true);
      value.dispose();
      value[Symbol.dispose]();
    }
    expect(native()).toBe(before);
    expect(liveFunctions()).toBe(functionsBefore);
  });
});

describe("forgotten arrays", () => {
  test("are freed by collectForgotten, young ones too, and counted", () => {
    mx.collectForgotten();
    const before = mx.memory();
    const kept: mx.Array[] = [];
    for (let i = 0; i < 1000; i++) {
      const array = mx.array([i, i + 1]);
      if (i % 100 === 0) kept.push(array);
    }
    expect(mx.memory().liveHandles - before.liveHandles).toBe(1000);
    const freed = mx.collectForgotten();
    // The last few may still be on the stack or in a register.
    expect(freed).toBeGreaterThan(980);
    expect(mx.memory().rescued - before.rescued).toBe(freed);
    expect(kept.map((array) => (array.tolist() as number[])[0])).toEqual([
      0, 100, 200, 300, 400, 500, 600, 700, 800, 900,
    ]);
    mx.dispose(kept);
  });

  test("a disciplined loop is never collected", () => {
    const before = mx.memory();
    for (let i = 0; i < 5000; i++) {
      using a = mx.array([i]);
      mx.tidy(() => void mx.add(a, 1));
    }
    const after = mx.memory();
    expect([after.collections, after.rescued, after.liveHandles]).toEqual([
      before.collections,
      before.rescued,
      before.liveHandles,
    ]);
  });

  test("no collection happens inside of a callback", () => {
    using x = mx.array([1, 2, 3]);
    using closure = new mx.Closure(([a]) => {
      for (let i = 0; i < 50; i++) mx.array([i]);
      expect(mx.collectForgotten()).toBe(0);
      return a!;
    });
    const [y] = closure.apply([x]);
    expect(y!.tolist()).toEqual([1, 2, 3]);
    y!.dispose();
  });

  test("pile up to the budget in one synchronous job, the newest included, and no further", async () => {
    const lines = await said(`
      mx.setMemoryBudget(64 * 2 ** 20);
      let most = 0;
      // 200 arrays of 1 MiB each: fewer than the nursery holds.
      for (let round = 0; round < 5; round++) {
        for (let i = 0; i < 40; i++) mx.array(new Float32Array(2 ** 18));
        most = Math.max(most, mx.memory().liveBytes);
      }
      const { collections, rescued } = mx.memory();
      say(most <= 65 * 2 ** 20, collections > 0, rescued > 100);
    `);
    expect(lines).toEqual(["true true true"]);
  });

  test("do not pile up while the program is idle", async () => {
    const lines = await said(`
      mx.array(0).dispose();
      (() => { for (let i = 0; i < 2000; i++) mx.array([i]); })();
      const before = mx.memory().liveHandles;
      for (let i = 0; i < 10 && mx.memory().liveHandles > 400; i++) {
        Bun.gc(true);
        await Bun.sleep(10);
      }
      say(before, mx.memory().liveHandles <= 400, mx.memory().collections);
    `);
    expect(lines).toEqual(["2000 true 0"]);
  });

  test("live arrays over the budget do not make every allocation a collection", async () => {
    const lines = await said(`
      mx.setMemoryBudget(2 ** 20);
      const kept = [];
      for (let i = 0; i < 500; i++) kept.push(mx.array(new Float32Array(2 ** 14)));
      say(kept.every((array) => !array.disposed), mx.memory().collections < 40);
    `);
    expect(lines).toEqual(["true true"]);
  });
});

describe("a Worker that ends", () => {
  test.each(["by itself", "exit"])("%s frees what it still owned", async (how) => {
    const file = JSON.stringify(join(import.meta.dir, "fixtures/owner.worker.ts"));
    const lines = await said(`
      const { functions } = await import("./src/ffi.ts");
      mx.tidy(() => mx.eval(mx.add(1, 1)));
      const measure = () => [functions.mlxts_live_handles(), mx.activeMemory()];
      const before = measure();
      for (let i = 0; i < 5; i++) {
        const worker = new Worker(${file});
        const owned = await new Promise((resolve, reject) => {
          worker.onmessage = ({ data }) => resolve(data);
          worker.onerror = ({ message }) => reject(new Error(message));
          worker.postMessage("${how}");
        });
        if (owned < 300) throw new Error("it owned too little");
        await new Promise((resolve) => worker.addEventListener("close", resolve));
      }
      // What was in flight ends with its own time.
      for (let i = 0; i < 100 && mx.activeMemory() - before[1] > 2 ** 16; i++) await Bun.sleep(20);
      const [handles, bytes] = measure();
      // A thread keeps a handful of handles for good: its default stream, the closure and the seed of gradients.
      say(handles - before[0] <= 5 * 4, bytes - before[1] < 2 ** 16);
    `);
    expect(lines).toEqual(["true true"]);
  });
});

describe("the budget", () => {
  const ask = async (value: string): Promise<string> =>
    (
      await said(`attempt("budget", () => { mx.array(1); return mx.memory().budget; });`, {
        env: { MLX_TS_MEMORY_BUDGET: value },
      })
    )[0]!;

  test.each([
    ["1000", 1000],
    ["64K", 65536],
    ["1.5M", 1572864],
    ["2g", 2 * 2 ** 30],
    [" 3 GiB ", 3 * 2 ** 30],
    ["5MB", 5 * 2 ** 20],
    ["7b", 7],
  ])("MLX_TS_MEMORY_BUDGET=%s", async (text, bytes) => expect(await ask(text)).toBe(`budget: ${bytes}`));

  test.each(["0", "-1", "abc", "1T", "0.1", "1e9", "K", "1 000"])(
    "MLX_TS_MEMORY_BUDGET=%s is refused",
    async (text) => {
      expect(await ask(text)).toContain(
        `MLX_TS_MEMORY_BUDGET is "${text}": give a positive number of bytes, or one with K, M or G.`,
      );
    },
  );

  test("a wrong one is refused at every call, and nothing is lost", async () => {
    const lines = await said(
      `
      attempt("one", () => mx.array(1).item());
      attempt("two", () => mx.array(1).item());
      mx.setMemoryBudget(2 ** 30);
      attempt("three", () => mx.array(1).item());
      say(mx.memory().liveHandles);
    `,
      { env: { MLX_TS_MEMORY_BUDGET: "lots" } },
    );
    expect(lines.slice(0, 2).every((line) => line.includes('MLX_TS_MEMORY_BUDGET is "lots"'))).toBe(true);
    expect(lines.slice(2)).toEqual(["three: 1", "1"]);
  });

  test("the default is at most a quarter of the machine's memory", async () => {
    const [budget] = await said(`mx.array(1); say(mx.memory().budget <= require("node:os").totalmem() / 4);`);
    expect(budget).toBe("true");
  });

  test("setMemoryBudget wants a positive number", () => {
    for (const value of [0, -1, NaN, "1", null, undefined, 5n]) {
      expect(refusal(() => mx.setMemoryBudget(untyped(value)))).toBe(
        `RangeError: setMemoryBudget: bytes must be a positive number, got ${value}.`,
      );
    }
  });
});

describe("forEachLive", () => {
  scoped("visits the live entries of a kind, oldest first", () => {
    const { kind } = counted();
    const entries = [1, 2, 3].map((handle) => adopt({}, handle, 0, { ...kind, name: "Visited" }));
    release(entries[1]!);
    const seen: number[] = [];
    forEachLive("Visited", (entry) => seen.push(entry.handle));
    expect(seen).toEqual([1, 3]);
    for (const entry of entries) release(entry);
    forEachLive("Visited", () => {
      throw new Error("nothing is left");
    });
  });
});
