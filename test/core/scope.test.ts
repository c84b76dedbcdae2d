// tidy, keep and dispose: what is born inside is freed, except what is returned or kept.
import { describe, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { caught, refusal, untyped } from "../helpers.ts";

const live = (): number => mx.memory().liveHandles;

/** Runs with a count of the handles it leaves behind. */
function leaves(run: () => void): number {
  const before = live();
  run();
  return live() - before;
}

/** A new array that nobody disposes. */
const stray = (): mx.Array => mx.array([1, 2, 3]);

describe("tidy", () => {
  test("frees what is not returned, and returns what fn returns", () => {
    const before = live();
    const [result, strays] = mx.tidy(() => {
      const strays = [stray(), stray()];
      return [mx.add(strays[0]!, 1), strays.length] as const;
    });
    expect(strays).toBe(2);
    expect(live()).toBe(before + 1);
    expect(result.tolist()).toEqual([2, 3, 4]);
    result.dispose();
    for (const value of [1, "text", null, undefined, true, 5n, Symbol.iterator]) {
      expect(mx.tidy(() => value as unknown)).toBe(value);
    }
  });

  test("leaves arrays from outside alone, whether they are returned or not", () => {
    const outside = stray();
    expect(mx.tidy(() => outside)).toBe(outside);
    mx.tidy(() => void mx.add(outside, 1));
    expect(outside.disposed).toBe(false);
    outside.dispose();
  });

  describe("walks what is returned:", () => {
    class Model {
      weight = stray();
      layers = [{ bias: stray() }];
      #hidden = stray();
      get computed(): boolean {
        return this.#hidden.disposed;
      }
    }
    const shared = { at: undefined as mx.Array | undefined };
    const cases: [name: string, make: () => unknown, survivors: number][] = [
      ["an Array", () => stray(), 1],
      ["lists in lists", () => [stray(), [stray(), [stray()]], 7, null], 3],
      ["an object", () => ({ a: stray(), deep: { b: stray() }, text: "x" }), 2],
      ["an object without prototype", () => Object.assign(Object.create(null), { a: stray() }), 1],
      [
        "a Map's values",
        () =>
          new Map<string, unknown>([
            ["a", stray()],
            ["b", [stray()]],
          ]),
        2,
      ],
      ["a Set", () => new Set([stray(), stray()]), 2],
      ["a class instance's fields, but not its private ones", () => new Model(), 2],
      ["one array twice", () => ((array) => [array, array])(stray()), 1],
      ["a list with holes", () => [, stray(), ,], 1],
      [
        "a cycle",
        () => {
          const node: Record<string, unknown> = { array: stray() };
          node.self = [node];
          return node;
        },
        1,
      ],
      [
        "a getter's value",
        () => ({
          get array(): mx.Array {
            return (shared.at ??= stray());
          },
        }),
        1,
      ],
      ["a null prototype in a list", () => [Object.create(null), stray()], 1],
      ["typed arrays and buffers, which hold none", () => [new Float32Array(9), new ArrayBuffer(9), stray()], 1],
      [
        "streams, devices and closures too",
        () => [mx.newStream("cpu"), new mx.Device("cpu"), new mx.Closure(([x]) => x!)],
        3,
      ],
      ["a function, which is no tree", () => Object.assign((): void => undefined, { a: stray() }), 0],
      ["a disposed Array", () => ((array) => (array.dispose(), array))(stray()), 0],
    ];
    test.each(cases)("%s", (_, make, survivors) => {
      let result: unknown;
      expect(
        leaves(() => {
          result = mx.tidy(() => {
            stray();
            return make();
          });
        }),
      ).toBe(survivors);
      mx.dispose(result);
      shared.at = undefined;
    });
  });

  test("frees everything when fn throws, and throws the same object", () => {
    const mine = { my: "error" };
    let inside: mx.Array | undefined;
    let kept: mx.Array | undefined;
    expect(
      leaves(() => {
        expect(
          caught(() =>
            mx.tidy(() => {
              inside = stray();
              kept = mx.keep(stray());
              throw mine;
            }),
          ) as unknown,
        ).toBe(mine);
      }),
    ).toBe(1);
    expect(inside!.disposed).toBe(true);
    expect(kept!.disposed).toBe(false);
    kept!.dispose();
    // The scope is over: what is born now belongs to nobody.
    const after = stray();
    mx.tidy(() => undefined);
    expect(after.disposed).toBe(false);
    after.dispose();
  });

  test("nests: survivors belong to the scope around", () => {
    let inner: mx.Array | undefined;
    let outer: mx.Array | undefined;
    const left = leaves(() => {
      outer = mx.tidy(() => {
        const before = live();
        inner = mx.tidy(() => {
          stray();
          return stray();
        });
        expect(live()).toBe(before + 1);
        expect(inner.disposed).toBe(false);
        return mx.tidy(() => mx.add(inner!, 1));
      });
    });
    expect(left).toBe(1);
    expect(inner!.disposed).toBe(true);
    expect(outer!.tolist()).toEqual([2, 3, 4]);
    outer!.dispose();
  });

  test("a throw inside the inner one can be caught in the outer one", () => {
    let outer: mx.Array | undefined;
    mx.tidy(() => {
      outer = stray();
      expect(() =>
        mx.tidy(() => {
          stray();
          throw new RangeError("inner");
        }),
      ).toThrow("inner");
      expect(outer.disposed).toBe(false);
    });
    expect(outer!.disposed).toBe(true);
  });

  test("two hundred deep", () => {
    const nest = (depth: number): mx.Array => mx.tidy(() => (depth === 0 ? stray() : mx.add(nest(depth - 1), 1)));
    expect(
      leaves(() => {
        const result = nest(200);
        expect(result.tolist()).toEqual([201, 202, 203]);
        result.dispose();
      }),
    ).toBe(0);
  });

  test("very many arrays in one scope, most of them disposed by hand", () => {
    expect(
      leaves(() =>
        mx.tidy(() => {
          for (let i = 0; i < 20_000; i++) {
            const array = mx.array(i, "int32");
            if (i % 3 !== 0) array.dispose();
          }
        }),
      ),
    ).toBe(0);
  });

  test("refuses promises, of an async function or any other, and frees what was made", () => {
    const text =
      'TypeError: tidy: the function returned a promise, but its arrays are freed when it returns. Make it synchronous, or own arrays by "using" across await.';
    expect(
      leaves(() => {
        const asynchronous = async (): Promise<mx.Array> => {
          const array = stray();
          await Promise.resolve();
          return array.add(1);
        };
        expect(refusal(() => mx.tidy(untyped<() => number>(asynchronous)))).toBe(text);
        expect(refusal(() => mx.tidy(untyped<() => number>(() => Promise.reject(new Error("unheard")))))).toBe(text);
        expect(refusal(() => mx.tidy(untyped<() => number>(() => ({ then: (): mx.Array => stray() }))))).toStartWith(
          "TypeError: tidy: the function returned a promise",
        );
      }),
    ).toBe(0);
    // A field of that name is no promise.
    expect(mx.tidy(() => ({ then: 1 }))).toEqual({ then: 1 });
  });

  test("returns generators as they are: they run later, in no scope", () => {
    const left = leaves(() => {
      const generator = mx.tidy(function* () {
        const array = stray();
        yield array;
        yield array.shape;
      });
      const { value } = generator.next();
      expect((value as mx.Array).disposed).toBe(false);
      expect(generator.next().value).toEqual([3]);
      (value as mx.Array).dispose();
    });
    expect(left).toBe(0);
  });

  test("wants a function", () => {
    for (const value of [undefined, null, 5, "f", {}, stray]) {
      if (typeof value === "function") continue;
      expect(refusal(() => mx.tidy(untyped<() => number>(value)))).toStartWith(
        "TypeError: tidy: expected a function, got",
      );
    }
  });

  test("a getter that throws while the result is walked frees everything", () => {
    const mine = new Error("mine");
    expect(
      leaves(() => {
        expect(() =>
          mx.tidy(() => ({
            array: stray(),
            deep: {
              array: stray(),
              get bad(): never {
                throw mine;
              },
            },
          })),
        ).toThrow(mine);
      }),
    ).toBe(0);
  });
});

describe("keep", () => {
  test("takes a whole tree out of all scopes, and returns it", () => {
    const kept: { a: mx.Array; b: mx.Array[] }[] = [];
    expect(
      leaves(() =>
        mx.tidy(() => {
          mx.tidy(() => {
            const tree = { a: stray(), b: [stray()] };
            expect(mx.keep(tree)).toBe(tree);
            kept.push(tree);
            stray();
          });
        }),
      ),
    ).toBe(2);
    expect(kept[0]!.b[0]!.tolist()).toEqual([1, 2, 3]);
    mx.dispose(kept);
    expect(kept[0]!.a.disposed).toBe(true);
  });

  test("holds although the array is returned as well", () => {
    const kept = mx.tidy(() => mx.tidy(() => mx.keep(stray())));
    expect(kept.disposed).toBe(false);
    kept.dispose();
  });

  test("takes anything", () => {
    for (const value of [1, "x", null, undefined, [], {}, new Map()]) expect(mx.keep(value)).toBe(value as never);
  });
});

describe("dispose", () => {
  test("frees a tree, what is disposed already included", () => {
    const before = live();
    const a = stray();
    const tree = new Map<string, unknown>([
      ["a", a],
      ["more", { list: [stray(), a], set: new Set([stray()]) }],
    ]);
    a.dispose();
    mx.dispose(tree);
    mx.dispose(tree);
    expect(live()).toBe(before);
    mx.dispose(undefined);
    mx.dispose(5);
    mx.dispose([null, "x"]);
  });

  test("inside of tidy, twice freed is freed once", () => {
    const before = live();
    mx.tidy(() => {
      const array = stray();
      mx.dispose(array);
      array.dispose();
      return array;
    });
    expect(live()).toBe(before);
  });
});
