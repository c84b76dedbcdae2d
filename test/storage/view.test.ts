// How long a view and its bytes live: held while it stays, revoked when it goes, released once.
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, promises, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { functions as C, handleOf } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { collected } from "../collected.ts";
import { refusal, scoped, untyped } from "../helpers.ts";
import { computed } from "./numbers.ts";

const folder = mkdtempSync(join(tmpdir(), "mlx-ts-view-"));
afterAll(() => rmSync(folder, { recursive: true }));

function numbers(size: number, from = 0): mx.Array {
  return computed(mx.arange(from, from + size, { dtype: "float32" }));
}

const storageOf = (array: mx.Array): number => Number(C.mlxts_array_storage_id(handleOf(array, "test")));
const liveArrays = (): number => Number(C.mlxts_live_arrays());
const upTo = (size: number, from = 0): number[] => Array.from({ length: size }, (_, i) => from + i);

describe("a disposed view", () => {
  scoped("has detached every array of its bytes", () => {
    const x = numbers(6);
    const view = x.exportStorage();
    const { bytes } = view;
    const arrays = [bytes, bytes.subarray(4, 8), view.typed(), new Uint32Array(bytes.buffer)];
    const data = new DataView(bytes.buffer, 4);
    expect(arrays.map((array) => array.length)).toEqual([24, 4, 6, 6]);
    expect(data.getFloat32(0, true)).toBe(1);
    view.dispose();
    expect(arrays.map((array) => array.length)).toEqual([0, 0, 0, 0]);
    expect(arrays.map((array) => array[0])).toEqual(new Array(4).fill(undefined));
    expect(bytes.buffer.detached).toBe(true);
    expect(() => data.getFloat32(0, true)).toThrow(TypeError);
    expect(() => new Uint8Array(bytes.buffer)).toThrow(TypeError);
    expect(x.tolist()).toEqual(upTo(6));
  });

  scoped("throws for every member, by name, and may be disposed again", () => {
    const view = numbers(6).exportStorage();
    const members = Object.entries(Object.getOwnPropertyDescriptors(mx.StorageView.prototype)).filter(
      ([, { get }]) => get !== undefined,
    );
    expect(members.length).toBeGreaterThan(16);
    for (const [name] of members) expect(view[name as "bytes"], name).toBeDefined();
    view.dispose();
    view.dispose();
    view[Symbol.dispose]();
    for (const [name] of members) {
      expect(refusal(() => view[name as "bytes"])).toStartWith(`DisposedError: ${name}: this StorageView was already`);
    }
    for (const call of ["typed", "copy", "toDLPack", "toString"] as const) {
      expect(refusal(() => view[call]())).toStartWith(`DisposedError: ${call}: this StorageView was already`);
    }
    expect([view.disposed, Bun.inspect(view)]).toEqual([true, "StorageView(disposed)"]);
  });

  scoped("leaves the array, other views and copies alone", () => {
    const x = numbers(6);
    const [one, two] = [x.exportStorage(), x.exportStorage()];
    const copy = one.copy();
    const kept = two.bytes;
    one.dispose();
    expect([...copy]).toEqual(upTo(6));
    expect([kept.length, ...two.typed()]).toEqual([24, ...upTo(6)]);
    expect(String(two)).toStartWith(`StorageView(${two.backend}, float32[6], bytes 0 to 24 of `);
  });
});

describe("a view", () => {
  scoped("is the memory itself: what is written through it, against the rule, is seen by the array", () => {
    const x = numbers(3);
    using view = x.exportStorage();
    view.typed()[1] = 7;
    expect(x.tolist()).toEqual([0, 7, 2]);
    expect(view.bytes.buffer).toBe(view.bytes.buffer);
  });

  scoped("is a snapshot: updates make another array", () => {
    let x = numbers(3);
    using view = x.exportStorage();
    x = x.at(0).set(9);
    mx.eval(x);
    expect([[...view.typed()], x.tolist()]).toEqual([
      [0, 1, 2],
      [9, 1, 2],
    ]);
    expect(storageOf(x)).not.toBe(view.bufferId);
  });

  scoped("outlives its array, and everything that is computed after", () => {
    const x = numbers(100_000);
    const view = x.exportStorage();
    x.dispose();
    mx.clearCache();
    for (let i = 0; i < 20; i++) mx.eval(mx.full([100_000], -1));
    expect([...view.typed()]).toEqual(upTo(100_000));
    expect([view.shape, view.copy().length]).toEqual([[100_000], 100_000]);
  });

  scoped("is no array, but may stand in a tree", () => {
    const view = numbers(3).exportStorage();
    mx.eval({ view, x: [mx.add(1, 2)] });
    expect(refusal(() => mx.add(untyped(view), 1))).toStartWith("TypeError: add:");
    mx.dispose([{ view }]);
    expect(view.disposed).toBe(true);
  });
});

describe("donation", () => {
  /** What y = x + 1 is computed into when nothing but y needs x: x's own storage, unless that is held. */
  function donates(hold: (x: mx.Array) => unknown): { same: boolean; held: unknown } {
    const x = numbers(4096);
    const y = mx.add(x, 1);
    const before = storageOf(x);
    const held = hold(x);
    x.dispose();
    mx.eval(y);
    expect([...y.toTypedArray()]).toEqual(upTo(4096, 1));
    return { same: storageOf(y) === before, held };
  }

  scoped("happens without a view, and resumes when it is gone", () => {
    expect(donates(() => null).same).toBe(true);
    expect(
      donates((x) => {
        const view = x.exportStorage();
        void view.bytes;
        view.toDLPack().dispose();
        view.dispose();
      }).same,
    ).toBe(true);
    expect(donates((x) => mx.tidy(() => void x.exportStorage().bytes)).same).toBe(true);
  });

  scoped("is blocked by a view, with bytes or without, by its capsule, and by bytes that were transferred", () => {
    const view = donates((x) => x.exportStorage());
    expect([view.same, [...(view.held as mx.StorageView).typed()]]).toEqual([false, upTo(4096)]);
    const bytes = donates((x) => {
      const lent = x.exportStorage();
      const moved = lent.bytes.buffer.transfer();
      lent.dispose();
      return moved;
    });
    expect([bytes.same, [...new Float32Array(bytes.held as ArrayBuffer)]]).toEqual([false, upTo(4096)]);
    const capsule = donates((x) => {
      using lent = x.exportStorage();
      return lent.toDLPack();
    });
    expect([capsule.same, (capsule.held as mx.DLPackCapsule).name]).toEqual([false, "dltensor_versioned"]);
  });
});

describe("an ArrayBuffer that a program has changed", () => {
  scoped("is revoked all the same, and nothing is lost", () => {
    const before = liveArrays();
    const x = numbers(4);
    const [own, shared] = [x.exportStorage(), x.exportStorage()];
    const [first, second] = [own.bytes, shared.bytes];
    const refuse = (): never => {
      throw new Error("not this one");
    };
    Object.assign(first.buffer, { transfer: refuse });
    own.dispose();
    const { transfer } = ArrayBuffer.prototype;
    ArrayBuffer.prototype.transfer = refuse;
    try {
      shared.dispose();
    } finally {
      ArrayBuffer.prototype.transfer = transfer;
    }
    x.dispose();
    expect([first.length, second.length, liveArrays()]).toEqual([0, 0, before]);
  });
});

describe("scopes and the ledger", () => {
  scoped("tidy revokes a view that was born inside, and keeps one that is returned or kept", () => {
    const x = numbers(4);
    const escaped = mx.tidy(() => untyped<Uint8Array>(x.exportStorage().bytes));
    expect(escaped.length).toBe(0);
    const { view, list } = mx.tidy(() => ({ view: x.exportStorage(), list: [mx.keep(x.exportStorage())] }));
    expect([...view.typed(), ...list[0]!.typed()]).toEqual([0, 1, 2, 3, 0, 1, 2, 3]);
    // Its array is freed with the scope; the view is not.
    using survivor = mx.tidy(() => numbers(4, 10).exportStorage());
    expect([...survivor.typed()]).toEqual([10, 11, 12, 13]);
    mx.dispose(list);
  });

  scoped("a scope that throws revokes too", () => {
    let bytes = new Uint8Array(1);
    expect(() =>
      mx.tidy(() => {
        bytes = numbers(4).exportStorage().bytes;
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(bytes.length).toBe(0);
  });

  test("a forgotten view is freed by the ledger", async () => {
    const before = await collected();
    const native = liveArrays();
    (() => {
      for (let i = 0; i < 500; i++) {
        using x = numbers(16);
        const view = x.exportStorage();
        if (i % 2 === 0) expect(view.bytes.length).toBe(64);
        if (i % 3 === 0) view.toDLPack();
      }
    })();
    expect(await collected(before)).toBe(before);
    expect(liveArrays()).toBe(native);
  });

  test("bytes that outlive a forgotten view stay what they were", async () => {
    const before = await collected();
    const native = liveArrays();
    // Only parts of the bytes stay: no view, no array, not even the buffer object by name.
    const make = (i: number): Uint8Array => {
      using x = numbers(256, i);
      return x.exportStorage().bytes.subarray(4);
    };
    const held: { parts: Uint8Array[] } = { parts: Array.from({ length: 200 }, (_, i) => make(i)) };
    expect(await collected(before)).toBe(before + 200);
    for (let i = 0; i < 300; i++) mx.tidy(() => mx.eval(mx.full([256], -5)));
    const first = held.parts.map((part) => new DataView(part.buffer, part.byteOffset).getFloat32(0, true));
    expect(first).toEqual(upTo(200, 1));
    held.parts = [];
    expect(await collected(before)).toBe(before);
    expect(liveArrays()).toBe(native);
  });

  test("bytes that were transferred are out of reach of the view, and hold their memory by themselves", async () => {
    const before = await collected();
    const native = liveArrays();
    await (async () => {
      const x = numbers(64);
      const view = x.exportStorage();
      const first = view.bytes;
      const moved = structuredClone(first.buffer, { transfer: [first.buffer] });
      expect(first.length).toBe(0);
      const second = view.bytes;
      expect(second.length).toBe(256);
      view.dispose();
      x.dispose();
      expect([second.length, moved.byteLength]).toEqual([0, 256]);
      mx.tidy(() => mx.eval(mx.full([64], -5), mx.full([64], -6)));
      expect([...new Float32Array(moved)]).toEqual(upTo(64));
      expect(liveArrays()).toBe(native + 1);
    })();
    expect(await collected(before)).toBe(before);
    for (let turn = 0; turn < 50 && liveArrays() > native; turn++) {
      Bun.gc(true);
      await Bun.sleep(2);
    }
    expect(liveArrays()).toBe(native);
  });

  test("a write to a file that is still running when the view goes writes what it was given", async () => {
    const before = await collected();
    const x = numbers(4_000_000);
    const view = x.exportStorage();
    const path = join(folder, "running.bin");
    const written = promises.writeFile(path, view.bytes);
    x.dispose();
    view.dispose();
    expect(refusal(() => view.bytes)).toStartWith("DisposedError: bytes:");
    mx.tidy(() => mx.eval(mx.full([4_000_000], -5)));
    await written;
    const found = new Float32Array(new Uint8Array(readFileSync(path)).buffer);
    expect(found.length).toBe(4_000_000);
    expect(found.every((value, i) => value === i)).toBe(true);
    expect(await collected(before)).toBe(before);
  });
});

describe("many", () => {
  test("10,000 exports and disposals leave nothing", () => {
    using x = numbers(64);
    const { liveHandles, rescued } = mx.memory();
    const native = Number(C.mlxts_live_handles());
    for (let i = 0; i < 10_000; i++) {
      using view = x.exportStorage();
      if (view.bytes.length !== 256 || view.typed()[63] !== 63) throw new Error(`stale at ${i}`);
      if (i % 10 === 0) view.toDLPack().dispose();
    }
    expect(mx.memory()).toMatchObject({ liveHandles, rescued });
    expect(Number(C.mlxts_live_handles())).toBe(native);
  });

  test("1,000 views at once, each with its own bytes, while others go and MLX computes on", () => {
    const native = liveArrays();
    const views = upTo(1000).map((i) => {
      using x = numbers(50, i);
      return x.exportStorage();
    });
    const bytes = views.map((view) => view.bytes);
    const check = (i: number): void => {
      expect([...views[i]!.typed()]).toEqual(upTo(50, i));
      expect(bytes[i]!.length).toBe(200);
    };
    for (const i of upTo(1000)) check(i);
    for (let i = 0; i < 1000; i += 2) views[i]!.dispose();
    for (let i = 0; i < 600; i++) mx.tidy(() => mx.eval(mx.full([50], -5)));
    for (let i = 0; i < 1000; i++) {
      if (i % 2 === 0) expect(bytes[i]!.length).toBe(0);
      else check(i);
    }
    mx.dispose(views);
    expect(bytes.every((array) => array.length === 0)).toBe(true);
    expect(liveArrays()).toBe(native);
  });
});
