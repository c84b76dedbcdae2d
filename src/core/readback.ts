/** From a lazy array to JavaScript values, whatever its strides. Everything evaluates first. */

import type { Pointer } from "../backend/types.ts";
import type { MxArray } from "./array.ts";
import type { Dtype } from "./dtype.ts";
import { check, MlxError } from "./error.ts";
import { checkWork, evaluateOne, soundHandle } from "./evaluate.ts";
import { fromBfloat16Bits } from "./half.ts";
import { handleOf } from "./handle.ts";
import { backend, C } from "./native.ts";
import type { Complex } from "./scalar.ts";
import { readSlot, slot } from "./slots.ts";
import { readingStreamHandle } from "./stream.ts";
import { nativeText } from "./string.ts";

export type Element = number | bigint | boolean | Complex;
export type Nested = Element | Nested[];

export type TypedArray =
  | Uint8Array
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

// The most that one ArrayBuffer holds. A broadcast view can claim far more than the machine has.
export const LARGEST_BYTES: number = 2 ** 32;

function refuseHuge(array: MxArray, operation: string): void {
  const handle = soundHandle(array, operation);
  const bytes = array.readShape(operation).reduce((product, length) => product * length, C.mlx_array_itemsize(handle));
  if (bytes <= LARGEST_BYTES) return;
  throw new RangeError(`${operation}: the array has ${bytes} bytes, more than one buffer holds: read it in parts.`);
}

/** The bytes of the elements in row-major order: a copy that nobody else holds. */
function rowMajorBytes(array: MxArray, operation: string): ArrayBuffer {
  refuseHuge(array, operation);
  const handle = evaluateOne(array, operation);
  if (C.mlx_array_size(handle) === 0) return new ArrayBuffer(0);
  const flag = slot();
  check(C._mlx_array_is_row_contiguous(flag, handle), operation);
  // The low byte of the slot: the native side writes one C bool.
  if ((readSlot(flag) & 1) === 1) return copyBytes(handle, operation);
  const out = slot();
  check(C.mlx_contiguous(out, handle, false, readingStreamHandle(array.dtype)), operation);
  const contiguous = readSlot(out);
  try {
    // The array itself is there: what may fail is other work, in the background.
    checkWork(C.mlx_array_eval(contiguous), [], operation);
    return copyBytes(contiguous, operation);
  } finally {
    C.mlx_array_free(contiguous);
  }
}

function copyBytes(handle: Pointer, operation: string): ArrayBuffer {
  // The accessor of any element type gives the address; the 16-bit floats have none on x86-64.
  const address = C.mlx_array_data_uint8(handle);
  if (!address) throw new MlxError(operation, "the array has no data: an earlier evaluation of it failed");
  return backend.view(address, C.mlx_array_nbytes(handle)).slice(0);
}

export function toTyped(array: MxArray, operation = "toTypedArray"): TypedArray {
  const bytes = rowMajorBytes(array, operation);
  return typedOver(bytes, array.dtype);
}

/** The elements that a whole buffer holds, in the typed array that stands for a dtype. */
export function typedOver(bytes: ArrayBuffer, dtype: Dtype): TypedArray {
  switch (dtype) {
    case "bool":
    case "uint8":
      return new Uint8Array(bytes);
    case "uint16":
    case "bfloat16":
      return new Uint16Array(bytes);
    case "uint32":
      return new Uint32Array(bytes);
    case "uint64":
      return new BigUint64Array(bytes);
    case "int8":
      return new Int8Array(bytes);
    case "int16":
      return new Int16Array(bytes);
    case "int32":
      return new Int32Array(bytes);
    case "int64":
      return new BigInt64Array(bytes);
    case "float16":
      return new Float16Array(bytes);
    case "float32":
    case "complex64":
      return new Float32Array(bytes);
    case "float64":
      return new Float64Array(bytes);
  }
}

/** The values in row-major order, as `item` gives them. */
function elements(array: MxArray, operation: string): Element[] {
  const typed = toTyped(array, operation);
  switch (array.dtype) {
    case "bool":
      return Array.from(typed as Uint8Array, (value) => value !== 0);
    case "bfloat16":
      return Array.from(typed as Uint16Array, fromBfloat16Bits);
    case "complex64": {
      const pairs = typed as Float32Array;
      return Array.from({ length: pairs.length / 2 }, (_, i) => ({ re: pairs[2 * i]!, im: pairs[2 * i + 1]! }));
    }
    default:
      return Array.from(typed as Float32Array);
  }
}

export function toItem(array: MxArray): Element {
  const size = C.mlx_array_size(handleOf(array, "item", "Array"));
  if (size !== 1) {
    throw new RangeError(
      `item: the array must have exactly one element, and has ${Number(size)} (shape [${array.shape.join(", ")}]).`,
    );
  }
  return elements(array, "item")[0]!;
}

export function toNested(array: MxArray): Nested {
  handleOf(array, "tolist", "Array");
  const shape = array.readShape("tolist");
  const flat = elements(array, "tolist");
  let at = 0;
  const build = (axis: number): Nested => {
    if (axis === shape.length) return flat[at++]!;
    return Array.from({ length: shape[axis]! }, () => build(axis + 1));
  };
  return build(0);
}

const LARGEST_JSON = 1_000_000;

export function toJson(array: MxArray): unknown {
  if (array.size > LARGEST_JSON) {
    throw new RangeError(
      `JSON.stringify: an array of ${array.size} elements is too large for JSON text; save it to a file, or stringify tolist() yourself.`,
    );
  }
  return JSON.parse(
    JSON.stringify(toNested(array), (_, value: unknown) => {
      if (typeof value !== "bigint") return value;
      if (BigInt.asIntN(54, value) !== value)
        throw new RangeError(`JSON.stringify: ${value} is not exact as a JSON number.`);
      return Number(value);
    }),
  );
}

// MLX shows six elements of each axis, so that the text grows with the number of axes; and it goes down them by recursion.
const LONGEST_TEXT = 1_000_000;
const MOST_AXES = 256;

function refuseLong(array: MxArray): void {
  handleOf(array, "toString", "Array");
  const shape = array.readShape("toString");
  const shown = shape.reduce((product, length) => product * Math.min(length, 6), 1);
  if (shown <= LONGEST_TEXT && shape.length <= MOST_AXES) return;
  throw new RangeError(
    `toString: the text of an array of ${shape.length} axes would show ${shown} elements: print a part of it.`,
  );
}

export function toText(array: MxArray): string {
  refuseLong(array);
  const handle = evaluateOne(array, "toString");
  const text = nativeText("toString", (out) => C.mlx_array_tostring(out, handle));
  // Python writes True and False, and so do we; MLX's C++ leaves them small.
  return array.dtype === "bool" ? text.replace(/true|false/g, (word) => word[0]!.toUpperCase() + word.slice(1)) : text;
}
