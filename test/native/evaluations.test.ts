// What the shim knows of evaluations: which arrays a failed one has spoiled, and which it has not.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { pointerAddress } from "../../src/core/scratch.ts";
import { functions as C, loadLibrary, privateSlot, readSlot, slot } from "../../src/ffi.ts";

let device = 0;
let stream = 0;
const made: number[] = [];
const vectors: number[] = [];

beforeAll(() => {
  loadLibrary();
  device = C.mlx_device_new_type(0, 0);
  stream = C.mlx_default_cpu_stream_new();
});

afterAll(() => {
  for (const array of made) C.mlx_array_free(array);
  for (const vector of vectors) C.mlx_vector_array_free(vector);
  C.mlx_stream_free(stream);
  C.mlx_device_free(device);
});

/** Calls with a fresh out slot; what was written is an array that the file frees at its end. */
function result(call: (out: number) => number): number {
  const out = slot();
  expect(call(out)).toBe(0);
  const array = readSlot(out);
  made.push(array);
  return array;
}

function scalar(value: number): number {
  const array = C.mlx_array_new_float32(value);
  made.push(array);
  return array;
}

/** A list of the arrays, as native code takes it. */
function list(...arrays: number[]): number {
  const vector = C.mlx_vector_array_new_data(pointerAddress(arrays), arrays.length);
  vectors.push(vector);
  return vector;
}

const lazySum = (): number => result((out) => C.mlx_add(out, scalar(2), scalar(3), stream));

test("what was watched, and what is made of it", () => {
  const sum = lazySum();
  expect(C.mlxts_watch_one(sum)).toBe(0);
  const later = result((out) => C.mlx_negative(out, sum, stream));
  expect(C.mlxts_array_is_spoiled(sum)).toBe(1);
  expect(C.mlxts_array_is_spoiled(later)).toBe(1);
  expect(C.mlxts_array_is_spoiled(lazySum())).toBe(0);
  expect(C.mlxts_watch_one(scalar(1))).toBe(0);
  expect(C.mlxts_array_is_spoiled(later)).toBe(0);
  expect(C.mlxts_watch(list(scalar(1), later), false)).toBe(0);
  expect(C.mlxts_array_is_spoiled(sum)).toBe(1);
  expect(C.mlxts_watch(0, false)).toBe(0);
  expect(C.mlxts_array_is_spoiled(sum)).toBe(0);
});

test("what an evaluation left in the background, on each of its streams, until it was waited for", () => {
  C.mlxts_forget_evaluations();
  const other = C.mlx_stream_new_device(device);
  const middle = lazySum();
  const output = result((out) => C.mlx_negative(out, middle, other));
  const outputs = list(output);
  expect(C.mlxts_watch(outputs, true)).toBe(0);
  expect(C.mlx_async_eval(outputs)).toBe(0);
  expect(C.mlxts_started()).toBe(2);
  const later = result((out) => C.mlx_negative(out, middle, stream));
  expect(C.mlxts_watch(0, false)).toBe(0);
  for (const array of [middle, output, later]) expect(C.mlxts_array_is_spoiled(array)).toBe(1);
  expect(C.mlxts_array_is_spoiled(lazySum())).toBe(0);
  for (const [array, left] of [
    [output, 1],
    [middle, 0],
  ] as const) {
    expect(C.mlxts_watch_one(array)).toBe(0);
    expect(C.mlx_array_eval(array)).toBe(0);
    expect(C.mlxts_settled()).toBe(left);
  }
  for (const array of [middle, output]) expect(C.mlxts_array_is_spoiled(array)).toBe(0);
  C.mlx_stream_free(other);
});

test("an event is forgotten with the last array that carries it", () => {
  C.mlxts_forget_evaluations();
  const passing = privateSlot();
  C.mlx_negative(passing.address, scalar(3), stream);
  const vector = C.mlx_vector_array_new_value(passing.read());
  C.mlxts_watch(vector, true);
  C.mlx_async_eval(vector);
  expect(C.mlxts_started()).toBe(1);
  C.mlx_vector_array_free(vector);
  C.mlx_array_free(passing.read());
  C.mlx_synchronize(stream);
  expect(C.mlxts_settled()).toBe(0);
});

test("nothing after mlxts_forget_evaluations, and an empty handle", () => {
  const sum = lazySum();
  C.mlxts_watch_one(sum);
  C.mlxts_forget_evaluations();
  expect(C.mlxts_array_is_spoiled(sum)).toBe(0);
  expect(C.mlxts_array_is_spoiled(0)).toBe(-1);
  expect(C.mlxts_watch_one(0)).toBe(0);
});
