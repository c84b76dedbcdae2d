// JavaScript scalars: what counts as one, its dtype, its bits.
import { describe, expect, test } from "bun:test";
import { dtypeNames, dtypeSize } from "../../src/core/dtype.ts";
import {
  fit,
  isComplex,
  isScalar,
  newScalar,
  ownDtype,
  WeakFloat,
  weakDtype,
  writeElement,
} from "../../src/core/scalar.ts";
import { functions, wrapArray } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { refusal, scoped, untyped } from "../helpers.ts";

test("isScalar and isComplex", () => {
  for (const value of [0, NaN, 1n, true, false, { re: 1, im: 2 }, { re: 1, im: 2, extra: 3 }, mx.float(1)]) {
    expect(isScalar(value)).toBe(true);
  }
  const frozen = Object.freeze({ re: 1, im: 2 });
  expect(isComplex(frozen)).toBe(true);
  class Complex {
    re = 1;
    im = 2;
  }
  expect(isComplex(new Complex())).toBe(true);
  class Computed {
    get re(): number {
      return 1;
    }
    get im(): number {
      return 2;
    }
  }
  for (const value of [undefined, null, "1", [], {}, { re: 1 }, { re: "1", im: 1 }, new Computed(), Symbol("x"), mx]) {
    expect(isScalar(value)).toBe(false);
  }
});

describe("mx.float", () => {
  test("makes a weak float of any number", () => {
    for (const value of [0, 1.5, NaN, Infinity]) {
      expect(mx.float(value)).toBeInstanceOf(WeakFloat);
      expect(mx.float(value).value).toBe(value);
    }
    for (const value of ["1", 1n, true, null, undefined, mx.float(1)]) {
      expect(refusal(() => mx.float(untyped(value)))).toStartWith("TypeError: float: value must be a number, got ");
    }
  });

  scoped("promotes integers as 2.0 does in Python", () => {
    const x = mx.array([1, 2], "int32");
    expect(mx.multiply(x, 2).dtype).toBe("int32");
    expect(mx.multiply(x, mx.float(2)).dtype).toBe("float32");
    expect(mx.multiply(mx.array([1], "bfloat16"), mx.float(2)).dtype).toBe("bfloat16");
  });
});

test("ownDtype depends on type and, for integers, on the width that they need", () => {
  const cases: [value: unknown, dtype: mx.Dtype][] = [
    [true, "bool"],
    [0, "int32"],
    [-0, "int32"],
    [2147483647, "int32"],
    [2147483648, "int64"],
    [-2147483648n, "int32"],
    [-2147483649n, "int64"],
    [2 ** 53, "float32"],
    [0.1, "float32"],
    [NaN, "float32"],
    [{ re: 0, im: 0 }, "complex64"],
    [mx.float(1), "float32"],
  ];
  for (const [value, dtype] of cases) expect(ownDtype(untyped<number>(value))).toBe(dtype);
});

test("weakDtype never narrows to less than the scalar needs", () => {
  expect(weakDtype(1.5, "int64")).toBe("float32");
  expect(weakDtype(1.5, "float64")).toBe("float64");
  expect(weakDtype(1, "bool")).toBe("int32");
  expect(weakDtype(2 ** 40, "bool")).toBe("int64");
  expect(weakDtype(true, "uint8")).toBe("uint8");
  expect(weakDtype({ re: 1, im: 0 }, "float64")).toBe("complex64");
  expect(weakDtype(3n, "float16")).toBe("float16");
});

describe("fit", () => {
  test("cuts fractions, and keeps bigints bigints", () => {
    expect(fit(1.9, "int8")).toBe(1);
    expect(fit(-1.9, "int8")).toBe(-1);
    expect(fit(-0.5, "uint8") === 0).toBe(true);
    expect(fit(7n, "uint64")).toBe(7n);
  });

  test("says what does not fit", () => {
    expect(refusal(() => fit(128, "int8"))).toBe("RangeError: 128 does not fit int8 (-128 to 127)");
    expect(refusal(() => fit(NaN, "int8"))).toBe("RangeError: NaN does not fit int8");
    expect(refusal(() => fit(2 ** 60, "int64"))).toContain(
      "past the safe integers: write a bigint, 1152921504606846976n",
    );
  });
});

describe("newScalar", () => {
  for (const dtype of dtypeNames) {
    scoped(dtype, () => {
      const array = wrapArray(newScalar(1, dtype));
      expect({ dtype: array.dtype, shape: array.shape }).toEqual({ dtype, shape: [] });
      const one = array.item();
      if (dtype === "complex64") expect(one).toEqual({ re: 1, im: 0 });
      else expect(Number(one)).toBe(1);
      expect(wrapArray(newScalar(true, dtype)).tolist()).toEqual(one);
      if (dtype !== "complex64") expect(Number(wrapArray(newScalar(0n, dtype)).item())).toBe(0);
    });
  }

  scoped("complex, whatever the dtype asked for", () => {
    expect(wrapArray(newScalar({ re: 1.5, im: -2 }, "complex64")).item()).toEqual({ re: 1.5, im: -2 });
  });
});

test("writeElement writes exactly the bytes of the dtype", () => {
  for (const dtype of dtypeNames) {
    const view = new DataView(new ArrayBuffer(32));
    for (let i = 0; i < 32; i++) view.setUint8(i, 0xee);
    writeElement(view, 8, 1, dtype);
    const touched = [...Array(32).keys()].filter((i) => view.getUint8(i) !== 0xee);
    expect(touched).toEqual(Array.from({ length: dtypeSize(dtype) }, (_, i) => 8 + i));
  }
});

test("the 64-bit constants are exact in native code", () => {
  const scalar = newScalar(2n ** 63n - 1n, "int64");
  using array = wrapArray(scalar);
  expect(array.item()).toBe(2n ** 63n - 1n);
  expect(functions.mlx_array_ndim(scalar)).toBe(0);
});
