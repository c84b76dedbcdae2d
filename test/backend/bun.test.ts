// The Bun backend: native calls, raw memory, callbacks, collections.
import { dlopen, FFIType } from "bun:ffi";
import { describe, expect, test } from "bun:test";
import { bun } from "../../src/backend/bun.ts";
import { loadLibrary } from "../../src/core/native.ts";
import { caught } from "../helpers.ts";

/** The C library of this process, for plain functions that are always there. */
const libc = process.platform === "darwin" ? "libSystem.B.dylib" : "libc.so.6";

const encode = (text: string): ArrayBuffer => {
  const bytes = new TextEncoder().encode(`${text}\0`);
  const buffer = new ArrayBuffer(bytes.length);
  new Uint8Array(buffer).set(bytes);
  return buffer;
};

test("name and version", () => {
  expect([bun.name, bun.version]).toEqual(["bun", Bun.version]);
});

describe("open", () => {
  test("gives the functions of a library, which have addresses", () => {
    const { abs, strlen } = bun.open(libc, {
      abs: { args: ["i32"], returns: "i32" },
      strlen: { args: ["ptr"], returns: "u64_fast" },
    });
    expect(abs!(-7)).toBe(7);
    const text = encode("hello");
    expect(strlen!(bun.address(text))).toBe(5);
    expect(bun.symbolAddress("abs")).toBeGreaterThan(0);
    expect(bun.symbolAddress("abs")).not.toBe(bun.symbolAddress("strlen"));
    loadLibrary();
    expect(bun.symbolAddress("mlxts_closure_dtor")).toBeGreaterThan(0);
  });

  test("throws for a library or a function that is not there", () => {
    expect(caught(() => bun.open("no-such-library.so", { abs: { args: ["i32"], returns: "i32" } })).message).not.toBe(
      "",
    );
    expect(caught(() => bun.open(libc, { no_such_function_at_all: { args: [], returns: "void" } })).message).toContain(
      "no_such_function_at_all",
    );
    expect(caught(() => bun.symbolAddress("no_such_function_at_all")).message).toBe(
      "no opened library has the function no_such_function_at_all",
    );
  });
});

describe("memory", () => {
  test("address and view are two sides of the same bytes", () => {
    const buffer = new ArrayBuffer(16);
    new DataView(buffer).setInt32(4, -5, true);
    const address = bun.address(buffer);
    expect(bun.readI32(address, 4)).toBe(-5);
    const view = new DataView(bun.view(address, 16));
    view.setBigUint64(8, 0x7fff_0000_1234n, true);
    expect(bun.readPointer(address, 8)).toBe(0x7fff00001234);
    expect(new DataView(buffer).getBigUint64(8, true)).toBe(0x7fff_0000_1234n);
  });

  test("an explicit buffer stays where it is, whatever the collector does", () => {
    const buffers = Array.from({ length: 200 }, (_, i) => {
      const buffer = new ArrayBuffer(8);
      new DataView(buffer).setInt32(0, i, true);
      return { buffer, address: bun.address(buffer), i };
    });
    bun.collectAll();
    bun.collectYoung();
    for (const { buffer, address, i } of buffers) {
      expect(bun.address(buffer)).toBe(address);
      expect(bun.readI32(address, 0)).toBe(i);
    }
  });

  test("text ends at NUL and is UTF-8", () => {
    for (const text of ["", "abc", "日本 🎉 ä"]) expect(bun.text(bun.address(encode(text)))).toBe(text);
    expect(bun.text(bun.address(encode("cut\0here")))).toBe("cut");
  });
});

describe("callback", () => {
  test("is called by native code, with numbers, and closed", () => {
    const calls: unknown[][] = [];
    const callback = bun.callback(
      (...args) => {
        calls.push(args);
        return bun.readI32(args[0] as number, 0) - bun.readI32(args[1] as number, 0);
      },
      { args: ["ptr", "ptr"], returns: "i32" },
    );
    const { qsort } = dlopen(libc, {
      qsort: { args: [FFIType.ptr, FFIType.u64_fast, FFIType.u64_fast, FFIType.ptr], returns: FFIType.void },
    }).symbols;
    const buffer = new ArrayBuffer(20);
    new Int32Array(buffer).set([5, -1, 3, 2, -7]);
    qsort(bun.address(buffer) as never, 5, 4, callback.pointer as never);
    expect([...new Int32Array(buffer)]).toEqual([-7, -1, 2, 3, 5]);
    expect(calls.length).toBeGreaterThan(3);
    expect(calls.flat().every((value) => typeof value === "number" && Number.isSafeInteger(value))).toBe(true);
    callback.close();
  });
});

describe("collections", () => {
  for (const [name, collect] of [
    ["collectYoung", () => bun.collectYoung()],
    ["collectAll", () => bun.collectAll()],
  ] as const) {
    test(`${name} clears weak references in this very job`, () => {
      const weak: WeakRef<object>[] = [];
      (() => {
        for (let i = 0; i < 2000; i++) weak.push(new WeakRef({ i }));
      })();
      collect();
      const alive = weak.filter((reference) => reference.deref() !== undefined).length;
      expect(alive).toBeLessThan(100);
    });
  }

  test("leave alone what is held", () => {
    const held = Array.from({ length: 1000 }, (_, i) => ({ i }));
    const weak = held.map((value) => new WeakRef(value));
    bun.collectYoung();
    bun.collectAll();
    expect(weak.every((reference, i) => reference.deref() === held[i])).toBe(true);
  });
});
