// compile where something goes wrong or ends: failures, leaked placeholders, disposal, recursion, collection, threads.
import { describe, expect, test } from "bun:test";
import { functions } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { caught, refusal, said, scoped, untyped } from "../helpers.ts";
import { watchHandles } from "./watch.ts";

watchHandles();

const vector = (...values: number[]): mx.Array => mx.array(values);

describe("failures", () => {
  test("come out as the same object, and the next call works", () => {
    class Mine extends Error {}
    for (const thrown of [new Mine("mine"), "text", undefined, null, 5, Symbol("s")]) {
      let fail = true;
      using f = mx.compile((x: mx.Array) => {
        if (fail) throw thrown;
        return mx.add(x, 1);
      });
      using x = vector(1);
      for (let i = 0; i < 2; i++) {
        let got: unknown = "nothing";
        try {
          f(x);
        } catch (error) {
          got = error;
        }
        expect(got).toBe(thrown);
      }
      fail = false;
      using y = f(x);
      using z = f(x);
      expect([y.item(), z.item(), f.traceCount]).toEqual([2, 2, 3]);
    }
    const error = caught(() => {
      using f = mx.compile(function named() {
        throw new Mine("with a stack");
      });
      f();
    });
    expect(error.stack).toContain("named");
  });

  test("without any array among the arguments leave no broken graph", () => {
    let fail = true;
    using f = mx.compile(() => {
      using one = mx.add(1, 1);
      if (fail) throw new Error("first");
      return mx.add(one, 1);
    });
    expect(caught(f).message).toBe("first");
    expect(caught(f).message).toBe("first");
    fail = false;
    using y = f();
    expect(y.item()).toBe(3);
  });

  scoped("of one form leave the others right", () => {
    using f = mx.compile((x: mx.Array, bad: boolean) => {
      if (bad) throw new Error("bad");
      return x.size === 3 ? [x] : [x, x];
    });
    expect(f(vector(1), false).length).toBe(2);
    expect(f(vector(1, 2, 3), false).length).toBe(1);
    expect(caught(() => f(vector(1), true)).message).toBe("bad");
    expect(f(vector(1), false).length).toBe(2);
    expect(f(vector(1, 2, 3), false).length).toBe(1);
  });

  scoped("of MLX itself are errors of compile", () => {
    using f = mx.compile((x: mx.Array) => mx.matmul(x, x));
    expect(caught(() => f(mx.ones([2, 3])))).toBeInstanceOf(mx.MlxError);
    expect(f(mx.ones([2, 2])).tolist()).toEqual([
      [2, 2],
      [2, 2],
    ]);
  });

  scoped("bad arguments are refused before anything runs", () => {
    let ran = 0;
    using f = mx.compile((..._: unknown[]) => void ran++);
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    expect(refusal(() => f(new Date()))).toStartWith(
      "TypeError: compile: arguments must be trees of Arrays and constants",
    );
    expect(refusal(() => f(() => 1))).toStartWith("TypeError: compile: arguments must be trees");
    expect(refusal(() => f(Symbol.iterator))).toStartWith("TypeError: compile: arguments must be trees");
    expect(refusal(() => f(new Set([vector(1)])))).toStartWith("TypeError: compile: arguments must be trees");
    expect(refusal(() => f(new Map([[vector(1), 1]])))).toStartWith("TypeError: compile: the keys of a Map");
    expect(refusal(() => f(cyclic))).toBe("TypeError: compile: the arguments hold themselves.");
    const gone = vector(1);
    gone.dispose();
    expect(refusal(() => f([gone]))).toStartWith("DisposedError: compile: this Array was already disposed");
    expect(ran).toBe(0);
    expect(refusal(() => mx.compile(untyped<() => number>(1)))).toStartWith("TypeError: compile: expected a function");
    expect(refusal(() => mx.compile(() => 1, untyped({ inputs: 1 })))).toStartWith(
      'TypeError: compile: unknown option "inputs"',
    );
    expect(refusal(() => mx.compile(() => 1, { shapeless: untyped(1) }))).toStartWith("TypeError: compile: shapeless");
    using promised = mx.compile(async (x: mx.Array) => x);
    expect(refusal(() => promised(vector(1)))).toStartWith("TypeError: compile: the function returned a promise");
    using odd = mx.compile(
      () =>
        new (class Odd {
          x = vector(1);
        })(),
    );
    expect(refusal(() => odd())).toStartWith("TypeError: compile: the function's result holds Arrays inside of a Odd");
  });
});

describe("leaked placeholders", () => {
  scoped("are disposed with the trace, and useless where they are kept", () => {
    let leaked: mx.Array | null = null;
    let kept: mx.Array | null = null;
    using f = mx.compile((x: mx.Array) => {
      leaked = mx.add(x, 1);
      kept = mx.keep(mx.multiply(x, 2));
      return mx.add(x, 1);
    });
    using x = vector(1, 2);
    using y = f(x);
    expect(y.tolist()).toEqual([2, 3]);
    expect(refusal(() => leaked!.tolist())).toStartWith("DisposedError: tolist");
    expect(refusal(() => kept!.tolist())).toContain(
      "MlxError: tolist: [eval] Attempting to eval an array without a primitive",
    );
    using z = mx.add(kept!, 1);
    expect(refusal(() => z.tolist())).toStartWith("MlxError: tolist");
    using again = f(x);
    expect(again.tolist()).toEqual([2, 3]);
    using more = f(kept!);
    expect(refusal(() => more.tolist())).toStartWith("MlxError: tolist");
    mx.dispose(kept);
  });

  scoped("evaluating an array from outside beside a placeholder fails, and leaves that array alone", () => {
    using outside = mx.add(vector(1), 1);
    using f = mx.compile((x: mx.Array) => {
      mx.eval(mx.add(x, outside));
      return x;
    });
    using x = vector(1);
    expect(caught(() => f(x)).message).toContain("not allowed");
    expect(outside.item()).toBe(2);
  });
});

describe("disposal", () => {
  scoped("frees the graphs, can be repeated, and a later call says so", () => {
    const before = functions.mlxts_live_handles();
    const f = mx.compile((x: mx.Array) => mx.add(x, 1));
    mx.tidy(() => void f(vector(1)));
    mx.tidy(() => void f(vector(1, 2)));
    f.dispose();
    f.dispose();
    f[Symbol.dispose]();
    expect(functions.mlxts_live_handles()).toBe(before);
    expect(refusal(() => f(vector(1)))).toStartWith("DisposedError: compile: this Compiled was already disposed");
    expect(f.traceCount).toBe(2);
  });

  test("inside of its own trace waits for the end of it", () => {
    const f: mx.Compiled<[mx.Array], mx.Array> = mx.compile((x: mx.Array) => {
      f.dispose();
      return mx.add(x, 1);
    });
    using x = vector(1, 2);
    using y = f(x);
    expect(y.tolist()).toEqual([2, 3]);
    expect(refusal(() => f(x))).toStartWith("DisposedError");
  });

  test("inside of its own trace, and a failure", () => {
    const f: mx.Compiled<[mx.Array], mx.Array> = mx.compile((_: mx.Array) => {
      f.dispose();
      throw new Error("after");
    });
    using x = vector(1);
    expect(caught(() => f(x)).message).toBe("after");
  });

  test("of the arguments inside of the trace", () => {
    const x = vector(1, 2);
    using f = mx.compile((traced: mx.Array) => {
      const out = mx.add(traced, 1);
      x.dispose();
      traced.dispose();
      return out;
    });
    using y = f(x);
    expect(y.tolist()).toEqual([2, 3]);
  });
});

describe("itself inside of itself", () => {
  scoped("runs as it is written there", () => {
    using f: mx.Compiled<[mx.Array, number], mx.Array> = mx.compile((x: mx.Array, n: number): mx.Array =>
      n === 0 ? x : mx.add(f(x, n - 1), f(vector(1), 0)),
    );
    for (let i = 0; i < 2; i++) expect(f(vector(10), 4).item()).toBe(14);
  });

  scoped("two that call each other", () => {
    using even: mx.Compiled<[number], mx.Array> = mx.compile((n: number): mx.Array =>
      n === 0 ? mx.array(1) : odd(n - 1),
    );
    using odd: mx.Compiled<[number], mx.Array> = mx.compile((n: number): mx.Array =>
      n === 0 ? mx.array(0) : even(n - 1),
    );
    for (let i = 0; i < 2; i++) expect([even(6).item(), odd(6).item(), even(3).item()]).toEqual([1, 0, 0]);
  });

  scoped("without an end is an error", () => {
    using f: mx.Compiled<[], mx.Array> = mx.compile((): mx.Array => f());
    expect(refusal(f)).toBe("RangeError: compile: transforms are nested more than 256 deep.");
  });
});

describe("disableCompile", () => {
  scoped("lets every call run the function, also of one that is compiled already", () => {
    using f = mx.compile((x: mx.Array) => mx.add(x, 1));
    f(vector(1));
    f(vector(1));
    expect(f.traceCount).toBe(1);
    mx.disableCompile();
    try {
      expect(f(vector(1)).item()).toBe(2);
      expect(f(vector(2)).item()).toBe(3);
      expect(f.traceCount).toBe(3);
      using reads = mx.compile((x: mx.Array) => mx.add(x, x.item() as number));
      expect(reads(vector(4)).item()).toBe(8);
    } finally {
      mx.enableCompile();
    }
    f(vector(1));
    expect(f.traceCount).toBe(3);
  });
});

test("a forgotten function is collected with all that is compiled for it", async () => {
  const lines = await said(`
    const { functions } = await import("./src/ffi.ts");
    const { liveFunctions } = await import("./src/core/callbacks.ts");
    const big = () => mx.keep(mx.zeros([256, 1024]));
    function use(i) {
      const constant = big();
      mx.eval(constant);
      const f = mx.compile((x) => [mx.matmul(constant, constant.T), x, i]);
      const x = mx.array(i);
      const [y, z] = f(x);
      mx.eval(z);
      for (const a of [x, y, z, constant]) a.dispose();
    }
    use(0);
    Bun.gc(true); mx.collectForgotten();
    const before = [functions.mlxts_live_handles(), mx.activeMemory()];
    for (let i = 0; i < 100; i++) use(i);
    const full = mx.activeMemory() - before[1];
    Bun.gc(true); mx.collectForgotten();
    say(full > 50e6, functions.mlxts_live_handles() - before[0], mx.activeMemory() - before[1], liveFunctions());
  `);
  // The newest entry may still be on the stack.
  expect(lines).toEqual(["true 0 0 0"]);
});

test("each thread has graphs of its own", async () => {
  const lines = await said(
    `
    if (!Bun.isMainThread) throw new Error();
    const body = \`
      const mx = await import(\${JSON.stringify(process.cwd() + "/src/index.ts")});
      const f = mx.compile((x) => mx.multiply(x, 100));
      let sum = 0;
      for (let i = 0; i < 200; i++) { using x = mx.array([i]); using y = f(x); sum += y.item(); }
      postMessage([sum, f.traceCount]);
      f.dispose();
    \`;
    const url = URL.createObjectURL(new Blob([body], { type: "text/javascript" }));
    const workers = [1, 2, 3].map(() => new Worker(url));
    const answers = workers.map((w) => new Promise((done, fail) => { w.onmessage = (e) => done(e.data); w.onerror = (e) => fail(e.message); }));
    const f = mx.compile((x) => mx.add(x, 1));
    let sum = 0;
    for (let i = 0; i < 200; i++) { using x = mx.array([i]); using y = f(x); sum += y.item(); if (i % 20 === 0) await Bun.sleep(1); }
    const all = await Promise.all(answers);
    say(JSON.stringify(all), sum, f.traceCount);
    for (const w of workers) w.terminate();
    process.exit(0);
  `,
    { timeout: 60 },
  );
  expect(lines.at(-1)).toBe("[[1990000,1],[1990000,1],[1990000,1]] 20100 1");
}, 60_000);
