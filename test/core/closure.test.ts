// Closures: JavaScript functions that MLX calls. What goes in and out, errors, re-entrancy, disposal in the middle.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { callClosures, liveFunctions } from "../../src/core/callbacks.ts";
import { functions, privateSlot, VectorArray } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { caught, refusal, scoped, untyped } from "../helpers.ts";

// The handle of the default stream is made once and kept.
mx.tidy(() => void mx.add(1, 1));
let start = { functions: 0, handles: 0 };

beforeEach(() => {
  start = { functions: liveFunctions(), handles: functions.mlxts_live_handles() };
});

afterEach(() => {
  expect(liveFunctions()).toBe(start.functions);
  // A collection may free what another file has forgotten, too.
  expect(functions.mlxts_live_handles()).toBeLessThanOrEqual(start.handles);
});

/** Applies `fn` to arrays through MLX and returns what came out, as lists. */
function apply(fn: mx.ArrayFunction, ...inputs: mx.Array[]): unknown[] {
  return mx.tidy(() => new mx.Closure(fn).apply(inputs).map((array) => array.tolist()));
}

describe("what goes in and out", () => {
  scoped("one array, several, none", () => {
    const [a, b] = [mx.array([1, 2]), mx.array([3, 4])];
    expect(apply(([x]) => mx.add(x!, 1), a)).toEqual([[2, 3]]);
    expect(apply(([x, y]) => [mx.add(x!, y!), mx.subtract(x!, y!)], a, b)).toEqual([
      [4, 6],
      [-2, -2],
    ]);
    expect(apply(() => mx.array(7))).toEqual([7]);
    expect(apply(() => [], a)).toEqual([]);
    expect(apply(([x]) => x!, a)).toEqual([[1, 2]]);
    expect(apply(([x]) => [x!, x!], a)).toEqual([
      [1, 2],
      [1, 2],
    ]);
    expect(apply((inputs) => inputs, ...Array.from({ length: 300 }, (_, i) => mx.array(i)))).toHaveLength(300);
  });

  scoped("inputs are borrowed copies, results are owned by the caller", () => {
    const a = mx.array([1, 2]);
    let inside: mx.Array | undefined;
    const closure = new mx.Closure(([x]) => {
      inside = x!;
      mx.array([5]);
      return x!;
    });
    const [result] = closure.apply([a]);
    expect(inside).not.toBe(a);
    expect(inside!.disposed).toBe(true);
    expect(result!.tolist()).toEqual([1, 2]);
    expect(refusal(() => inside!.tolist())).toStartWith("DisposedError: tolist:");
    expect(a.disposed).toBe(false);
    a.dispose();
    expect(result!.tolist()).toEqual([1, 2]);
  });

  scoped("arrays that it closes over are borrowed", () => {
    const outside = mx.array([10, 20]);
    expect(apply(([x]) => mx.add(x!, outside), mx.array([1, 2]))).toEqual([[11, 22]]);
    expect(apply(() => outside)).toEqual([[10, 20]]);
    expect(outside.tolist()).toEqual([10, 20]);
  });

  scoped("can be called again and again, and disposed", () => {
    const closure = new mx.Closure(([x]) => mx.multiply(x!, 2));
    let x = mx.array(1);
    for (let i = 0; i < 20; i++) x = closure.apply([x])[0]!;
    expect(x.item()).toBe(2 ** 20);
    closure.dispose();
    expect(refusal(() => closure.apply([x]))).toStartWith("DisposedError: apply: this Closure was already disposed.");
  });
});

describe("what is refused", () => {
  test("anything but a function", () => {
    for (const value of [undefined, null, 5, "f", {}, []]) {
      expect(refusal(() => new mx.Closure(untyped(value)))).toStartWith(
        "TypeError: Closure: expected a function, got ",
      );
    }
  });

  scoped("inputs that are no list of Arrays", () => {
    const closure = new mx.Closure((inputs) => inputs);
    const apply = (value: unknown): string => refusal(() => closure.apply(untyped(value)));
    expect(apply(null)).toBe("TypeError: apply: the inputs must be a list of Arrays, got null.");
    expect(apply(mx.array(1))).toBe("TypeError: apply: the inputs must be a list of Arrays, got an Array.");
    expect(apply([1])).toBe("TypeError: apply: expected an Array made by mlx-ts, got 1.");
    expect(apply([mx.array(1), , mx.array(2)])).toContain("got undefined");
    expect(apply([mx.newStream("cpu")])).toBe("TypeError: apply: expected an Array made by mlx-ts, got a Stream.");
    expect(apply([VectorArray.empty()])).toContain("got a VectorArray");
    expect(apply([Object.create(mx.Array.prototype)])).toStartWith("TypeError: apply:");
    const gone = mx.array(1);
    gone.dispose();
    expect(apply([gone])).toStartWith("DisposedError: apply: this Array");
  });

  scoped("results that are no Arrays", () => {
    const result = (value: unknown): string => refusal(() => new mx.Closure(untyped(() => value)).apply([mx.array(1)]));
    const text = "TypeError: closure: the function must return an Array or a list of Arrays, got ";
    expect(result(undefined)).toBe(`${text}undefined.`);
    expect(result(5)).toBe(`${text}5.`);
    expect(result("ab")).toBe(`${text}"ab".`);
    expect(result([1])).toBe(`${text}1.`);
    expect(result([mx.array(1), , mx.array(2)])).toBe(`${text}undefined.`);
    expect(result({ a: mx.array(1) })).toBe(`${text}an object.`);
    expect(result([[mx.array(1)]])).toBe(`${text}[an Array].`);
    expect(result(mx.newStream("cpu"))).toBe(`${text}a Stream.`);
    expect(result(Promise.resolve(1))).toContain("closure: the function returned a promise");
    const gone = mx.array(1);
    gone.dispose();
    expect(result(gone)).toStartWith("DisposedError: closure: this Array");
  });
});

describe("an error inside", () => {
  scoped("comes out as the same object, whatever it is, with its stack", () => {
    class Mine extends Error {}
    const thrown: unknown[] = [new Mine("mine"), { plain: 1 }, "text", undefined, null, 0, NaN, Symbol("s"), [1]];
    for (const error of thrown) {
      const closure = new mx.Closure(() => {
        throw error;
      });
      let out: { error: unknown } | null = null;
      try {
        closure.apply([mx.array(1)]);
      } catch (caught) {
        out = { error: caught };
      }
      expect(out).not.toBeNull();
      expect(Object.is(out!.error, error)).toBe(true);
    }
    function whereItHappens(): never {
      throw new Error("with a stack");
    }
    const error = caught(() => new mx.Closure(() => whereItHappens()).apply([]));
    expect(error.stack).toContain("whereItHappens");
  });

  scoped("of MLX keeps its operation, and the next call is none the wiser", () => {
    const closure = new mx.Closure(([x]) => mx.reshape(x!, [7]));
    expect(refusal(() => closure.apply([mx.zeros([4])]))).toStartWith(
      "MlxError: reshape: [reshape] Cannot reshape array of size 4 into shape (7).",
    );
    expect(refusal(() => mx.add(mx.zeros([2]), mx.zeros([3])))).toContain("cannot be broadcast");
    expect(closure.apply([mx.zeros([7])])[0]!.shape).toEqual([7]);
  });

  scoped("two levels deep comes out of both", () => {
    const mine = new Error("deep");
    const inner = new mx.Closure(() => {
      throw mine;
    });
    const outer = new mx.Closure(([x]) => inner.apply([x!]));
    expect(caught(() => outer.apply([mx.array(1)]))).toBe(mine);
  });

  scoped("that the outer function catches is over", () => {
    const inner = new mx.Closure(() => {
      throw new Error("inner");
    });
    const outer = new mx.Closure(([x]) => {
      expect(() => inner.apply([x!])).toThrow("inner");
      return mx.add(x!, 1);
    });
    expect(outer.apply([mx.array(1)])[0]!.item()).toBe(2);
    const rethrows = new mx.Closure(([x]) => {
      expect(() => inner.apply([x!])).toThrow("inner");
      throw new RangeError("outer");
    });
    expect(refusal(() => rethrows.apply([mx.array(1)]))).toBe("RangeError: outer");
  });

  scoped("of too deep a recursion is an error like any other", () => {
    const recursive: mx.Closure = new mx.Closure(([x]) => recursive.apply([x!]));
    const error = caught(() => recursive.apply([mx.array(1)]));
    expect(error).toBeInstanceOf(RangeError);
    expect(mx.add(1, 1).item()).toBe(2);
  });

  test("callClosures reports a native failure of its own", () => {
    const error = caught(() => callClosures("apply", () => functions.mlx_closure_apply(privateSlot().address, 0, 0)));
    expect(error).toBeInstanceOf(mx.MlxError);
    expect(error.message).toContain("apply: expected a non-empty");
  });
});

describe("re-entrancy", () => {
  scoped("more native calls inside than the ring of slots has places", () => {
    const x = mx.array([1, 2, 3]);
    const result = apply(([a]) => {
      let sum = mx.array([0, 0, 0]);
      for (let i = 0; i < 5000; i++) sum = mx.tidy(() => mx.add(sum, a!));
      return sum;
    }, x);
    expect(result).toEqual([[5000, 10_000, 15_000]]);
  });

  scoped("the results of an outer call are not touched by inner ones", () => {
    const x = mx.array([1, 2]);
    const inner = new mx.Closure(([a]) => {
      for (let i = 0; i < 4200; i++) mx.array(i).dispose();
      return mx.multiply(a!, 3);
    });
    const outer = new mx.Closure(([a]) => {
      const [tripled] = inner.apply([a!]);
      return [mx.add(tripled!, 1), a!];
    });
    for (let i = 0; i < 5; i++) {
      expect(outer.apply([x]).map((array) => array.tolist())).toEqual([
        [4, 7],
        [1, 2],
      ]);
    }
  });

  scoped("fifty closures deep", () => {
    const nest = (depth: number): mx.ArrayFunction =>
      depth === 0 ? ([x]) => x! : ([x]) => new mx.Closure(nest(depth - 1)).apply([mx.add(x!, 1)]);
    expect(apply(nest(50), mx.array(0))).toEqual([50]);
  });

  scoped("evaluating, printing and reading inside", () => {
    expect(
      apply(
        ([x]) => {
          mx.eval(x!);
          expect(x!.tolist()).toEqual([1, 2]);
          expect(String(x!)).toContain("1, 2");
          return mx.array(x!.tolist() as number[]);
        },
        mx.array([1, 2]),
      ),
    ).toEqual([[1, 2]]);
  });
});

describe("disposal inside", () => {
  scoped("of the inputs, the caller's array, and captured arrays", () => {
    const mine = mx.array([1, 2]);
    const captured = mx.array([10, 20]);
    const result = apply(([x]) => {
      const sum = mx.add(x!, captured);
      x!.dispose();
      mine.dispose();
      captured.dispose();
      mx.dispose([x, mine, captured]);
      return sum;
    }, mine);
    expect(result).toEqual([[11, 22]]);
    expect(mine.disposed).toBe(true);
  });

  scoped("of the closure itself waits until it has returned", () => {
    let disposedInside: boolean | undefined;
    const closure: mx.Closure = new mx.Closure(([x]) => {
      closure.dispose();
      closure.dispose();
      disposedInside = closure.disposed;
      return mx.add(x!, 1);
    });
    expect(closure.apply([mx.array([1, 2])])[0]!.tolist()).toEqual([2, 3]);
    expect(disposedInside).toBe(true);
    expect(closure.disposed).toBe(true);
    expect(refusal(() => closure.apply([mx.array(1)]))).toStartWith("DisposedError: apply:");
  });

  scoped("of the closure, then its use in the same call", () => {
    const closure: mx.Closure = new mx.Closure(([x]) => {
      if (closure.disposed) return x!;
      closure.dispose();
      return closure.apply([x!]);
    });
    expect(refusal(() => closure.apply([mx.array(1)]))).toStartWith("DisposedError: apply:");
  });

  scoped("of a result is an error, not a crash", () => {
    const closure = new mx.Closure(([x]) => {
      const sum = mx.add(x!, 1);
      sum.dispose();
      return sum;
    });
    expect(refusal(() => closure.apply([mx.array(1)]))).toStartWith("DisposedError: closure:");
  });
});

describe("functions", () => {
  test("are forgotten with their closures, by hundreds", () => {
    const closures = Array.from({ length: 700 }, () => new mx.Closure(([x]) => x!));
    expect(liveFunctions() - start.functions).toBe(700);
    mx.dispose(closures);
    expect(liveFunctions()).toBe(start.functions);
  });

  test("are forgotten when a forgotten closure is collected", () => {
    (() => {
      for (let i = 0; i < 400; i++) new mx.Closure(([x]) => x!);
    })();
    for (let i = 0; i < 5 && liveFunctions() > start.functions; i++) mx.collectForgotten();
    expect(liveFunctions()).toBe(start.functions);
  });
});
