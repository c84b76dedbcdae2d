// Large deflated entries of an npz, which are unpacked piece by piece: what comes out, and what is said of damage.
import { describe, expect, test } from "bun:test";
import { crc32, deflateRawSync } from "node:zlib";
import * as mx from "../../src/index.ts";
import { refusal, scoped } from "../helpers.ts";
import { makeNpy, makeZip, npyHeader, type ZipPart } from "./make-files.ts";

const count = 280_000;
const values = Float32Array.from({ length: count }, (_, i) => Math.sin(i) * (i % 97));
const npy = makeNpy(npyHeader("<f4", [count]), new Uint8Array(values.buffer));

type Loaded = Record<string, mx.Array>;
const load = (...parts: ZipPart[]): Loaded => mx.loadFromBytes(makeZip(parts), { format: "npz" });
const entry: ZipPart = { name: "x.npy", data: npy, deflate: true };

scoped("the values, in order, beside small and stored entries", () => {
  const small = makeNpy(npyHeader("|i1", [3]), new Uint8Array([1, 2, 3]));
  const { x, y, z } = load(entry, { name: "y.npy", data: small, deflate: true }, { name: "z.npy", data: npy });
  expect(x!.toTypedArray()).toEqual(values);
  expect(z!.toTypedArray()).toEqual(values);
  expect(y!.tolist()).toEqual([1, 2, 3]);
});

scoped("big-endian and Fortran-ordered arrays, and a tail that no array needs", () => {
  const swapped = Buffer.from(values.slice().buffer).swap32();
  expect(load({ ...entry, data: makeNpy(npyHeader(">f4", [count]), swapped) })["x"]!.toTypedArray()).toEqual(values);
  const fortran = makeNpy(npyHeader("<f4", [2, count / 2], true), new Uint8Array(values.buffer));
  const { x } = load({ ...entry, data: fortran });
  expect(x!.shape).toEqual([2, count / 2]);
  expect(x!.get(1, 3).item()).toBe(values[7]!);
  const longer = new Uint8Array(npy.length + 200_000);
  longer.set(npy);
  expect(load({ ...entry, data: longer })["x"]!.toTypedArray()).toEqual(values);
});

describe("damage", () => {
  const says = (change: NonNullable<ZipPart["says"]>): string => refusal(() => load({ ...entry, says: change }));
  /** The entry with packed bytes of one's own. */
  const packed = (bytes: Uint8Array): string =>
    refusal(() =>
      load({
        name: "x.npy",
        data: bytes,
        says: { method: 8, size: npy.length, crc: crc32(npy), packed: bytes.length },
      }),
    );
  const good = new Uint8Array(deflateRawSync(npy));

  test("a wrong checksum", () => {
    expect(says({ crc: 5 })).toContain("do not have the checksum");
    const other = npy.slice();
    other[1_000_000]! ^= 1;
    expect(packed(deflateRawSync(other))).toContain("do not have the checksum");
  });

  test("a wrong size", () => {
    expect(says({ size: npy.length - 4 })).toContain(`cannot be decompressed to ${npy.length - 4} bytes`);
    expect(says({ size: npy.length + 4 })).toContain(
      `decompresses to ${npy.length} bytes instead of ${npy.length + 4}`,
    );
  });

  test("packed bytes that are cut, empty, no deflated data, or go on", () => {
    expect(packed(good.subarray(0, good.length / 2))).toContain("it cannot be decompressed");
    expect(packed(good.subarray(0, good.length - 1))).toMatch(/cannot be decompressed|decompresses to/);
    const broken = good.slice();
    broken.fill(255, 100, 200);
    expect(packed(broken)).toMatch(/cannot be decompressed|decompresses to|do not have the checksum/);
    const longer = new Uint8Array(good.length + 64);
    longer.set(good);
    mx.tidy(() => {
      const parts = { name: "x.npy", data: longer, says: { method: 8, size: npy.length, crc: crc32(npy) } };
      expect(load(parts)["x"]!.size).toBe(count);
    });
  });

  test("leaves no handle", () => {
    const before = mx.memory().liveHandles;
    for (let i = 0; i < 3; i++) says({ crc: i });
    expect(mx.memory().liveHandles).toBe(before);
  });
});
