// Element types: names, codes, sizes and bounds agree with the library.
import { expect, test } from "bun:test";
import * as dtypes from "../../src/core/dtype.ts";
import { functions } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";

test("names and codes", () => {
  expect(dtypes.dtypeNames).toHaveLength(14);
  expect(new Set(dtypes.dtypeNames).size).toBe(14);
  for (const [code, name] of dtypes.dtypeNames.entries()) {
    expect(dtypes.dtypeCodes[name]).toBe(code as never);
    expect(dtypes.isDtype(name)).toBe(true);
    expect(mx[name] as string).toBe(name);
  }
});

test("sizes are the library's", () => {
  for (const name of dtypes.dtypeNames) {
    expect(functions.mlx_dtype_size(dtypes.dtypeCodes[name])).toBe(dtypes.dtypeSize(name));
    using array = mx.array([0], name);
    expect(array.itemsize).toBe(dtypes.dtypeSize(name));
    expect(array.dtype).toBe(name);
  }
});

test("isDtype refuses everything else", () => {
  for (const value of ["float", "Float32", "__proto__", "hasOwnProperty", "", 0, null, undefined, {}, Symbol("x")]) {
    expect(dtypes.isDtype(value)).toBe(false);
  }
});

test("kinds and bounds", () => {
  expect(dtypes.dtypeNames.filter(dtypes.isInteger)).toEqual([
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
  ]);
  expect(dtypes.dtypeNames.filter(dtypes.isFloating)).toEqual(["float16", "float32", "float64", "bfloat16"]);
  for (const name of dtypes.dtypeNames.filter(dtypes.isInteger)) {
    const [low, high] = dtypes.integerBounds[name]!;
    const bits = BigInt(dtypes.dtypeSize(name) * 8);
    expect(high - low).toBe(2n ** bits - 1n);
    expect(low).toBe(name.startsWith("u") ? 0n : -(2n ** (bits - 1n)));
  }
});
