// grad and valueAndGrad: errors come out as they are, arguments are borrowed, and nothing stays.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { liveFunctions } from "../../src/core/callbacks.ts";
import { functions } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { caught, refusal, said, scoped } from "../helpers.ts";

// What is made once and kept: the handle of the default stream, the closure and the seed of all gradients.
mx.tidy(() => void mx.grad((x: mx.Array) => mx.add(x, 1))(mx.array(1)));
const kept = liveFunctions();
let start = 0;

beforeEach(() => {
  start = functions.mlxts_live_handles();
});

afterEach(() => {
  expect(functions.mlxts_live_handles()).toBe(start);
  expect(liveFunctions()).toBe(kept);
});

const numbers = (array: mx.Array): number[] => Array.from(array.toTypedArray(), Number);

describe("errors and ownership", () => {
  scoped("an error inside comes out as the same object, and leaves nothing", () => {
    const mine = new Error("mine");
    const before = mx.memory().liveHandles;
    const x = mx.array([1, 2]);
    const f = (a: mx.Array): mx.Array => {
      mx.multiply(a, 2);
      throw mine;
    };
    for (let i = 0; i < 10; i++) expect(caught(() => mx.grad(f)(x))).toBe(mine);
    expect(refusal(() => mx.grad((a: mx.Array) => mx.add(a, mx.zeros([3])))(x))).toStartWith("MlxError: add: ");
    expect(mx.memory().liveHandles).toBe(before + 1);
  });

  test("arguments are borrowed, results are owned by the caller", () => {
    const x = mx.array([1, 2]);
    const [value, gradient] = mx.valueAndGrad((a: mx.Array) => mx.sum(mx.square(a)))(x);
    expect(x.disposed).toBe(false);
    mx.dispose([x, value]);
    expect(gradient.tolist()).toEqual([2, 4]);
    gradient.dispose();
  });

  test("a pair of value and gradients is disposable", () => {
    const x = mx.array([1, 2]);
    let parts: unknown[] = [];
    {
      using pair = mx.valueAndGrad((a: { w: mx.Array }) => [mx.sum(a.w), a.w] as const)({ w: x });
      parts = [pair[0][0], pair[0][1], pair[1].w];
      expect(parts.every((part) => !(part as mx.Array).disposed)).toBe(true);
    }
    expect(parts.every((part) => (part as mx.Array).disposed)).toBe(true);
    expect(x.disposed).toBe(false);
    x.dispose();
  });

  test("inside of tidy, gradients that are not returned are freed", () => {
    const kept = mx.tidy(() => {
      const x = mx.array([1, 2]);
      const f = (a: mx.Array): mx.Array => mx.sum(mx.square(a));
      mx.valueAndGrad(f)(x);
      return mx.grad(f)(x);
    });
    expect(kept.tolist()).toEqual([2, 4]);
    kept.dispose();
  });

  scoped("a traced array that escapes is refused afterwards", () => {
    let escaped: mx.Array | undefined;
    mx.grad((a: mx.Array) => {
      escaped = mx.multiply(a, 2);
      return mx.sum(a);
    })(mx.array([1, 2]));
    expect(refusal(() => mx.add(escaped!, 1))).toStartWith("DisposedError: add:");
  });

  scoped("printing and reading inside shows the values", () => {
    const seen: string[] = [];
    mx.grad((a: mx.Array) => {
      seen.push(numbers(a).join(), numbers(mx.square(a)).join(), `${a}`);
      return mx.sum(a);
    })(mx.array([1, 2]));
    expect(seen).toEqual(["1,2", "1,4", "array([1, 2], dtype=float32)"]);
  });

  test("ten thousand steps leave no handle, no function, and little memory", async () => {
    const lines = await said(
      `
      const { functions } = await import("./src/ffi.ts");
      const { liveFunctions } = await import("./src/core/callbacks.ts");
      const w = mx.array([0.5, -1, 2]);
      const step = mx.valueAndGrad((tree) => [mx.sum(mx.square(tree.w)), tree.w]);
      const loop = (count) => {
        for (let i = 0; i < count; i++) {
          using pair = step({ w });
          if (i % 20 === 0) mx.eval(pair[1]);
        }
      };
      loop(2000);
      Bun.gc(true);
      const before = [functions.mlxts_live_handles(), liveFunctions(), process.memoryUsage.rss()];
      loop(10_000);
      const left = [functions.mlxts_live_handles() - before[0], liveFunctions() - before[1], mx.memory().rescued];
      Bun.gc(true);
      // The AddressSanitizer keeps freed memory for a while.
      const bound = process.env.MLX_TS_ASAN_RUNTIME === undefined ? 20 : 200;
      say(left.join(), process.memoryUsage.rss() - before[2] < bound * 2 ** 20);
    `,
      { timeout: 120 },
    );
    expect(lines).toEqual(["0,0,0 true"]);
  }, 120_000);
});
