// The bits of the two 16-bit float formats: rounding to nearest even, subnormals, overflow, NaN.
import { describe, expect, test } from "bun:test";
import { fromBfloat16Bits, fromFloat16Bits, toBfloat16Bits, toFloat16Bits } from "../../src/core/half.ts";

describe("bfloat16", () => {
  const known: [value: number, bits: number][] = [
    [0, 0x0000],
    [-0, 0x8000],
    [1, 0x3f80],
    [-2, 0xc000],
    [3.140625, 0x4049],
    [Math.PI, 0x4049],
    // 8 bits of fraction and a half: ties go to the even neighbour.
    [1 + 2 ** -8, 0x3f80],
    [1 + 3 * 2 ** -8, 0x3f82],
    [1 + 2 ** -8 + 2 ** -20, 0x3f81],
    [-(1 + 3 * 2 ** -8), 0xbf82],
    // The largest number, and where it turns into infinity.
    [3.3895313892515355e38, 0x7f7f],
    [3.3961775292304957e38, 0x7f80],
    [1e300, 0x7f80],
    [Infinity, 0x7f80],
    [-Infinity, 0xff80],
    [-1e300, 0xff80],
    // Subnormals have the exponents of float32.
    [2 ** -126, 0x0080],
    [2 ** -133, 0x0001],
    [2 ** -134, 0x0000],
    [3 * 2 ** -134, 0x0002],
    [1e-60, 0x0000],
    [NaN, 0x7fc0],
  ];

  test.each(known)("%p", (value, bits) => expect(toBfloat16Bits(value)).toBe(bits));

  test("every finite pattern comes back as itself", () => {
    let wrong = 0;
    for (let bits = 0; bits < 65536; bits++) {
      const value = fromBfloat16Bits(bits);
      const back = toBfloat16Bits(value);
      if (Number.isNaN(value) ? back !== 0x7fc0 : back !== bits) wrong++;
    }
    expect(wrong).toBe(0);
  });

  test("rounds to the nearest of the two neighbours, everywhere", () => {
    let wrong = 0;
    for (let bits = 1; bits < 0x7f7f; bits += 7) {
      const low = fromBfloat16Bits(bits);
      const high = fromBfloat16Bits(bits + 1);
      const even = bits % 2 === 0 ? bits : bits + 1;
      if (toBfloat16Bits(low + (high - low) * 0.25) !== bits) wrong++;
      if (toBfloat16Bits(low + (high - low) * 0.5) !== even) wrong++;
      if (toBfloat16Bits(low + (high - low) * 0.75) !== bits + 1) wrong++;
    }
    expect(wrong).toBe(0);
  });
});

describe("float16", () => {
  const known: [value: number, bits: number][] = [
    [0, 0x0000],
    [-0, 0x8000],
    [1, 0x3c00],
    [-2, 0xc000],
    [Math.PI, 0x4248],
    [1 + 2 ** -11, 0x3c00],
    [1 + 3 * 2 ** -11, 0x3c02],
    [65504, 0x7bff],
    [65519, 0x7bff],
    [65520, 0x7c00],
    [1e6, 0x7c00],
    [Infinity, 0x7c00],
    [-65520, 0xfc00],
    [-Infinity, 0xfc00],
    [2 ** -14, 0x0400],
    [2 ** -24, 0x0001],
    [2 ** -25, 0x0000],
    [3 * 2 ** -25, 0x0002],
    [1e-9, 0x0000],
    [NaN, 0x7e00],
  ];

  test.each(known)("%p", (value, bits) => expect(toFloat16Bits(value)).toBe(bits));

  test("narrows through float32, as the native library does", () => {
    // A hair above the tie between 1 and its neighbour: float32 loses the hair, and the tie goes to even.
    expect(toFloat16Bits(1 + 2 ** -11 + 2 ** -40)).toBe(0x3c00);
    expect(toFloat16Bits(1 + 2 ** -11 + 2 ** -23)).toBe(0x3c01);
  });

  test("every finite pattern comes back as itself", () => {
    let wrong = 0;
    for (let bits = 0; bits < 65536; bits++) {
      const value = fromFloat16Bits(bits);
      if (Number.isNaN(value)) {
        if (!Number.isNaN(fromFloat16Bits(toFloat16Bits(value)))) wrong++;
      } else if (toFloat16Bits(value) !== bits) wrong++;
    }
    expect(wrong).toBe(0);
  });
});
