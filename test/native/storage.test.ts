// The shim's functions that lend storage, called as they are.
import { describe, expect } from "bun:test";
import { backend } from "../../src/core/native.ts";
import { functions as C, handleOf, takeNativeMessage } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { scoped } from "../helpers.ts";
import { numbers } from "../storage/numbers.ts";

/** bun:ffi gives null for a NULL pointer. */
const address = (pointer: number | null): number => pointer ?? 0;
const liveArrays = (): number => Number(C.mlxts_live_arrays());

describe("holding storage", () => {
  scoped("shares it, and nothing of the array's node", () => {
    const before = liveArrays();
    const x = numbers(4);
    const handle = handleOf(x, "test");
    const [node, storage] = [C.mlxts_array_use_count(handle), C.mlxts_array_storage_use_count(handle)];
    const held = C.mlxts_storage_hold(handle);
    expect(C.mlxts_array_use_count(handle)).toBe(node);
    expect(C.mlxts_array_storage_use_count(handle)).toBe(Number(storage) + 1);
    expect([C.mlxts_array_id(held) === C.mlxts_array_id(handle), C.mlxts_array_storage_id(held)]).toEqual([
      false,
      C.mlxts_array_storage_id(handle),
    ]);
    expect(C.mlxts_array_status(held)).toBe(2);
    x.dispose();
    expect(new Float32Array(backend.view(C.mlxts_array_data(held), 16))).toEqual(Float32Array.of(0, 1, 2, 3));
    C.mlxts_storage_drop(0, held);
    expect(liveArrays()).toBe(before);
    C.mlxts_storage_drop(0, 0);
  });

  scoped("is refused where there is none, and evaluates nothing", () => {
    const lazy = mx.add(numbers(2), 1);
    for (const handle of [0, handleOf(lazy, "test")]) {
      expect(address(C.mlxts_storage_hold(handle))).toBe(0);
      expect(takeNativeMessage()).toBe("the array has no storage");
      expect(address(C.mlxts_dlpack_new(handle))).toBe(0);
      expect(takeNativeMessage()).toBe("the array has no storage");
    }
    expect(lazy.isAvailable).toBe(false);
  });
});

describe("a tensor", () => {
  scoped("holds the storage until its deleter has run, and takes none for an answer", () => {
    const before = liveArrays();
    const x = numbers(2, 2);
    const tensor = C.mlxts_dlpack_new(handleOf(x, "test"));
    x.dispose();
    expect(liveArrays()).toBe(before + 1);
    C.mlxts_dlpack_free(tensor);
    expect(liveArrays()).toBe(before);
    C.mlxts_dlpack_free(0);
  });
});

describe("the device of a buffer", () => {
  scoped("is there on Metal alone", () => {
    expect(address(C.mlxts_metal_device(0))).toBe(0);
    const buffer = C.mlxts_array_native_buffer(handleOf(numbers(2), "test"));
    expect(address(C.mlxts_metal_device(buffer)) !== 0).toBe(mx.metal.isAvailable());
  });
});
