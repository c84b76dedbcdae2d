// The shim's lists of arrays, called as they are: what each answers, what is counted, and that an empty handle, a list
// that does not fit or a function that gives nothing is refused.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { backend } from "../../src/core/native.ts";
import { int32Address, pointerAddress } from "../../src/core/scratch.ts";
import { functions as C, privateSlot, readSlot, slot } from "../../src/ffi.ts";

const values = [1, 2, 3].map((value) => C.mlx_array_new_float32(value));
const live = (): number => C.mlxts_live_handles();
let start = 0;

beforeEach(() => {
  start = live();
});
afterEach(() => {
  expect(live()).toBe(start);
});

function message(): string | null {
  const text = C.mlxts_error_take();
  return (text ?? 0) === 0 ? null : backend.text(text);
}

function room(count: number): { address: number; view: DataView } {
  const buffer = new ArrayBuffer(count * 8);
  return { address: backend.address(buffer), view: new DataView(buffer) };
}

function valueOf(handle: number): number {
  const out = slot();
  expect(C.mlx_array_item_float32(out, handle)).toBe(0);
  return new DataView(backend.view(out, 4)).getFloat32(0, true);
}

test("a vector of arrays, and new handles of each", () => {
  const vector = C.mlxts_vector_new(pointerAddress(values), 3);
  expect(live()).toBe(start + 1);
  const { address, view } = room(3);
  expect(C.mlxts_vector_handles(vector, false, address, 2)).toBe(3);
  expect(view.getBigUint64(0, true)).toBe(0n);
  expect(live()).toBe(start + 1);
  expect(C.mlxts_vector_handles(vector, true, address, 3)).toBe(3);
  expect(live()).toBe(start + 3);
  const handles = [0, 8, 16].map((offset) => Number(view.getBigUint64(offset, true)));
  expect(handles.map(valueOf)).toEqual([1, 2, 3]);
  for (const handle of handles) C.mlx_array_free(handle);
});

test("an empty vector has no handles", () => {
  const vector = C.mlxts_vector_new(pointerAddress([]), 0);
  expect(C.mlxts_vector_handles(vector, true, room(1).address, 1)).toBe(0);
});

test("empty handles are refused with a message", () => {
  expect(C.mlxts_vector_new(pointerAddress([values[0]!, 0]), 2) ?? 0).toBe(0);
  expect(message()).toContain("non-empty mlx_array");
  expect(C.mlxts_vector_handles(0, true, room(1).address, 1)).toBe(-1);
  expect(message()).toContain("non-empty mlx_vector_array");
  expect(C.mlxts_vmap(privateSlot().address, 0, pointerAddress(values), 1, int32Address([0]), 1)).toBe(1);
  expect(message()).toContain("a function");
  expect(C.mlxts_constant_new(0) ?? 0).toBe(0);
});

/** A closure of the shim around a function, which native code may call until the test ends. */
function closure(fn: (out: number, inputs: number) => number): number {
  const callback = backend.callback(fn, { args: ["ptr", "ptr", "ptr"], returns: "i32" });
  return C.mlxts_closure_new(callback.pointer, 0);
}

function apply(fn: number): { status: number; vector: number } {
  const own = privateSlot();
  const inputs = C.mlxts_vector_new(pointerAddress(values), 3);
  const status = C.mlx_closure_apply(own.address, fn, inputs);
  C.mlx_vector_array_free(inputs);
  return { status, vector: own.read() };
}

test("a closure lends its inputs and takes its results over", () => {
  const { status, vector } = apply(
    closure((out, inputs) => {
      expect(C.mlx_vector_array_size(inputs)).toBe(3);
      return C.mlx_vector_array_set_value(out, values[1]!);
    }),
  );
  expect(status).toBe(0);
  const { address, view } = room(1);
  expect(C.mlxts_vector_handles(vector, true, address, 1)).toBe(1);
  const handle = Number(view.getBigUint64(0, true));
  expect(valueOf(handle)).toBe(2);
  C.mlx_array_free(handle);
});

test("a closure that fails leaves nothing, with results or without", () => {
  for (const gives of [false, true]) {
    const { status } = apply(
      closure((out) => {
        if (gives) C.mlx_vector_array_set_value(out, values[1]!);
        return 1;
      }),
    );
    expect(status).toBe(1);
    expect(message()).toContain("has thrown");
  }
});

test("vmap wants an axis for each result", () => {
  const fn = closure((out) => C.mlx_vector_array_set_value(out, values[1]!));
  expect(C.mlxts_vmap(privateSlot().address, fn, pointerAddress(values), 1, int32Address([-1]), 1)).toBe(1);
  expect(message()).toContain("an axis for each result");
});

test("constants are left out of the counts", () => {
  const own = C.mlxts_constant_new(values[2]!);
  expect(live()).toBe(start);
  expect(valueOf(own)).toBe(3);
  C.mlxts_constant_free(own);
});
