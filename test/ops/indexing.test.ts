// get, at and iteration: what they give where random indices do not reach, and what they say when they refuse.
import { describe, expect, test } from "bun:test";
import { functions } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { refusal, scoped, untyped } from "../helpers.ts";

const six = (): mx.Array => mx.arange(6).reshape(2, 3);

describe("get", () => {
  scoped("takes index Arrays of every integer dtype, and of no axis", () => {
    for (const dtype of ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"] as const) {
      expect(
        six()
          .get(mx.array([1, 0], { dtype }))
          .tolist(),
      ).toEqual([
        [3, 4, 5],
        [0, 1, 2],
      ]);
      expect(six().get(mx.array(1, { dtype })).tolist()).toEqual([3, 4, 5]);
    }
  });
  scoped("walks axes of all 32 bits", () => {
    const x = mx.broadcastTo(mx.array(1), [2 ** 31 - 1]);
    expect(x.get(-1).item()).toBe(1);
    expect(x.get("-1:").tolist()).toEqual([1]);
    expect(x.get("2147483640::3").tolist()).toEqual([1, 1, 1]);
    expect(x.get("::-1").shape).toEqual([2 ** 31 - 1]);
    // MLX would add the step to the length, and give an empty array.
    for (const text of ["::2147483646", "::-2147483646"] as const) {
      expect(refusal(() => x.get(text))).toMatch(/^RangeError: get: index 0: 2 steps of -?2147483646 are further/);
    }
  });
  scoped("many axes, old and new", () => {
    expect(mx.ones(new Array<number>(17).fill(1)).get(...new Array<":">(17).fill(":")).ndim).toBe(17);
    expect(mx.ones([2]).get(...new Array<null>(40).fill(null)).ndim).toBe(41);
    expect(mx.ones(new Array<number>(12).fill(2)).get(...new Array<number[]>(12).fill([0, 1])).shape).toEqual([2]);
  });
});

describe("refusals name the operation:", () => {
  const selfish: unknown[] = [];
  selfish.push(selfish);
  const disposed = (dtype: mx.Dtype = "int32"): mx.Array => {
    const array = mx.array([1], { dtype });
    array.dispose();
    return array;
  };
  const cases: Record<string, [() => unknown, RegExp]> = {
    "a disposed index": [() => six().get(disposed()), /^DisposedError: get: /],
    "a disposed index in at": [() => six().at(0, disposed()).set(1), /^DisposedError: at: /],
    "a disposed mask": [() => six().at(disposed("bool")).set(1), /^DisposedError: at: /],
    "a disposed value": [() => six().at(0).set(disposed()), /^DisposedError: at: /],
    "a mask in get": [() => six().get(mx.array([true, false])), /^TypeError: get: index 0 is a boolean mask/],
    "a mask beside other parts": [
      () =>
        six()
          .at(mx.array([true, false]), 0)
          .set(1),
      /^TypeError: at: a boolean mask stands alone/,
    ],
    "a mask that does not fit": [
      () =>
        six()
          .at(mx.array([true]))
          .set(1),
      /^RangeError: at: a mask of shape \[1\]/,
    ],
    "adding by a mask": [
      () =>
        six()
          .at(mx.array([true, false]))
          .add(1),
      /^TypeError: at: .*set only/,
    ],
    "an index of floats": [() => six().get(mx.array([1, 0])), /^TypeError: get: .*integers, got one of float32/],
    "a typed array": [() => six().get(untyped(new Int32Array(1))), /^TypeError: get: index 0 .*an Int32Array/],
    "a list that holds itself": [() => six().get(untyped(selfish)), /^TypeError: get: index 0: .*holds itself/],
    "a list that holds itself, in take": [
      () => mx.take(six(), untyped(selfish)),
      /^TypeError: take: indices: .*holds itself/,
    ],
    "a list that holds itself, in gatherMm": [
      () => mx.gatherMm(mx.ones([1, 2, 2]), mx.ones([1, 2, 2]), untyped(selfish)),
      /^TypeError: gatherMm: lhsIndices: .*holds itself/,
    ],
    "a list with holes": [() => six().get(untyped([0, undefined])), /^TypeError: get: index 0 .*undefined in it/],
    "two ellipses": [() => six().get("...", "..."), /^RangeError: get: .*"\.\.\." once/],
    "too many parts": [() => six().get(0, 0, 0), /^RangeError: get: too many indices: 3 for an array of 2 axes/],
    "lists that do not broadcast": [() => six().get([0, 1], [0, 1, 2]), /^RangeError: get: the index arrays' shapes/],
    "a value of more axes": [
      () =>
        six()
          .at(0)
          .set(mx.ones([2, 3])),
      /^RangeError: at: a value of shape \[2, 3\] does not broadcast to the place's shape \[3\]\.$/,
    ],
    "a value of another length": [
      () =>
        six()
          .at(0)
          .set(mx.ones([2])),
      /^RangeError: at: a value of shape \[2\] does not broadcast to the place's shape \[3\]\.$/,
    ],
    "a value for nothing": [
      () =>
        six()
          .at("2:2")
          .set(mx.ones([2, 3])),
      /^RangeError: at: a value of shape \[2, 3\]/,
    ],
    "a list as a value": [
      () =>
        six()
          .at(0)
          .set(untyped([1, 2, 3])),
      /^TypeError: at: value must be an Array/,
    ],
    "iterating an array of no axes": [() => [...mx.array(1)], /^TypeError: an array of no axes/],
  };
  for (const [name, [run, message]] of Object.entries(cases)) {
    scoped(name, () => {
      const before = mx.memory().liveHandles;
      mx.tidy(() => {
        expect(refusal(run)).toMatch(message);
      });
      expect(mx.memory().liveHandles).toBe(before);
    });
  }
});

describe("at", () => {
  scoped("casts the value to the array's dtype", () => {
    const x = mx.zeros([2], { dtype: "int32" }).at(0).set(1.75);
    expect([x.dtype, x.tolist()]).toEqual(["int32", [1, 0]]);
    const h = mx
      .zeros([2], { dtype: "bfloat16" })
      .at(1)
      .add(mx.array([0.1]));
    expect([h.dtype, h.tolist()]).toEqual(["bfloat16", [0, 0.10009765625]]);
    expect(mx.array([true, false]).at(1).add(true).tolist()).toEqual([true, true]);
    // As MLX does it: by the reciprocal, in the array's own dtype.
    expect(mx.array([4, 8], { dtype: "int32" }).at(0).divide(2).tolist()).toEqual([0, 8]);
  });
  scoped("leaves the array as it was, and frees its temporaries", () => {
    const x = six();
    const before = mx.memory().liveHandles;
    const y = x.at([0, 1], "::-1").add(mx.ones([2, 3]));
    expect(mx.memory().liveHandles).toBe(before + 1 + 1); // the value stays with its maker
    expect(x.tolist()).toEqual([
      [0, 1, 2],
      [3, 4, 5],
    ]);
    expect(y.tolist()).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
  });
  scoped("a place can be written several times", () => {
    const place = mx.arange(3).at(1);
    expect([place.set(7).tolist(), place.add(7).tolist()]).toEqual([
      [0, 7, 2],
      [0, 8, 2],
    ]);
  });
});

describe("iteration", () => {
  scoped("gives the rows, each owned", () => {
    const x = six();
    const before = mx.memory().liveHandles;
    const rows = [...x];
    expect(rows.map((row) => row.tolist())).toEqual([
      [0, 1, 2],
      [3, 4, 5],
    ]);
    expect(mx.memory().liveHandles).toBe(before + 2);
    expect([...mx.zeros([0, 3])]).toEqual([]);
  });
  scoped("may stop early", () => {
    const before = mx.memory().liveHandles;
    for (const row of six()) {
      row.dispose();
      break;
    }
    expect(mx.memory().liveHandles).toBe(before + 2); // arange and reshape
  });
});

scoped("a mask without axes takes all or nothing, and an axis of one is what MLX sees of it", () => {
  const native = functions.mlx_masked_scatter;
  const axes: number[] = [];
  functions.mlx_masked_scatter = (...args) => {
    axes.push(functions.mlx_array_ndim(args[2]));
    return native(...args);
  };
  try {
    const x = mx.arange(3);
    expect(
      x
        .at(mx.array(true))
        .set(mx.array([7, 8, 9]))
        .tolist(),
    ).toEqual([7, 8, 9]);
    expect(x.at(mx.array(true)).set(5).tolist()).toEqual([5, 5, 5]);
    expect(x.at(mx.array(false)).set(5).tolist()).toEqual([0, 1, 2]);
    expect(mx.array(4).at(mx.array(true)).set(5).item()).toBe(5);
    expect(mx.array(4).at(mx.array(false)).set(5).item()).toBe(4);
  } finally {
    functions.mlx_masked_scatter = native;
  }
  expect(axes).toEqual([1, 1, 1, 1, 1]);
});

describe("values that do not fit", () => {
  scoped("an empty value fits a mask that selects nothing, and no other", () => {
    const x = mx.arange(4);
    const none = mx.array([false, false, false, false]);
    expect(x.at(none).set(mx.array([])).tolist()).toEqual([0, 1, 2, 3]);
    const one = mx.array([false, true, false, false]);
    expect(refusal(() => x.at(one).set(mx.array([])))).toContain("RangeError: at: the mask selects elements");
  });
  scoped("a number that an integer dtype cannot hold is refused, a fraction is cut off", () => {
    const x = mx.arange(4);
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(refusal(() => x.at(0).set(value))).toStartWith("RangeError: at: value:");
      expect(refusal(() => x.at(0).add(value))).toStartWith("RangeError: at: value:");
    }
    expect(refusal(() => mx.array([1, 2], "uint8").at(0).set(300.5))).toContain("does not fit uint8");
    expect(refusal(() => mx.array([1, 2], "uint8").at(0).set(-1.5))).toContain("does not fit uint8");
    expect(x.at(0).add(2.7).tolist()).toEqual([2, 1, 2, 3]);
  });
  test("a list whose getter disposes what was taken before is refused", () => {
    const [first, second] = [mx.array([1]), mx.array([2])];
    const list = [first, second];
    Object.defineProperty(list, 1, { get: () => (first.dispose(), second) });
    expect(refusal(() => mx.concatenate(list))).toStartWith("DisposedError: concatenate:");
    expect(refusal(() => mx.stack(list))).toStartWith("DisposedError: stack:");
    second.dispose();
  });
});
