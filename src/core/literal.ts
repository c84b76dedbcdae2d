/** From JavaScript values to a new native array: nested lists, scalars, typed arrays. */

import type { Pointer } from "../backend/types.ts";
import { describe } from "./describe.ts";
import { type Dtype, dtypeCodes, dtypeSize } from "./dtype.ts";
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
  /** Where the value stands in what the user wrote, for error messages. */
  path?: string;
}

/** A new native array that holds a copy of `value`. The caller owns the handle. */
export function newArrayFrom(value: unknown, options: LiteralOptions = {}, rules: Rules = {}): Pointer {
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return fromTyped(value as AnyTyped, options);
  const flat: Scalar[] = [];
  const shape = flatten(value, flat, rules.path ?? "");
  const dtype = options.dtype ?? commonDtype(flat);
  const bytes = new ArrayBuffer(Math.max(flat.length * dtypeSize(dtype), 8));
  const view = new DataView(bytes);
  const checks = options.dtype === undefined && dtype === "float32";
  for (let i = 0; i < flat.length; i++) write(view, i, flat[i]!, dtype, checks, rules);
  return newData(bytes, options.shape ?? shape, flat.length, dtype);
}

function newData(bytes: ArrayBuffer, shape: readonly number[], count: number, dtype: Dtype): Pointer {
  return copied(bytes, 0, checkShape(shape, count), dtype);
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

/** A copy of the shape, so that what was checked is what native code reads. */
function checkShape(shape: readonly number[], count: number): readonly number[] {
  if (!Array.isArray(shape)) throw new TypeError(`shape must be a list of integers, got ${describe(shape)}.`);
  const lengths = Array.from(shape as readonly unknown[], checkLength);
  const wanted = lengths.reduce((product, length) => product * length, 1);
  if (wanted !== count) {
    throw new RangeError(`the shape [${lengths.join(", ")}] holds ${wanted} elements, the data has ${count}.`);
  }
  return lengths;
}

function checkLength(length: unknown): number {
  if (typeof length !== "number" || !Number.isInteger(length) || length < 0 || length > 2147483647) {
    throw new RangeError(`a shape is a list of non-negative 32-bit integers, got ${describe(length)}.`);
  }
  return length;
}

function exactDtype(value: number): Dtype {
  if ((value | 0) === value) return "int32";
  return Number.isSafeInteger(value) ? "int64" : "float64";
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
      `the integer ${value} is not exact as float32. Give a dtype: { dtype: "${exactDtype(Number(value))}" } holds it, "float32" rounds it.`,
    );
  }
  if (rules.integersOnly === true && typeof value === "number" && !Number.isInteger(value)) {
    throw new RangeError(`an index must be an integer, got ${value}.`);
  }
  writeElement(view, offset, value, dtype);
}

/** Far beyond any real array; a list that holds itself is deeper. */
export const DEEPEST = 256;
export const tooDeep: string = `the lists are nested more than ${DEEPEST} deep, or one of them holds itself.`;

/** Appends the elements in row-major order and returns the shape; ragged lists are refused by their path. */
function flatten(value: unknown, flat: Scalar[], path: string): number[] {
  if (!Array.isArray(value)) {
    flat.push(element(value, path));
    return [];
  }
  const shape = firstShape(value);
  collect(value, shape, 0, path, flat);
  return shape;
}

function firstShape(value: unknown): number[] {
  const shape: number[] = [];
  for (let at: unknown = value; Array.isArray(at); at = at[0]) {
    if (shape.push(at.length) > DEEPEST) throw new TypeError(tooDeep);
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

// The getters of the language itself: a subclass may say anything of its length and name, and native code would read
// that far.
const typedPrototype = Object.getPrototypeOf(Uint8Array.prototype) as object;

function getter<T>(name: string | symbol): (value: AnyTyped) => T {
  const { get } = Object.getOwnPropertyDescriptor(typedPrototype, name)!;
  return (value) => get!.call(value) as T;
}

const nameOf = getter<string>(Symbol.toStringTag);
const lengthOf = getter<number>("length");
const offsetOf = getter<number>("byteOffset");
const bufferOf = getter<ArrayBufferLike>("buffer");

function fromTyped(value: AnyTyped, options: LiteralOptions): Pointer {
  const name = nameOf(value);
  const own = typedDtypes[name];
  if (own === undefined) throw new TypeError(`a ${name} has no dtype.`);
  const buffer = bufferOf(value);
  if (buffer instanceof ArrayBuffer && buffer.detached) {
    throw new TypeError(`the ${name}'s buffer was transferred away: it has no data any more.`);
  }
  const length = lengthOf(value);
  const shape = options.shape ?? [length];
  const dtype = options.dtype ?? own;
  // A typed array of its own dtype is copied as it is; bfloat16 has no typed array, so its bits are.
  const sameBits = dtype === own || (dtype === "bfloat16" && own === "uint16");
  if (sameBits && buffer instanceof ArrayBuffer && !buffer.resizable && length > 0) {
    // Reading `buffer` gives a small typed array, which the collector may move, memory of its own.
    return copied(buffer, offsetOf(value), checkShape(shape, length), dtype);
  }
  const bytes = new ArrayBuffer(Math.max(length * dtypeSize(dtype), 8));
  const view = new DataView(bytes);
  for (let i = 0; i < length; i++) write(view, i, value[i]!, dtype, false, {});
  return newData(bytes, shape, length, dtype);
}
