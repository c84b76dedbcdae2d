// Short-lived native arguments: what native code reads is what was written, small, large, and where the ring wraps.
import { describe, expect, test } from "bun:test";
import { backend } from "../../src/core/native.ts";
import * as scratch from "../../src/core/scratch.ts";

const RING = 65536;
const bytesAt = (address: number, length: number): Uint8Array => new Uint8Array(backend.view(address, length).slice(0));
const int32At = (address: number, count: number): number[] => [...new Int32Array(bytesAt(address, count * 4).buffer)];
const int64At = (address: number, count: number): bigint[] => [
  ...new BigInt64Array(bytesAt(address, count * 8).buffer),
];

describe("integers", () => {
  test("of 32 and 64 bits, none included", () => {
    expect(int32At(scratch.int32Address([1, -1, 2147483647, -2147483648]), 4)).toEqual([
      1, -1, 2147483647, -2147483648,
    ]);
    const wide = [0, -1, 2 ** 53 - 1, 2n ** 63n - 1n, -(2n ** 63n)];
    expect(int64At(scratch.int64Address(wide), 5)).toEqual(wide.map(BigInt));
    for (const address of [scratch.int32Address([]), scratch.int64Address([]), scratch.pointerAddress([])]) {
      expect(address).toBeGreaterThan(0);
    }
  });

  test("handles of 47 bits", () => {
    const handles = [0, 1, 2 ** 32 - 1, 2 ** 32, 2 ** 47 - 8, 140_000_000_000_000];
    expect(int64At(scratch.pointerAddress(handles), 6)).toEqual(handles.map(BigInt));
  });

  test("are aligned to 8 bytes, whatever came before", () => {
    for (let i = 0; i < 50; i++) {
      scratch.textAddress("x".repeat(i));
      expect(scratch.int32Address([i]) % 8).toBe(0);
    }
  });

  test("larger than the ring, and just around the size that gets memory of its own", () => {
    for (const count of [4095, 4096, 4097, 16_384, 16_385, 100_000]) {
      const values = Array.from({ length: count }, (_, i) => i - 7);
      expect(int32At(scratch.int32Address(values), count)).toEqual(values);
      const pointers = values.map((value) => value + 2 ** 40);
      expect(int64At(scratch.pointerAddress(pointers), count)).toEqual(pointers.map(BigInt));
    }
  });

  test("sixty large ones stay readable together", () => {
    const many = Array.from({ length: 60 }, (_, i) => ({
      value: i,
      address: scratch.int32Address(new Array<number>(5000).fill(i)),
    }));
    Bun.gc(true);
    for (const { value, address } of many) expect(new Set(int32At(address, 5000))).toEqual(new Set([value]));
  });
});

describe("the ring", () => {
  test("wraps without a wrong value, over ten times its size", () => {
    let wrong = 0;
    for (let i = 0; i < (RING / 64) * 12; i++) {
      const values = [i, -i, i ^ 0x5555, ...new Array<number>(i % 11).fill(i)];
      const address = scratch.int32Address(values);
      if (int32At(address, values.length).some((value, at) => value !== values[at])) wrong++;
    }
    expect(wrong).toBe(0);
  });

  test("three arguments of one call never overlap", () => {
    for (let i = 0; i < 2000; i++) {
      const size = ((i * 37) % 4000) + 1;
      const lists = [0, 1, 2].map((n) => new Array<number>(size).fill(i * 3 + n));
      const addresses = lists.map((list) => scratch.int32Address(list));
      for (const [n, list] of lists.entries()) {
        const read = int32At(addresses[n]!, size);
        if (read.length !== size || read.some((value) => value !== list[0])) throw new Error(`round ${i}, list ${n}`);
      }
    }
  });
});

describe("text", () => {
  const texts = [
    "",
    "a",
    "ascii",
    "äöü",
    "日本語テキスト",
    "🎉🎉🎉",
    "mixed 日本 🎉 ä",
    "x".repeat(16_384),
    "é".repeat(30_000),
  ];

  test.each(texts.map((text) => [text.slice(0, 20), text] as const))("%p", (_, text) => {
    expect(backend.text(scratch.textAddress(text))).toBe(text);
    const bytes = new TextEncoder().encode(text);
    const address = scratch.textAddress(text);
    expect(bytesAt(address, bytes.length + 1)).toEqual(new Uint8Array([...bytes, 0]));
  });

  test("ends where it ends, although longer text was there before", () => {
    for (let i = 0; i < 3000; i++) {
      const text = i % 2 === 0 ? "long text ".repeat(20) : "s";
      if (backend.text(scratch.textAddress(text)) !== text) throw new Error(`round ${i}`);
    }
  });
});

describe("constants", () => {
  test("are encoded once, and stay", () => {
    const address = scratch.constantAddress("affine");
    expect(scratch.constantAddress("affine")).toBe(address);
    for (let i = 0; i < 3000; i++) scratch.textAddress("something else");
    expect(backend.text(address)).toBe("affine");
    expect(backend.text(scratch.constantAddress(""))).toBe("");
    expect(backend.text(scratch.constantAddress("ünï"))).toBe("ünï");
  });

  test("more than are kept still come out right", () => {
    for (let i = 0; i < 1000; i++) expect(backend.text(scratch.constantAddress(`constant ${i}`))).toBe(`constant ${i}`);
    expect(backend.text(scratch.constantAddress("affine"))).toBe("affine");
  });
});

test("elementAddress gives room for eight bytes", () => {
  const address = scratch.elementAddress((view, offset) => view.setBigUint64(offset, 0x0123456789abcdefn, true));
  expect(int64At(address, 1)).toEqual([0x0123456789abcdefn]);
});
