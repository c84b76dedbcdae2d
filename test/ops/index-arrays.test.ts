// Index arrays that lead out of the array. MLX reads and writes wherever they lead: what is known is refused, what is yet
// to be computed is limited to the axis.
import { afterEach, describe, expect, test } from "bun:test";
import { functions as C } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { caught, refusal, said, scoped, untyped } from "../helpers.ts";

const integers: readonly mx.Dtype[] = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"];
const ids = (values: readonly number[], dtype: mx.Dtype = "int32"): mx.Array =>
  mx.array(/64/.test(dtype) ? untyped<number[]>(values.map(BigInt)) : (values as number[]), { dtype });
/** The same values, not computed yet. */
const later = (values: readonly number[], dtype: mx.Dtype = "int32"): mx.Array =>
  mx.add(ids(values, dtype), mx.zeros([1], dtype));

afterEach(() => mx.setIndexChecks(false));

type Use = (a: mx.Array, index: mx.Array) => mx.Array;
const reads: Record<string, Use> = {
  take: (a, index) => mx.take(a, index),
  "take along an axis": (a, index) => mx.take(a, index, 0),
  takeAlongAxis: (a, index) => mx.takeAlongAxis(a, index, 0),
  "takeAlongAxis, flat": (a, index) => mx.takeAlongAxis(a, index, null),
  get: (a, index) => a.get(index),
};
const writes: Record<string, Use> = {
  putAlongAxis: (a, index) => mx.putAlongAxis(a, index, mx.full([index.size], -1, a.dtype), 0),
  "putAlongAxis, flat": (a, index) => mx.putAlongAxis(a, index, mx.full([index.size], -1, a.dtype), null),
  "at.set": (a, index) => a.at(index).set(-1),
  "at.add": (a, index) => a.at(index).add(0).at(index).set(-1),
};

for (const [name, use] of Object.entries({ ...reads, ...writes })) {
  scoped(`${name}: values that are known and outside are refused, in every dtype`, () => {
    const a = mx.arange(6);
    for (const dtype of integers) {
      const operation = /^\w+/.exec(name)![0];
      const place = operation === "get" || operation === "at" ? "index 0" : "indices";
      expect(refusal(() => use(a, ids([1, 6], dtype)))).toBe(
        `RangeError: ${operation}: ${place}[1] is 6, out of range for an axis of length 6.`,
      );
      expect(caught(() => use(a, ids([100], dtype)))).toBeInstanceOf(RangeError);
      if (!dtype.startsWith("u")) expect(caught(() => use(a, ids([0, -7], dtype)))).toBeInstanceOf(RangeError);
      const kept = use(a, ids([0, 5], dtype)).tolist();
      expect(kept).toEqual(name in reads ? [0, 5] : [-1, 1, 2, 3, 4, -1]);
      if (!dtype.startsWith("u")) expect(use(a, ids([-6, -1], dtype)).tolist()).toEqual(kept);
    }
  });

  scoped(`${name}: values that are computed later are limited to the axis, in every dtype`, () => {
    const a = mx.arange(6);
    for (const dtype of integers) {
      const signed = !dtype.startsWith("u");
      const result = use(a, later(signed ? [1, 9, -50] : [1, 9, 100], dtype)).tolist();
      if (name in reads) expect(result).toEqual(signed ? [1, 5, 0] : [1, 5, 5]);
      else expect(result).toEqual(signed ? [-1, -1, 2, 3, 4, -1] : [0, -1, 2, 3, 4, -1]);
      expect(use(a, later([0, 5], dtype)).tolist()).toEqual(use(a, ids([0, 5], dtype)).tolist());
    }
  });
}

scoped("views of index arrays are read by their strides, and the first wrong element is named", () => {
  const a = mx.arange(12).reshape(3, 4);
  const grid = mx.array(
    [
      [0, 1, 2],
      [2, 3, -5],
    ],
    { dtype: "int32" },
  );
  expect(mx.take(a, mx.transpose(grid), 0).shape).toEqual([3, 2, 4]);
  const columns = mx.transpose(grid);
  mx.eval(columns);
  expect(refusal(() => mx.take(a, columns, 0))).toContain("take: indices[1][1] is 3, out of range");
  expect(refusal(() => a.get(0, columns))).toContain("get: index 1[2][1] is -5, out of range for an axis of length 4");
  const repeated = mx.broadcastTo(ids([7]), [2, 2]);
  mx.eval(repeated);
  expect(refusal(() => mx.take(a, repeated, 0))).toContain("take: indices[0][0] is 7");
  const first = grid.get(0);
  mx.eval(first);
  expect(mx.take(a, first, 0).shape).toEqual([3, 4]);
  expect(a.get(ids([0, 2]), ids([3, -4])).tolist()).toEqual([3, 8]);
  expect(a.get(later([0, 9]), later([9, 0])).tolist()).toEqual([3, 8]);
});

scoped("products with picked matrices count from the front alone", () => {
  const a = mx.ones([2, 2, 2]);
  for (const [dtype, wrong] of [
    ["uint32", 2],
    ["int32", -1],
  ] as const) {
    expect(refusal(() => mx.gatherMm(a, a, ids([0, wrong], dtype), null))).toBe(
      `RangeError: gatherMm: lhsIndices[1] is ${wrong}, and there are 2 to pick from.`,
    );
  }
  expect(mx.gatherMm(a, a, later([0, 9], "uint32"), null).shape).toEqual([2, 2, 2]);
  mx.eval(mx.gatherMm(a, a, later([0, 9], "uint32"), later([7, 1], "uint32")));
});

scoped("nothing is left when they are refused", () => {
  const a = mx.arange(6);
  const wrong = ids([9]);
  mx.take(a, ids([1]));
  const before = C.mlxts_live_handles();
  for (const use of [...Object.values(reads), ...Object.values(writes)])
    mx.tidy(() => void caught(() => use(a, wrong)));
  expect(C.mlxts_live_handles()).toBe(before);
});

describe("in transforms", () => {
  scoped("placeholders are limited, and gradients go where the values came from", () => {
    const a = mx.arange(6);
    const pick = (index: mx.Array): mx.Array => a.get(index);
    expect(
      mx
        .compile(pick)(ids([1, 99]))
        .tolist(),
    ).toEqual([1, 5]);
    expect(
      mx
        .vmap(pick)(ids([1, 99]))
        .tolist(),
    ).toEqual([1, 5]);
    expect(
      mx
        .grad((x: mx.Array) => mx.sum(x.get(later([1, 9]))))(mx.ones([6]))
        .tolist(),
    ).toEqual([0, 1, 0, 0, 0, 1]);
  });

  // It holds no lengths, and asks for them each time. MLX knows no scatter there, so that at() has an error of its own.
  const { "at.set": _set, "at.add": _add, ...shapeless } = { ...reads, ...writes };
  for (const [name, use] of Object.entries(shapeless)) {
    scoped(`${name}, in a graph for all shapes, is limited to the length of each call`, () => {
      for (const dtype of integers) {
        if (name === "putAlongAxis, flat") continue;
        const compiled = mx.compile((x: mx.Array, index: mx.Array) => use(x, index), { shapeless: true });
        for (const n of [3, 6]) {
          const a = mx.arange(n);
          const plain = use(a, ids([0, n - 1], dtype)).tolist();
          expect(compiled(a, ids([0, n - 1], dtype)).tolist()).toEqual(plain);
          expect(compiled(a, ids([100, n], dtype)).tolist()).toEqual(use(a, ids([n - 1, n - 1], dtype)).tolist());
          if (!dtype.startsWith("u")) {
            expect(compiled(a, ids([-100, -1], dtype)).tolist()).toEqual(plain);
          }
        }
      }
    });
  }
});

scoped("products with picked matrices, in a graph for all shapes", () => {
  const product = (x: mx.Array, left: mx.Array, right: mx.Array): mx.Array => mx.gatherMm(x, x, left, right);
  const compiled = mx.compile(product, { shapeless: true });
  for (const n of [4, 2]) {
    const x = mx.astype(mx.broadcastTo(mx.reshape(mx.arange(n), [n, 1, 1]), [n, 2, 2]), "float32");
    const wrong = compiled(x, ids([99, 0, n], "uint32"), ids([1, 77, 0], "uint32"));
    expect(wrong.tolist()).toEqual(product(x, ids([n - 1, 0, n - 1], "uint32"), ids([1, n - 1, 0], "uint32")).tolist());
  }
});

describe("checks of everything", () => {
  scoped("compute the values first", () => {
    const a = mx.arange(6);
    expect(mx.indexChecks()).toBe(false);
    mx.setIndexChecks(true);
    expect(mx.indexChecks()).toBe(true);
    expect(refusal(() => mx.take(a, later([1, 9])))).toContain("take: indices[1] is 9, out of range");
    expect(refusal(() => a.at(later([1, -9])).add(1))).toContain("at: index 0[1] is -9");
    expect(
      mx
        .compile((index: mx.Array) => a.get(index))(ids([1, 99]))
        .tolist(),
    ).toEqual([1, 5]);
    expect(refusal(() => mx.setIndexChecks(untyped(1)))).toStartWith(
      "TypeError: setIndexChecks: on must be true or false",
    );
  });

  test("can be asked for by the environment", async () => {
    const program =
      'attempt("take", () => mx.take(mx.arange(3), mx.add(mx.array([7], { dtype: "int32" }), 0)).tolist());';
    expect(await said(program)).toEqual(["take: [2]"]);
    expect(await said(program, { env: { MLX_TS_CHECK_INDICES: "1" } })).toEqual([
      "take: RangeError: take: indices[0] is 7, out of range for an axis of length 3.",
    ]);
  });
});

// Python MLX 0.32.2 follows a start out of the array: it gives what lies there, or ends with "free(): invalid size".
describe("starts of slice and sliceUpdate that leave no room are limited to it", () => {
  const rows = (from: number): number[][] => [0, 1].map((i) => [0, 1, 2, 3].map((j) => 4 * (from + i) + j));
  for (const dtype of integers) {
    scoped(dtype, () => {
      const a = mx.arange(12).reshape(3, 4);
      const update = mx.full([2, 4], -9, "int32");
      const starts = dtype.startsWith("u") ? [0, 1, 2, 3, 100] : [0, 1, 2, 3, 100, -1, -2, -100];
      for (const start of starts) {
        const row = Math.min(Math.max(start, 0), 1);
        for (const make of [ids, later]) {
          expect(mx.slice(a, make([start], dtype), [0], [2, 4]).tolist()).toEqual(rows(row));
          const written = mx.sliceUpdate(a, update, make([start], dtype), [0]);
          expect(mx.slice(written, [row], [0], [2, 4]).tolist()).toEqual(update.tolist());
          expect(written.get(row === 0 ? 2 : 0).tolist()).toEqual(a.get(row === 0 ? 2 : 0).tolist());
        }
      }
    });
  }

  scoped("known starts that fit cost no operation, whether they are of one axis or of several", () => {
    const a = mx.zeros([6, 9]);
    const graph = (starts: mx.Array, axes: number[]): string => {
      let text = "";
      mx.exportToDot((part) => (text += part), mx.slice(a, starts, axes, [2, 3]));
      return text;
    };
    const limited = /Minimum|Maximum/;
    expect(graph(ids([4], "int32"), [0])).not.toMatch(limited);
    expect(graph(ids([0, 4], "int64"), [0, 1])).not.toMatch(limited);
    expect(graph(ids([5], "int32"), [0])).toMatch(limited);
    expect(graph(later([4], "int32"), [0])).toMatch(limited);
    // Each axis has a room of its own: 4 and 6 here.
    for (const [starts, at] of [
      [
        [4, 6],
        [4, 6],
      ],
      [
        [9, 6],
        [4, 6],
      ],
      [
        [1, 9],
        [1, 6],
      ],
    ] as const) {
      const b = mx.arange(54).reshape(6, 9);
      expect(mx.slice(b, ids([...starts], "int32"), [0, 1], [1, 1]).item()).toBe(
        b.get(Math.min(starts[0], 5), Math.min(starts[1], 8)).item(),
      );
      const corner = mx.slice(b, ids([...starts], "int32"), [0, 1], [2, 3]).get(0, 0);
      expect(corner.item()).toBe(b.get(at[0], at[1]).item());
    }
  });

  scoped("other dtypes are refused in MLX's words, computed or not", () => {
    const a = mx.arange(12).reshape(3, 4);
    for (const dtype of ["bool", "float32"] as const) {
      for (const make of [ids, (v: number[], d: mx.Dtype) => mx.astype(mx.add(ids(v), 0), d)]) {
        expect(refusal(() => mx.slice(a, make([1], dtype), [0], [2, 4]))).toContain("Start indices must be integers");
      }
    }
  });
});
