// A walk through core with everything disposed at the end. `bun run test:asan` runs it under AddressSanitizer with a
// leak check; in an ordinary run it checks the same results.
import { afterAll, describe, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { collected } from "../collected.ts";

const untyped = <T>(value: unknown): T => value as T;

/** The values of an array, or of a tree that a transform returned. */
const list = (value: unknown): unknown => (value as mx.Array).tolist();

const flat = (array: mx.Array): number[] => Array.from(array.toTypedArray(), Number);

/** Runs in a scope of its own, so that nothing of a test outlives it. */
function scoped(name: string, run: () => void): void {
  test(name, () => mx.tidy(run));
}

describe("creation and readback", () => {
  const typed = [
    Uint8Array,
    Uint16Array,
    Uint32Array,
    BigUint64Array,
    Int8Array,
    Int16Array,
    Int32Array,
    BigInt64Array,
    Float16Array,
    Float32Array,
    Float64Array,
  ] as const;

  scoped("typed arrays of every kind, whole and as views into a larger buffer", () => {
    for (const Kind of typed) {
      const whole = new Kind(10);
      const part = whole.subarray(3, 9);
      part.fill(untyped<never>(Kind === BigInt64Array || Kind === BigUint64Array ? 7n : 7));
      const array = mx.array(untyped<Float32Array>(part), { shape: [2, 3] });
      expect(flat(array)).toEqual([7, 7, 7, 7, 7, 7]);
    }
  });

  scoped("nested lists, scalars, empty ones, bigints, booleans, complex numbers", () => {
    expect(
      mx
        .array([
          [1, 2],
          [3, 4],
        ])
        .tolist(),
    ).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(mx.array(2.5).item()).toBe(2.5);
    expect(mx.array([]).shape).toEqual([0]);
    expect(list(mx.array([1n, -(2n ** 63n)]))).toEqual([1n, -(2n ** 63n)]);
    expect(list(mx.array([true, false]))).toEqual([true, false]);
    expect(list(mx.array([{ re: 1, im: -2 }]))).toEqual([{ re: 1, im: -2 }]);
    expect(list(mx.array([1, 2], { dtype: "bfloat16" }))).toEqual([1, 2]);
  });

  scoped("views that are not contiguous are read in logical order", () => {
    const x = mx.array([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    expect(flat(x.T)).toEqual([1, 4, 2, 5, 3, 6]);
    const wide = mx.broadcastTo(mx.array([1, 2]), [3, 2]);
    expect(flat(wide)).toEqual([1, 2, 1, 2, 1, 2]);
    const back = mx.asStrided(x, { shape: [6], strides: [-1], offset: 5 });
    expect(flat(back)).toEqual([6, 5, 4, 3, 2, 1]);
  });

  scoped("a large array outlives the buffer that it was made from", () => {
    let source: Float32Array | null = new Float32Array(300_000).fill(1.5);
    const array = mx.array(source);
    source.fill(0);
    source = null;
    Bun.gc(true);
    expect(array.sum().item()).toBe(450_000);
  });

  scoped("text", () => {
    expect(String(mx.array([1, 2]))).toContain("1, 2");
    expect(Bun.inspect(mx.array([[1]]))).toContain("1");
  });
});

describe("operations", () => {
  scoped("graphs, several outputs, lists of inputs, optional and absent inputs", () => {
    const x = mx.arange(12, { dtype: "float32" }).reshape([3, 4]);
    const [a, b] = mx.split(x, 2, { axis: 1 }) as [mx.Array, mx.Array];
    expect(mx.concatenate([b, a], { axis: 1 }).shape).toEqual([3, 4]);
    expect(mx.clip(x, null, 3).max().item()).toBe(3);
    expect(mx.fast.layerNorm(x, null, null, 1e-5).shape).toEqual([3, 4]);
    expect(mx.einsum("ij,kj->ik", x, x).shape).toEqual([3, 3]);
    expect(mx.nanToNum(x, { nan: 0, posinf: 1 }).shape).toEqual([3, 4]);
    expect(mx.quantize(mx.ones([8, 64]), { groupSize: 32, bits: 4 })).toHaveLength(3);
    const [q, r] = mx.linalg.qr(mx.eye(3), { stream: "cpu" });
    expect(mx.allclose(q.matmul(r), mx.eye(3)).item()).toBe(true);
  });

  scoped("random keys and seeds", () => {
    mx.random.seed(3);
    const first = list(mx.random.normal([4]));
    mx.random.seed(3);
    expect(list(mx.random.normal([4]))).toEqual(first);
    expect(mx.random.split(mx.random.key(1)).shape).toEqual([2, 2]);
  });

  scoped("streams and devices", () => {
    const stream = mx.newStream("cpu");
    expect(mx.add(1, 2, { stream }).item()).toBe(3);
    expect(mx.withStream(stream, () => mx.ones([2]).sum().item())).toBe(2);
    mx.synchronize(stream);
    expect(String(mx.defaultDevice())).toContain("cpu");
  });
});

describe("errors", () => {
  scoped("in MLX, before the call, at evaluation, and on the way", () => {
    const x = mx.zeros([2, 3]);
    expect(() => mx.add(x, mx.zeros([4]))).toThrow(mx.MlxError);
    expect(() => mx.add(x, untyped("text"))).toThrow(TypeError);
    expect(() => mx.concatenate([x, mx.zeros([1, 1, 1])])).toThrow(mx.MlxError);
    expect(() => mx.where(1, mx.zeros([2]), mx.zeros([3]))).toThrow(mx.MlxError);
    expect(() => mx.array(untyped([[1], [1, 2]]))).toThrow("ragged");
    expect(() => mx.load("no-such-file.safetensors")).toThrow();
    x.dispose();
    expect(() => x.add(1)).toThrow(mx.DisposedError);
  });
});

describe("callbacks", () => {
  scoped("gradients, nested ones, errors inside, disposal inside", () => {
    const x = mx.array([1, 2, 3]);
    const cube = (a: mx.Array): mx.Array => a.multiply(a).multiply(a).sum();
    expect(list(mx.grad(cube)(x))).toEqual([3, 12, 27]);
    const second = mx.grad((a: mx.Array) => (mx.grad(cube)(a) as mx.Array).sum());
    expect(list(second(x))).toEqual([6, 12, 18]);
    const failing = mx.grad((_: mx.Array) => {
      throw new RangeError("inside");
    });
    for (let i = 0; i < 20; i++) expect(() => failing(x)).toThrow(RangeError);
    const disposing = mx.grad((a: mx.Array) => {
      const result = a.square().sum();
      a.dispose();
      return result;
    });
    expect(list(disposing(x))).toEqual([2, 4, 6]);
  });
});

describe("scopes", () => {
  scoped("nested scopes, kept arrays, thrown errors", () => {
    const kept = mx.tidy(() => {
      mx.tidy(() => mx.ones([4]).add(1));
      return mx.keep(mx.ones([2]));
    });
    expect(list(kept)).toEqual([1, 1]);
    kept.dispose();
    expect(() =>
      mx.tidy(() => {
        mx.ones([3]);
        throw new Error("out");
      }),
    ).toThrow("out");
  });

  test("forgotten arrays are collected", () => {
    for (let i = 0; i < 100; i++) mx.ones([64]).add(i);
    Bun.gc(true);
    mx.collectForgotten();
    expect(mx.memory().liveHandles).toBeLessThan(20);
  });
});

afterAll(async () => {
  mx.dispose(mx.random.state);
  // The leak check of the sanitizer needs this.
  expect(await collected()).toBe(0);
});
