// Operands and lists that run operations of their own while a call is being prepared: a Proxy, a getter. What the outer
// call has prepared stays, and what they dispose of lives until it has ended. A mistake here can end the process.
import { afterEach, beforeEach, describe, expect } from "bun:test";
import { aside, dropTemporaries, holdArray } from "../../src/core/temporaries.ts";
import { functions as C } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { caught, refusal, scoped, untyped } from "../helpers.ts";

mx.tidy(() => void mx.add(1, 1));
let before = 0;
beforeEach(() => {
  before = C.mlxts_live_handles();
});
afterEach(() => {
  expect(C.mlxts_live_handles()).toBe(before);
});

/** Operations with temporaries of every kind, some of them failing. */
function busy(): void {
  mx.tidy(() => {
    mx.concatenate([mx.array([1]), 2 as never, mx.array([3])].map((x) => mx.reshape(x, [-1])));
    mx.add(1.5, 2);
    mx.where(true, 1, 2);
    mx.take(mx.arange(4), [1, 2]);
    caught(() => mx.add(mx.ones([2]), mx.ones([3])));
    caught(() => mx.where(true, 1, untyped("no")));
  });
}

/** A complex scalar whose reading runs `run`: as a Proxy, since getters are refused. */
function scalar(run: () => void): mx.Complex {
  return new Proxy(
    { re: 2, im: 0 },
    {
      getOwnPropertyDescriptor(target, key) {
        run();
        return Reflect.getOwnPropertyDescriptor(target, key);
      },
      get(target, key) {
        run();
        return Reflect.get(target, key) as unknown;
      },
      getPrototypeOf(target) {
        run();
        return Reflect.getPrototypeOf(target);
      },
    },
  );
}

/** A list that runs `run` at each element that is read. */
function list<T>(values: readonly T[], run: () => void): T[] {
  return new Proxy([...values], {
    get(target, key) {
      run();
      return Reflect.get(target, key) as unknown;
    },
  });
}

const re = (array: mx.Array): unknown => (array.item() as { re: number }).re;

describe("operations run by an operand", () => {
  scoped("leave the temporaries of the outer call", () => {
    expect(re(mx.add(3, scalar(busy)))).toBe(5);
    expect(re(mx.add(scalar(busy), 3))).toBe(5);
    expect(re(mx.where(true, scalar(busy), scalar(busy)))).toBe(2);
    expect(re(mx.where(1, 7, scalar(busy)))).toBe(7);
    expect(re(mx.clip(mx.array(9), 1, scalar(busy)))).toBe(2);
  });

  scoped("in lists of arrays, of indices and of integers", () => {
    const a = mx.arange(6);
    expect(mx.concatenate(list([a, a], busy)).shape).toEqual([12]);
    expect(mx.stack([mx.array(1), mx.array(2)]).shape).toEqual([2]);
    expect(mx.take(a, list([1, 2], busy)).tolist()).toEqual([1, 2]);
    expect(mx.putAlongAxis(a, list([1, 2], busy), scalarless(), 0).tolist()).toEqual([0, 9, 9, 3, 4, 5]);
    expect(mx.reshape(a, list([2, 3], busy)).shape).toEqual([2, 3]);
    expect(mx.sum(mx.ones([2, 3]), list([0, 1], busy)).item()).toBe(6);
    expect(mx.transpose(mx.ones([2, 3]), list([1, 0], busy)).shape).toEqual([3, 2]);
    expect(mx.full(list([2], busy), 1).shape).toEqual([2]);
    expect(mx.slice(mx.ones([4]), list([1], busy), list([0], busy), list([2], busy)).shape).toEqual([2]);
    expect(mx.pad(a, untyped([list([1, 1], busy)])).shape).toEqual([8]);
    expect(mx.roll(a, list([1], busy), list([0], busy)).shape).toEqual([6]);
    expect(mx.asStrided(a, list([2], busy), list([1], busy)).shape).toEqual([2]);
  });

  scoped("nested", () => {
    const inner = scalar(busy);
    expect(
      re(
        mx.add(
          1,
          scalar(() => mx.tidy(() => void mx.add(mx.array(4), inner))),
        ),
      ),
    ).toBe(3);
  });

  scoped("that fail: the outer call's temporaries are freed", () => {
    const error = new Error("mine");
    const throwing = scalar(() => {
      throw error;
    });
    expect(caught(() => mx.where(true, 1, throwing))).toBe(error);
    expect(caught(() => mx.add(1, throwing))).toBe(error);
    expect(
      caught(() =>
        mx.take(
          mx.arange(4),
          list([1], () => {
            throw error;
          }),
        ),
      ),
    ).toBe(error);
  });
});

const scalarless = (): mx.Array => mx.array(9, { dtype: "int32" });

describe("what an operand disposes of", () => {
  scoped("lives until the call has ended", () => {
    for (const run of [
      (a: mx.Array, b: mx.Complex) => mx.add(a, b),
      (a: mx.Array, b: mx.Complex) => mx.where(a, a, b),
      (a: mx.Array, b: mx.Complex) => mx.addmm(b, mx.reshape(a, [1, 1]), mx.ones([1, 1])),
    ]) {
      const a = mx.array(1);
      const { liveHandles } = mx.memory();
      const result = run(
        a,
        scalar(() => a.dispose()),
      );
      expect(a.disposed).toBe(true);
      expect(mx.memory().liveHandles).toBeLessThanOrEqual(liveHandles + 2);
      mx.eval(result);
    }
  });

  scoped("also when a nested call is the one that waits", () => {
    const a = mx.array(1);
    const inner = scalar(() => a.dispose());
    const outer = scalar(() => mx.tidy(() => void mx.eval(mx.add(5, inner))));
    expect(re(mx.add(a, outer))).toBe(3);
  });

  scoped("elements of a list", () => {
    const a = mx.array([1]);
    const b = mx.array([2]);
    const elements = [a, b] as mx.Array[];
    Object.defineProperty(elements, 1, {
      get() {
        a.dispose();
        return b;
      },
    });
    expect(refusal(() => mx.concatenate(elements))).toContain("already disposed");
  });
});

scoped("a list that changes between two readings counts as it was first read", () => {
  const a = mx.arange(6);
  let reads = 0;
  const strides = [1];
  Object.defineProperty(strides, 0, { get: () => (reads++ === 0 ? 1 : 1_000_000_000) });
  expect(mx.asStrided(a, [2], strides).tolist()).toEqual([0, 1]);
  const growing = new Proxy([2, 3], {
    get: (target, key) =>
      key === "length" ? 2 + 100_000 * Math.min(1, reads++ - 1) : (Reflect.get(target, key) as unknown),
  });
  reads = 0;
  expect(caught(() => mx.reshape(a, growing)).message).toContain("reshape");
});

scoped("a kept constant that an operand's operations displace lives until the call has ended", () => {
  // Seen twice in a row, a number keeps its handle; the ones that share its place displace it.
  for (let i = 0; i < 3; i++) mx.add(7, mx.ones([1]));
  const displace = scalar(() => mx.tidy(() => void Array.from({ length: 4096 }, (_, i) => mx.add(7 + 64 * i, 1))));
  expect(re(mx.add(7, displace))).toBe(9);
  expect(re(mx.where(7, 7, displace))).toBe(7);
});

scoped("aside keeps what it finds, and frees what it leaves", () => {
  holdArray(C.mlx_array_new_float32(1));
  aside(() => holdArray(C.mlx_array_new_float32(2)));
  expect(C.mlxts_live_handles()).toBe(before + 1);
  dropTemporaries();
  expect(C.mlxts_live_handles()).toBe(before);
});
