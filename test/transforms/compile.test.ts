// compile: what is traced again and what is not, constants, results of any form, failures, disposal.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { liveFunctions } from "../../src/core/callbacks.ts";
import { functions } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { caught, refusal, said, scoped, untyped } from "../helpers.ts";

// On the CPU, MLX has the system's C++ compiler build each new fused kernel: a second or two.
setDefaultTimeout(120_000);
// The handles of the default stream and of the closure that gradients share are made once and kept.
mx.tidy(() => void mx.grad((a: mx.Array) => mx.add(a, 1))(mx.array(1)));
let start = 0;

beforeEach(() => {
  start = functions.mlxts_live_handles();
});

afterEach(() => {
  expect(functions.mlxts_live_handles()).toBe(start);
  expect(liveFunctions()).toBe(0);
});

const vector = (...values: number[]): mx.Array => mx.array(values);

describe("tracing", () => {
  scoped("once for each shape and dtype", () => {
    using f = mx.compile((x: mx.Array) => mx.add(mx.multiply(x, 2), 1));
    expect(f(vector(1, 2)).tolist()).toEqual([3, 5]);
    expect(f(vector(3, 4)).tolist()).toEqual([7, 9]);
    expect(f.traceCount).toBe(1);
    expect(f(vector(1)).tolist()).toEqual([3]);
    expect(f.traceCount).toBe(2);
    expect(f(mx.array([1, 2], { dtype: "int32" })).dtype).toBe("int32");
    expect(f(mx.array(5)).item()).toBe(11);
    expect(f.traceCount).toBe(4);
    expect(f(vector(5, 6)).tolist()).toEqual([11, 13]);
    expect(f(vector(7)).tolist()).toEqual([15]);
    expect(f.traceCount).toBe(4);
  });

  scoped("once for each value of a constant, of any kind and depth", () => {
    const seen: unknown[] = [];
    using f = mx.compile((x: mx.Array, constant: unknown) => {
      seen.push(constant);
      return [x, seen.length] as const;
    });
    const constants = [
      1,
      1.5,
      -0,
      0,
      NaN,
      Infinity,
      "1",
      "",
      "a,b",
      true,
      false,
      null,
      undefined,
      1n,
      10n,
      [],
      [1],
      [[1]],
      [1, 1],
      [null],
      [undefined],
      {},
      { a: 1 },
      { b: 1 },
      { a: 1, b: 1 },
      { b: 1, a: 1 },
      { a: { a: 1 } },
      { "a:1": 1 },
      { a: "1" },
      ["a", "b"],
      new Map([["a", 1]]),
      new Map<unknown, unknown>([[1, 1]]),
      new Map(),
      "A",
      "n1",
      { __proto__: null, c: 1 },
    ];
    for (let round = 0; round < 2; round++) {
      for (const [i, constant] of constants.entries()) expect(f(vector(0), constant)[1]).toBe(i + 1);
    }
    expect(f.traceCount).toBe(constants.length);
    expect(seen).toEqual(constants);
    // Equal forms made anew are the same form.
    expect(f(vector(0), { a: { a: 1 } })[1]).toBe(constants.findIndex((c) => Bun.deepEquals(c, { a: { a: 1 } })) + 1);
    expect(f.traceCount).toBe(constants.length);
  });

  scoped("tells where the arrays stand", () => {
    using f = mx.compile((tree: unknown) => {
      const list = Array.isArray(tree)
        ? tree
        : tree instanceof Map
          ? [...tree.values()]
          : Object.values(tree as object);
      return mx.add(list[0] as mx.Array, mx.multiply((list[1] as mx.Array | null) ?? 0, 10));
    });
    const [a, b] = [vector(1), vector(2)];
    expect(f([a, b]).item()).toBe(21);
    expect(f([b, a]).item()).toBe(12);
    expect(f({ a, b }).item()).toBe(21);
    expect(f({ b, a }).item()).toBe(12);
    expect(
      f(
        new Map([
          ["a", a],
          ["b", b],
        ]),
      ).item(),
    ).toBe(21);
    expect(f([a, null]).item()).toBe(1);
    expect(f([a, a]).item()).toBe(11);
    expect(f.traceCount).toBe(5);
  });

  scoped("sees placeholders: neither reading nor evaluating them works", () => {
    const use = (name: string, run: (x: mx.Array) => unknown): void => {
      using f = mx.compile((x: mx.Array) => {
        run(x);
        return x;
      });
      expect([name, caught(() => f(vector(1, 2))).message]).toEqual([
        name,
        expect.stringContaining("during function transformations like compile or vmap is not allowed"),
      ]);
    };
    use("item", (x) => mx.sum(x).item());
    use("tolist", (x) => x.tolist());
    use("eval", (x) => mx.eval(mx.add(x, 1)));
    use("text", (x) => `${x}`);
    use("typed array", (x) => x.toTypedArray());
  });

  scoped("an array that it closes over is a constant, whatever becomes of it", () => {
    let w = vector(10, 20);
    using f = mx.compile((x: mx.Array) => mx.multiply(x, w));
    expect(f(vector(1, 2)).tolist()).toEqual([10, 40]);
    w.dispose();
    w = vector(0, 0);
    expect(f(vector(1, 2)).tolist()).toEqual([10, 40]);
    expect(f(vector(3)).tolist()).toEqual([0, 0]);
    expect(f.traceCount).toBe(2);
  });

  scoped("another stream is another graph", () => {
    using stream = mx.newStream("cpu");
    using f = mx.compile((x: mx.Array) => mx.add(x, 1));
    f(vector(1));
    expect(mx.withStream(stream, () => f(vector(1))).item()).toBe(2);
    expect(f.traceCount).toBe(2);
    expect(mx.withStream(stream, () => f(vector(2))).item()).toBe(3);
    expect(f(vector(3)).item()).toBe(4);
    expect(f.traceCount).toBe(2);
  });
});

describe("results", () => {
  scoped("are trees of any form, with constants", () => {
    using f = mx.compile((x: mx.Array, n: number) => ({
      list: [mx.add(x, n), null, "text"],
      map: new Map<string, unknown>([
        ["x", x],
        ["n", n],
      ]),
      nested: { again: [x, x] },
    }));
    for (const n of [1, 2, 1]) {
      const { list, map, nested } = f(vector(5), n);
      expect((list[0] as mx.Array).item()).toBe(5 + n);
      expect(list.slice(1)).toEqual([null, "text"]);
      expect((map.get("x") as mx.Array).item()).toBe(5);
      expect(map.get("n")).toBe(n);
      expect(nested.again.map((array) => array.item())).toEqual([5, 5]);
    }
    expect(f.traceCount).toBe(2);
  });

  scoped("may differ in form or constants by shape", () => {
    using f = mx.compile((x: mx.Array): unknown =>
      x.ndim === 0 ? x : x.size > 2 ? [x, x.size, mx.sum(x)] : [x, x.size],
    );
    for (let round = 0; round < 3; round++) {
      expect((f(mx.array(7)) as mx.Array).item()).toBe(7);
      expect((f(vector(1, 2)) as unknown[])[1]).toBe(2);
      expect((f(vector(4)) as unknown[])[1]).toBe(1);
      const [, size, sum] = f(vector(1, 2, 3)) as [mx.Array, number, mx.Array];
      expect([size, sum.item()]).toEqual([3, 6]);
    }
    expect(f.traceCount).toBe(4);
  });

  scoped("an array and a constant null in turn are told apart", () => {
    using f = mx.compile((x: mx.Array): [mx.Array | null, mx.Array | null] => (x.size === 1 ? [x, null] : [null, x]));
    for (let round = 0; round < 2; round++) {
      expect(f(vector(1)).map((item) => item === null)).toEqual([false, true]);
      expect(f(vector(1, 2)).map((item) => item === null)).toEqual([true, false]);
    }
  });

  scoped("may hold no array, and arguments neither", () => {
    using constant = mx.compile(() => 3);
    using nothing = mx.compile((_x: mx.Array) => undefined);
    using made = mx.compile(() => mx.arange(3));
    for (let i = 0; i < 2; i++) {
      expect(constant()).toBe(3);
      expect(nothing(vector(1))).toBeUndefined();
      expect(made().tolist()).toEqual([0, 1, 2]);
    }
    expect([constant.traceCount, nothing.traceCount, made.traceCount]).toEqual([1, 1, 1]);
  });

  scoped("an argument that is returned is an array of its own", () => {
    using f = mx.compile((x: mx.Array) => [x, x]);
    const x = vector(1, 2);
    const [a, b] = f(x) as [mx.Array, mx.Array];
    x.dispose();
    a.dispose();
    expect(b.tolist()).toEqual([1, 2]);
  });

  scoped("inputs that are freed before the evaluation do not matter", () => {
    using f = mx.compile((a: mx.Array, b: mx.Array) => mx.add(mx.multiply(a, b), mx.exp(mx.multiply(a, 0))));
    const outs = [1, 2, 3].map((n) => {
      using a = mx.add(vector(n, n), 0);
      using b = vector(n, 1);
      return f(a, b);
    });
    expect(outs.map((out) => out.tolist())).toEqual([
      [2, 2],
      [5, 3],
      [10, 4],
    ]);
  });
});

describe("shapeless", () => {
  scoped("traces once for all lengths, and again for another number of axes or dtype", () => {
    using f = mx.compile((x: mx.Array) => mx.sum(mx.multiply(x, 2), { axis: 0 }), { shapeless: true });
    expect(f(vector(1, 2)).item()).toBe(6);
    expect(f(vector(1, 2, 3, 4)).item()).toBe(20);
    expect(f.traceCount).toBe(1);
    expect(f(mx.ones([2, 3])).tolist()).toEqual([4, 4, 4]);
    expect(f(mx.ones([3, 2])).tolist()).toEqual([6, 6]);
    expect(f(mx.array([1, 2], { dtype: "int32" })).dtype).toBe("int32");
    expect(f.traceCount).toBe(3);
  });

  // The results of Python MLX 0.32.2.
  scoped("refuses what cannot tell its shape", () => {
    using f = mx.compile((x: mx.Array) => x.get("0:1"), { shapeless: true });
    // The first call uses the shapes of the trace in other builds; here it asks at once.
    expect(caught(() => f(mx.ones([4, 3]))).message).toBe(
      "compile: [Primitive::output_shapes] Slice cannot infer output shapes.",
    );
    using g = mx.compile((x: mx.Array) => mx.reshape(x, [3, 2]), { shapeless: true });
    expect(g(mx.ones([2, 3])).shape).toEqual([3, 2]);
    expect(caught(() => g(mx.ones([4, 3]))).message).toContain("Cannot reshape array of size 12 into shape (3,2)");
    expect(g(mx.ones([2, 3])).shape).toEqual([3, 2]);
  });
});

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
