// MLX's lists and maps: read completely, freed, in order.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { takeArrayMap } from "../../src/core/map.ts";
import { pointerAddress, textAddress } from "../../src/core/scratch.ts";
import { nativeText } from "../../src/core/string.ts";
import { arrayHandles, takeInts, takeStrings } from "../../src/core/vector.ts";
import { functions as C, VectorArray, wrapArray } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { refusal } from "../helpers.ts";

mx.tidy(() => void mx.add(1, 1));
let before = 0;
beforeEach(() => {
  before = C.mlxts_live_handles();
});
afterEach(() => {
  expect(C.mlxts_live_handles()).toBe(before);
});

describe("VectorArray", () => {
  test("counts, and is disposable", () => {
    using list = VectorArray.empty();
    expect(list.size).toBe(0);
    using array = mx.array([1]);
    C.mlx_vector_array_append_value(list.entry.handle, array.entry.handle);
    expect(list.size).toBe(1);
    const gone = VectorArray.empty();
    gone.dispose();
    expect(refusal(() => gone.size)).toStartWith("DisposedError: size: this VectorArray was already");
  });
});

test("arrayHandles gives handles of its own, beyond the ring of slots too", () => {
  using one = mx.array(7);
  const vector = C.mlx_vector_array_new();
  for (let i = 0; i < 5000; i++) C.mlx_vector_array_append_value(vector, one.entry.handle);
  const handles = arrayHandles(vector, "op");
  C.mlx_vector_array_free(vector);
  expect(new Set(handles).size).toBe(5000);
  mx.tidy(() => {
    const arrays = handles.map((handle) => wrapArray(handle));
    expect(arrays[4999]!.item()).toBe(7);
  });
});

test("takeStrings and takeInts read in order and free", () => {
  const strings = C.mlx_vector_string_new();
  for (const text of ["", "b", "日本", "x".repeat(500)]) C.mlx_vector_string_append_value(strings, textAddress(text));
  expect(takeStrings(strings)).toEqual(["", "b", "日本", "x".repeat(500)]);
  const ints = C.mlx_vector_int_new();
  for (const value of [0, -1, 2147483647, -2147483648]) C.mlx_vector_int_append_value(ints, value);
  expect(takeInts(ints)).toEqual([0, -1, 2147483647, -2147483648]);
  expect(takeInts(C.mlx_vector_int_new())).toEqual([]);
});

describe("maps", () => {
  test("of arrays, with any name", () => {
    const map = C.mlx_map_string_to_array_new();
    const names = [
      "weight",
      "",
      "__proto__",
      "constructor",
      "ü日本",
      ...Array.from({ length: 200 }, (_, i) => `n${i}`),
    ];
    mx.tidy(() => {
      for (const [i, name] of names.entries()) {
        C.mlx_map_string_to_array_insert(map, textAddress(name), mx.array(i, "int32").entry.handle);
      }
      const result = takeArrayMap(map, "load");
      expect(Object.keys(result).sort()).toEqual([...names].sort());
      for (const [i, name] of names.entries()) expect(result[name]!.item()).toBe(i);
      expect(Object.getPrototypeOf(result)).toBeNull();
    });
  });

  test("an empty map of arrays", () => {
    expect(Object.keys(takeArrayMap(C.mlx_map_string_to_array_new(), "load"))).toEqual([]);
  });
});

test("nativeText reads a string and frees it; a failing call leaves nothing", () => {
  const text = mx.tidy(() => {
    const array = mx.array([1, 2]);
    mx.eval(array);
    return nativeText("toString", (out) => C.mlx_array_tostring(out, array.entry.handle));
  });
  expect(text).toContain("1, 2");
  expect(refusal(() => nativeText("toString", (out) => C.mlx_array_tostring(out, 0)))).toStartWith(
    "MlxError: toString: ",
  );
  expect(pointerAddress([1])).toBeGreaterThan(0);
});
