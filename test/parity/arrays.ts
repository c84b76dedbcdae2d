// Arrays of the format to arrays of the library, and back to plain data for comparing.
import { type ArrayValue, toNumber } from "./format.ts";
import { mx, resolveFunction } from "./names.ts";

/** What the harness uses of an array. */
export interface MxArray {
  readonly dtype: string;
  readonly shape: readonly number[];
  tolist(): unknown;
  toTypedArray(): ArrayLike<number | bigint>;
}

export interface Complex {
  re: number;
  im: number;
}

export function isArray(value: unknown): value is MxArray {
  const { Array: ArrayClass } = mx() as { Array?: new () => unknown };
  return ArrayClass !== undefined && value instanceof ArrayClass;
}

function complexOf(value: unknown): Complex {
  const [re, im] = value as [unknown, unknown];
  return { re: toNumber(re), im: toNumber(im) };
}

const typedArrays: Record<string, (data: unknown[]) => ArrayBufferView> = {
  uint8: (data) => Uint8Array.from(data, toNumber),
  uint16: (data) => Uint16Array.from(data, toNumber),
  uint32: (data) => Uint32Array.from(data, toNumber),
  int8: (data) => Int8Array.from(data, toNumber),
  int16: (data) => Int16Array.from(data, toNumber),
  int32: (data) => Int32Array.from(data, toNumber),
  uint64: (data) => BigUint64Array.from(data.map((item) => BigInt(item as string))),
  int64: (data) => BigInt64Array.from(data.map((item) => BigInt(item as string))),
  float16: (data) => Float16Array.from(data, toNumber),
  float32: (data) => Float32Array.from(data, toNumber),
  float64: (data) => Float64Array.from(data, toNumber),
};

/** Makes the array that a `$array` describes. */
export function makeArray({ dtype, shape, data }: ArrayValue): unknown {
  const array = resolveFunction("mx.array");
  const typed = typedArrays[dtype];
  if (typed !== undefined) return array(typed(data), { shape });
  // bfloat16 values are exact in float32; booleans and complex numbers have no typed array of their own.
  if (dtype === "bfloat16") return array(Float32Array.from(data, toNumber), { shape, dtype });
  const flat = dtype === "complex64" ? data.map(complexOf) : data;
  if (flat.length === 0) return resolveFunction("mx.zeros")(shape, { dtype });
  return resolveFunction("mx.reshape")(array(flat, { dtype }), shape);
}

function bfloat16ToNumber(bits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits << 16);
  return view.getFloat32(0);
}

export type Element = number | bigint | boolean | Complex;

/** The elements of an array, row-major: numbers, bigints for 64-bit integers, booleans, complex numbers. */
export function elements(array: MxArray): Element[] {
  const { dtype } = array;
  // The two dtypes without a typed array of their own go by nested lists.
  if (dtype === "bool" || dtype === "complex64") return [array.tolist()].flat(Number.POSITIVE_INFINITY) as Element[];
  const data = Array.from(array.toTypedArray());
  return dtype === "bfloat16" ? data.map((bits) => bfloat16ToNumber(Number(bits))) : data;
}
