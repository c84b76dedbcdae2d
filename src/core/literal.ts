/** From JavaScript values to a new native array: nested lists, scalars, typed arrays. */

import type { Pointer } from "../backend/types.ts";
import { describe } from "./describe.ts";
import { type Dtype, dtypeCodes, dtypeSize, isInteger } from "./dtype.ts";
import { takeNativeMessage } from "./error.ts";
import { backend, C } from "./native.ts";
import { isComplex, isScalar, type Scalar, WeakFloat, writeElement } from "./scalar.ts";
import { int32Address } from "./scratch.ts";

export interface LiteralOptions {
  dtype?: Dtype | undefined;
  shape?: readonly number[] | undefined;
}

interface Rules {
  /** Indices: a fraction is refused instead of truncated. */
  integersOnly?: boolean;
}

/** A new native array that holds a copy of `value`. The caller owns the handle. */
export function newArrayFrom(value: unknown, options: LiteralOptions = {}, rules: Rules = {}): Pointer {
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return fromTyped(value as AnyTyped, options);
  const flat: Scalar[] = [];
  const shape = flatten(value, flat);
  const dtype = options.dtype ?? commonDtype(flat);
  const bytes = new ArrayBuffer(Math.max(flat.length * dtypeSize(dtype), 8));
  const view = new DataView(bytes);
  const checks = options.dtype === undefined && dtype === "float32";
  for (let i = 0; i < flat.length; i++) write(view, i, flat[i]!, dtype, checks, rules);
  return newData(bytes, options.shape ?? shape, flat.length, dtype);
}

function newData(bytes: ArrayBuffer, shape: readonly number[], count: number, dtype: Dtype): Pointer {
  countElements(shape, count);
  return copied(bytes, 0, shape, dtype);
}

// An address does not keep its buffer alive, so the buffer is held here until native code has copied it.
let source: ArrayBufferLike | null = null;

function copied(buffer: ArrayBuffer, offset: number, shape: readonly number[], dtype: Dtype): Pointer {
  source = buffer;
  const address = backend.address(buffer) + offset;
  const handle = C.mlx_array_new_data(address, int32Address(shape), shape.length, dtypeCodes[dtype]);
  source = null;
  if (!handle) throw new RangeError(takeNativeMessage());
  return handle;
}

function countElements(shape: readonly number[], count: number): void {
  if (!Array.isArray(shape)) throw new TypeError(`shape must be a list of integers, got ${describe(shape)}.`);
  const wanted = shape.reduce((product: number, length) => product * checkLength(length), 1);
  if (wanted !== count) {
    throw new RangeError(`the shape [${shape.join(", ")}] holds ${wanted} elements, the data has ${count}.`);
  }
}

function checkLength(length: unknown): number {
  if (typeof length !== "number" || !Number.isInteger(length) || length < 0 || length > 2147483647) {
    throw new RangeError(`a shape is a list of non-negative 32-bit integers, got ${describe(length)}.`);
  }
  return length;
}

function write(view: DataView, i: number, value: Scalar, dtype: Dtype, exact: boolean, rules: Rules): void {
  const offset = i * dtypeSize(dtype);
  if (typeof value === "boolean") value = value ? 1 : 0;
  else if (value instanceof WeakFloat) value = value.value;
  else if (typeof value === "object") {
    if (dtype !== "complex64") throw new TypeError(`a complex value cannot become ${dtype}.`);
    view.setFloat32(offset, value.re, true);
    return view.setFloat32(offset + 4, value.im, true);
  }
  if (exact && Number.isInteger(value) && Math.fround(Number(value)) !== value) {
    throw new RangeError(
      `the integer ${value} is not exact as float32. Give a dtype: { dtype: "int32" }, "int64" or "float64" hold it.`,
    );
  }
  if (rules.integersOnly === true && typeof value === "number" && !Number.isInteger(value)) {
    throw new RangeError(`an index must be an integer, got ${value}.`);
  }
  if (isInteger(dtype) && typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new RangeError(`the number ${value} is past the safe integers: write a bigint, ${BigInt(value)}n.`);
  }
  writeElement(view, offset, value, dtype);
}

/** Appends the elements in row-major order and returns the shape; ragged lists are refused by their path. */
function flatten(value: unknown, flat: Scalar[]): number[] {
  if (!Array.isArray(value)) {
    flat.push(element(value, ""));
    return [];
  }
  const shape = firstShape(value);
  collect(value, shape, 0, "", flat);
  return shape;
}

function firstShape(value: unknown): number[] {
  const shape: number[] = [];
  for (let at: unknown = value; Array.isArray(at); at = at[0]) {
    shape.push(at.length);
    if (at.length === 0) break;
  }
  return shape;
}

function collect(value: unknown, shape: readonly number[], axis: number, path: string, flat: Scalar[]): void {
  if (axis === shape.length) {
    flat.push(element(value, path));
    return;
  }
  const length = shape[axis]!;
  if (!Array.isArray(value) || value.length !== length) {
    const got = Array.isArray(value) ? `a list of ${value.length}` : describe(value);
    throw new TypeError(`the nested lists are ragged: value${path} should be a list of ${length}, and is ${got}.`);
  }
  for (let i = 0; i < length; i++) collect(value[i], shape, axis + 1, `${path}[${i}]`, flat);
}

function element(value: unknown, path: string): Scalar {
  if (isScalar(value)) return value;
  const where = path === "" ? "the value" : `value${path}`;
  const ragged = Array.isArray(value) ? " The nested lists are ragged." : "";
  throw new TypeError(`${where} must be a number, a bigint, a boolean or { re, im }, got ${describe(value)}.${ragged}`);
}

/** The dtype of plain values: it depends on their types, never on their values. */
function commonDtype(flat: readonly Scalar[]): Dtype {
  let bools = 0;
  let bigints = 0;
  for (const value of flat) {
    if (isComplex(value)) return "complex64";
    if (typeof value === "boolean") bools++;
    else if (typeof value === "bigint") bigints++;
  }
  if (flat.length === 0) return "float32";
  if (bools === flat.length) return "bool";
  if (bigints === 0) return "float32";
  if (bigints + bools === flat.length) return "int64";
  throw new TypeError("the values mix numbers and bigints. Give a dtype, or write them all the same way.");
}

type AnyTyped =
  | Uint8Array
  | Uint8ClampedArray
  | Uint16Array
  | Uint32Array
  | BigUint64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Float16Array
  | Float32Array
  | Float64Array;

const typedDtypes: Record<string, Dtype> = {
  Uint8Array: "uint8",
  Uint8ClampedArray: "uint8",
  Buffer: "uint8",
  Uint16Array: "uint16",
  Uint32Array: "uint32",
  BigUint64Array: "uint64",
  Int8Array: "int8",
  Int16Array: "int16",
  Int32Array: "int32",
  BigInt64Array: "int64",
  Float16Array: "float16",
  Float32Array: "float32",
  Float64Array: "float64",
};

function fromTyped(value: AnyTyped, options: LiteralOptions): Pointer {
  const name = Object.prototype.toString.call(value).slice(8, -1);
  const own = typedDtypes[name];
  if (own === undefined) throw new TypeError(`a ${name} has no dtype.`);
  const shape = options.shape ?? [value.length];
  const dtype = options.dtype ?? own;
  // A typed array of its own dtype is copied as it is; bfloat16 and complex64 have no typed array, so their bits are.
  const sameBits =
    dtype === own || (dtype === "bfloat16" && own === "uint16") || (dtype === "bool" && own === "uint8");
  if (sameBits && dtype !== "bool" && value.buffer instanceof ArrayBuffer && !value.buffer.resizable && value.length > 0) {
    // Reading `buffer` gives a small typed array, which the collector may move, memory of its own.
    countElements(shape, value.length);
    return copied(value.buffer, value.byteOffset, shape, dtype);
  }
  const bytes = new ArrayBuffer(Math.max(value.length * dtypeSize(dtype), 8));
  const view = new DataView(bytes);
  for (let i = 0; i < value.length; i++) write(view, i, value[i]!, dtype, false, {});
  return newData(bytes, shape, value.length, dtype);
}
