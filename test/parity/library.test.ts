// The harness together with the library: values of the format, comparison of arrays, and that nothing passes by luck.
import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { elements, isArray, type MxArray } from "./arrays.ts";
import { compare } from "./compare.ts";
import { type ArrayValue, type Case, parseLine, readCases, tagged, Unsupported } from "./format.ts";
import { rejectError } from "./kinds/error.ts";
import { decode, decodeCall } from "./literals.ts";
import { loadModules, mx } from "./names.ts";
import { runCase } from "./run-case.ts";

beforeAll(loadModules);

const exact = { rtol: 0, atol: 0 };
const value = (text: string): unknown => parseLine(text);
const decoded = (text: string): MxArray => {
  const result = decode(value(text), true);
  if (!isArray(result)) throw new Error("not an array");
  return result;
};

describe("values", () => {
  test.each([
    '{"$array":{"dtype":"bool","shape":[2],"data":[true,false]}}',
    '{"$array":{"dtype":"uint8","shape":[2],"data":[0,255]}}',
    '{"$array":{"dtype":"int16","shape":[1,2],"data":[-32768,32767]}}',
    '{"$array":{"dtype":"uint32","shape":[],"data":[4294967295]}}',
    '{"$array":{"dtype":"int64","shape":[2],"data":["-9223372036854775808","9007199254740993"]}}',
    '{"$array":{"dtype":"uint64","shape":[1],"data":["18446744073709551615"]}}',
    '{"$array":{"dtype":"float16","shape":[3],"data":[0.0999755859375,"inf","nan"]}}',
    '{"$array":{"dtype":"bfloat16","shape":[3],"data":[-0.8125,"-inf",3.390625]}}',
    '{"$array":{"dtype":"float32","shape":[2,2],"data":[1.4416375,-0.0,"nan",3.0]}}',
    '{"$array":{"dtype":"float64","shape":[1],"data":[0.1]}}',
    '{"$array":{"dtype":"complex64","shape":[2],"data":[[1.5,-2.5],["nan","inf"]]}}',
    '{"$array":{"dtype":"int32","shape":[2,0],"data":[]}}',
    '{"$array":{"dtype":"bool","shape":[0,3],"data":[]}}',
  ])("%s is made and compared", (text) => {
    expect(compare(value(text), decoded(text), exact)).toBeNull();
  });

  test("dtype, shape and every element count", () => {
    const text = '{"$array":{"dtype":"float32","shape":[2,2],"data":[1,2,3,4]}}';
    const array = decoded(text);
    expect(compare(value(text.replace("float32", "float16")), array, exact)).toContain("dtype");
    expect(compare(value(text.replace("[2,2]", "[4]")), array, exact)).toContain("shape");
    expect(compare(value(text.replace("3,4", "3,4.000001")), array, exact)).toContain("element 3");
    expect(compare(value(text.replace("3,4", "3,4.000001")), array, { rtol: 1e-6, atol: 0 })).toBeNull();
    expect(compare(value(text), [array], exact)).toContain("expected an array");
    expect(compare(value(`[${text}]`), array, exact)).toContain("a list of 1");
    expect(compare(value(`[${text}]`), [array], exact)).toBeNull();
    expect(compare(value(`{"w":${text}}`), { w: array }, exact)).toBeNull();
    expect(compare(value(`{"w":${text}}`), { v: array }, exact)).toContain("keys");
  });

  test("integers are compared exactly, whatever the tolerance", () => {
    const text = '{"$array":{"dtype":"int32","shape":[1],"data":[5]}}';
    expect(compare(value(text), decoded(text.replace("[5]", "[6]")), { rtol: 1, atol: 10 })).toContain("element 0");
  });

  test("plain values", () => {
    expect(compare(value("5"), 5n, exact)).toBeNull();
    expect(compare(value("5"), "5", exact)).not.toBeNull();
    expect(compare(value('{"$int":"9007199254740993"}'), 9007199254740993n, exact)).toBeNull();
    expect(compare(value('{"$int":"9007199254740993"}'), 9007199254740992, exact)).not.toBeNull();
    expect(compare(value('{"$dtype":"int8"}'), "int8", exact)).toBeNull();
    expect(compare(value('{"$complex":[1.5,2.5]}'), { re: 1.5, im: 2.5 }, exact)).toBeNull();
    expect(compare(value("true"), 1, exact)).not.toBeNull();
    expect(compare(value("null"), undefined, exact)).toBeNull();
  });

  test("views are lazy and have the values of the sliced array", () => {
    const base = '{"$array":{"dtype":"int32","shape":[3,4],"data":[0,1,2,3,4,5,6,7,8,9,10,11]}}';
    const view = (ops: string): unknown => elements(decoded(`{"$view":{"of":${base},"ops":${ops}}}`));
    expect(view('[["slice",[[null,null,-1],[1,null,2]]]]')).toEqual([9, 11, 5, 7, 1, 3]);
    expect(view('[["transpose",[1,0]]]')).toEqual([0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]);
    expect(view('[["slice",[[1,2,null],[2,3,null]]],["reshape",[]]]')).toEqual([6]);
    expect(view('[["slice",[[0,1,null]]],["broadcast_to",[2,4]]]')).toEqual([0, 1, 2, 3, 0, 1, 2, 3]);
    expect(view('[["as_strided",[2],[5],1]]')).toEqual([1, 6]);
    expect(view('[["expand_dims",0]]')).toHaveLength(12);
    expect(view("[]")).toHaveLength(12);
    expect(() => view('[["transpose",[1,0]],["slice",[[0,1,null]]]]')).toThrow(Unsupported);
  });
});

describe("calls", () => {
  test("literals become dtypes or weak scalars, keywords become options", () => {
    expect(decodeCall("mx.array", [[1, 2]], {})).toEqual([[1, 2], { dtype: "int32" }]);
    expect(decodeCall("mx.array", [value("[1,2.0]")] as unknown[], {})).toEqual([[1, 2], { dtype: "float32" }]);
    expect(decodeCall("mx.sum", [1], { keepdims: true, axis: 0 })).toEqual([1, { keepDims: true, axis: 0 }]);
    const [, two] = decodeCall("mx.add", [1, value("2.0")], {}) as [unknown, { value: number }];
    expect(two).toEqual({ value: 2 });
    expect(typeof two).toBe("object");
    const [options] = decodeCall("mx.fast.rope", [], { base: value("10000.0") });
    expect(options).toEqual({ base: 10000 });
    expect(decodeCall("mx.arange", [value("3.0")], {})).toEqual([3, { dtype: "float32" }]);
    expect(() => decodeCall("mx.sum", [{ $layer: {} }], {})).toThrow(Unsupported);
  });
});

describe("a case that cannot run never passes:", () => {
  const run = (one: object): string => runCase({ id: "x", ...one } as Case).status;
  const error = { expect: { error: "ValueError" } };

  test("unknown kinds, functions, methods, forms and values", () => {
    expect(run({ kind: "no such kind" })).toBe("unsupported");
    expect(run({ kind: "call", fn: "mx.no_such_function", args: [], expect: null })).toBe("unsupported");
    expect(run({ kind: "error", form: "call", fn: "mx.no_such_function", args: [], ...error })).toBe("unsupported");
    const array = value('{"$array":{"dtype":"int32","shape":[1],"data":[5]}}');
    expect(run({ kind: "error", form: "call", fn: "array.no_such_method", args: [array], ...error })).toBe(
      "unsupported",
    );
    expect(run({ kind: "error", form: "no such form", ...error })).toBe("unsupported");
    expect(run({ kind: "error", form: "call", fn: "mx.sum", args: [{ $layer: {} }], ...error })).toBe("unsupported");
  });

  test("an error case where nothing is raised, or something that is no error of the library", () => {
    expect(run({ kind: "error", form: "call", fn: "mx.sum", args: [1], ...error })).toBe("failed");
    expect(rejectError("text", "ValueError")).toContain("not an Error");
    expect(rejectError(new TypeError("undefined is not an object (evaluating 'a.b')"), "ValueError")).toContain(
      "engine",
    );
    expect(rejectError(new RangeError("sum: axis 9 is out of range"), "ValueError")).toBeNull();
    expect(() => rejectError(new TypeError('sum: unknown option "x"'), "ValueError")).toThrow(Unsupported);
    expect(rejectError(new TypeError('sum: unknown option "x"'), "TypeError")).toBeNull();
  });

  test("an option that our function does not have is no pass of an error case", () => {
    const one = { kind: "error", form: "call", fn: "mx.sum", args: [1], kwargs: { no_such: 1 }, ...error };
    expect(run(one)).toBe("unsupported");
  });

  test("what a case leaves behind is counted", () => {
    const { keep, ones } = mx() as { keep: (x: unknown) => void; ones: (shape: number[]) => unknown };
    const held = runCase({
      id: "leak",
      kind: "call",
      fn: "mx.abs",
      args: [1],
      expect: 1,
      get rtol(): number {
        keep(ones([2]));
        return 0;
      },
    });
    expect(held.leaked).toBe(1);
  });
});

/** Changes one thing of an expectation; false where there is nothing to change. */
function spoil(expected: unknown): boolean {
  const tag = tagged(expected);
  if (tag?.tag === "$array") {
    const array = tag.body as ArrayValue;
    if (array.data.length === 0) array.shape.push(7);
    else array.dtype = array.dtype === "int8" ? "int16" : "int8";
    return true;
  }
  return Array.isArray(expected) && expected.some(spoil);
}

test("spoiled expectations fail, one and all", async () => {
  const { cases } = await readCases(join(import.meta.dir, "data/cases.jsonl.gz"));
  const sample = cases.filter(({ kind, fn }, index) => kind === "call" && fn?.startsWith("mx.") && index % 7 === 0);
  const spoiled = sample.filter(({ expect: expected }) => spoil(expected));
  expect(spoiled.length).toBeGreaterThan(150);
  expect(spoiled.filter((one) => runCase(one).status !== "failed").map(({ id }) => id)).toEqual([]);
});
