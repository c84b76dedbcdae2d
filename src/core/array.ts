/** The array: a handle to a lazy MLX array, with what every array knows of itself. Operations are installed above. */

import type { Pointer } from "../backend/types.ts";
import { type Dtype, dtypeNames } from "./dtype.ts";
import { Handle, handleOf, internal } from "./handle.ts";
import type { Kind } from "./ledger.ts";
import { backend, C } from "./native.ts";
import { type Nested, type TypedArray, toItem, toJson, toNested, toText, toTyped } from "./readback.ts";
import type { Scalar } from "./scalar.ts";
import { type ReadyOptions, readyNow, whenReady } from "./ready.ts";

export const arrayKind: Kind = { name: "Array", free: (handle) => C.mlx_array_free(handle) };

/**
 * An N-dimensional array of one dtype. It is lazy: operations build a graph, and reading a value, `mx.eval` or
 * printing computes it. Arrays are immutable; updates give a new array.
 *
 * Own a named array by `using`, an expression with temporaries by `mx.tidy`. Python: mx.array.
 */
export class MxArray extends Handle {
  readonly #real = true;
  _shape: readonly number[] | null = null;
  _dtype: Dtype | null = null;

  /** @internal Owns `handle`. Make arrays with `mx.array`. */
  constructor(key: typeof internal, handle: Pointer, operation = "Array") {
    super(key, handle, key === internal ? bytesOf(handle, operation) : 0, arrayKind);
  }

  /** @internal True for a real array. Unlike instanceof, this asks no Proxy. */
  static real(value: unknown): value is MxArray {
    return typeof value === "object" && value !== null && #real in value;
  }

  /** The length of each axis. Python: a.shape. */
  get shape(): number[] {
    return [...shapeOf(this, "shape")];
  }

  /** @internal The cached shape, shared: do not change it. */
  readShape(operation: string): readonly number[] {
    const handle = handleOf(this, operation, "Array");
    this._shape ??= nativeShape(handle);
    return this._shape;
  }

  /** The element type, for example "float32". Python: a.dtype. */
  get dtype(): Dtype {
    const handle = handleOf(this, "dtype", "Array");
    this._dtype ??= dtypeNames[C.mlx_array_dtype(handle)]!;
    return this._dtype;
  }

  /** The number of axes. Python: a.ndim. */
  get ndim(): number {
    return C.mlx_array_ndim(handleOf(this, "ndim", "Array"));
  }

  /** The number of elements. Python: a.size. */
  get size(): number {
    return Number(C.mlx_array_size(handleOf(this, "size", "Array")));
  }

  /** Bytes of one element. Python: a.itemsize. */
  get itemsize(): number {
    return C.mlx_array_itemsize(handleOf(this, "itemsize", "Array"));
  }

  /** Bytes of all elements in logical order; a view may store fewer. Python: a.nbytes. */
  get nbytes(): number {
    return Number(C.mlx_array_nbytes(handleOf(this, "nbytes", "Array")));
  }

  /**
   * The value of an array of one element: a number, a boolean, a bigint for the 64-bit integers, `{ re, im }` for
   * complex64. Evaluates. Throws a RangeError when there is not exactly one element. Python: a.item().
   */
  item(): number | bigint | boolean | { re: number; im: number } {
    return toItem(this);
  }

  /** Nested lists of the values, as `item` gives them; a bare value for an array of no axes. Evaluates. Python: a.tolist(). */
  tolist(): Nested {
    return toNested(this);
  }

  /**
   * An owned copy of the elements in row-major order, whatever the strides. float16 gives a Float16Array, bfloat16 a
   * Uint16Array of bits, bool a Uint8Array, complex64 a Float32Array of pairs. Evaluates.
   */
  toTypedArray(): TypedArray {
    return toTyped(this);
  }

  /** True when the value has been computed, so that reading it does not wait. */
  get isAvailable(): boolean {
    return readyNow(this);
  }

  /**
   * Starts the evaluation and resolves to this array when its value is there. `signal` ends the wait, not the work.
   * On the CPU, MLX does part of the work before this returns.
   */
  async ready(options?: ReadyOptions): Promise<this> {
    await whenReady(this, options);
    return this;
  }

  /** MLX's own text of the array. Evaluates. */
  override toString(): string {
    return toText(this);
  }

  /** Nested lists for JSON. Throws past a million elements. */
  toJSON(): unknown {
    return toJson(this);
  }

  /** Text only: operators on arrays would compute on strings, so they are refused. */
  [Symbol.toPrimitive](hint: string): string {
    if (hint === "string") return toText(this);
    throw new TypeError(
      "JavaScript operators do not work on arrays. Use the methods: a.add(b), a.subtract(b), a.multiply(b), a.divide(b), a.less(b), a.equal(b), or a.item() for the value of one element.",
    );
  }
}

/** What operations take where MLX takes an array. */
export type ArrayInput = MxArray | Scalar;

/** The shape of a live array, shared: do not change it. */
export function shapeOf(array: MxArray, operation: string): readonly number[] {
  handleOf(array, operation, "Array");
  return array.readShape(operation);
}

/** Wraps and adopts a native array, which `operation` has made. */
export function wrapArray(handle: Pointer, operation?: string): MxArray {
  return new MxArray(internal, handle, operation);
}

/** Wraps the arrays of one call: all of them, or none where one has a shape that is refused. */
export function wrapArrays(handles: readonly Pointer[], operation?: string): MxArray[] {
  const arrays: MxArray[] = [];
  try {
    for (let i = 0; i < handles.length; i++) arrays.push(wrapArray(handles[i]!, operation));
  } catch (error) {
    for (const array of arrays) array.dispose();
    // The refused one is freed already.
    for (const handle of handles.slice(arrays.length + 1)) C.mlx_array_free(handle);
    throw error;
  }
  return arrays;
}

function nativeShape(handle: Pointer): number[] {
  const ndim = C.mlx_array_ndim(handle);
  const shape: number[] = [];
  if (ndim > 0) {
    const address = C.mlx_array_shape(handle);
    for (let i = 0; i < ndim; i++) shape.push(backend.readI32(address, i * 4));
  }
  return shape;
}

/** The bytes of a new array. Refuses a shape that MLX cannot count, and frees the handle: no array may have it. */
function bytesOf(handle: Pointer, operation: string): number {
  const bytes = C.mlxts_array_bytes(handle);
  if (bytes >= 0) return bytes;
  const shape = nativeShape(handle);
  C.mlx_array_free(handle);
  const text = shape.length > 16 ? `${shape.slice(0, 16).join(", ")}, ...` : shape.join(", ");
  const why = shape.some((length) => length < 0)
    ? "a length past 2147483647, where MLX's count wraps"
    : "2^60 elements or more, past which MLX's count wraps";
  throw new RangeError(`${operation}: the shape [${text}] has ${why}.`);
}
