/** `mx.array`: arrays from JavaScript values. */

import { MxArray, wrapArray } from "./array.ts";
import { describe } from "./describe.ts";
import { type Dtype, dtypeCodes, isDtype } from "./dtype.ts";
import { check } from "./error.ts";
import { soundHandle } from "./evaluate.ts";
import { DEEPEST, type LiteralOptions, newArrayFrom, tooDeep } from "./literal.ts";
import { C } from "./native.ts";
import { checkOptions } from "./options.ts";
import type { Scalar } from "./scalar.ts";
import { pointerAddress } from "./scratch.ts";
import { readSlot, slot } from "./slots.ts";
import { tidy } from "./scope.ts";
import { defaultStreamHandle } from "./stream.ts";

/** Nested lists of one depth and equal lengths, with scalars or Arrays at the bottom. */
export type ArrayLiteral = Scalar | MxArray | readonly ArrayLiteral[];

export type TypedArrayInput = Exclude<ArrayBufferView, DataView>;

export interface ArrayOptions {
  /** The element type. Default: float32 for numbers, int64 for bigints, bool for booleans, complex64 for `{ re, im }`; a typed array's own. */
  dtype?: Dtype | undefined;
  /** The shape of the elements of a typed array or a flat list. Default: as nested. */
  shape?: readonly number[] | undefined;
}

/**
 * Makes an array from a scalar, nested lists, a typed array, or another Array. The data is copied.
 *
 * The dtype depends on the types of the values, never on the values: numbers give float32, and an integer that
 * float32 cannot hold exactly throws a RangeError which suggests a dtype. Ragged lists throw a TypeError that names
 * the path. Integers out of the dtype's range throw a RangeError. Python: mx.array.
 *
 * @example
 * mx.array([[1, 2], [3, 4]]);                    // float32, shape [2, 2]
 * mx.array([1, 2, 3], { dtype: mx.int32 });
 * mx.array(new Float32Array(6), { shape: [2, 3] });
 */
export function array(value: ArrayLiteral | TypedArrayInput, options?: ArrayOptions | Dtype): MxArray {
  const { dtype, shape } = readOptions(options);
  if (value instanceof MxArray) return fromArray(value, dtype, shape);
  if (Array.isArray(value) && holdsArray(value, 1)) {
    return tidy(() => fromArray(stackNested(value as Nest, "", dtype), dtype, shape));
  }
  return fromPlain(value, { dtype, shape }, "");
}

/** An array of plain values, which stand at `path` of the user's value. */
function fromPlain(value: unknown, options: LiteralOptions, path: string): MxArray {
  try {
    return wrapArray(newArrayFrom(value, options, { path }));
  } catch (error) {
    if (error instanceof RangeError) throw new RangeError(`array: ${error.message}`);
    if (error instanceof TypeError) throw new TypeError(`array: ${error.message}`);
    throw error;
  }
}

function readOptions(options: ArrayOptions | Dtype | undefined): ArrayOptions {
  if (options === undefined || options === null) return {};
  const read: ArrayOptions = typeof options === "string" ? { dtype: options } : options;
  checkOptions(read, ["dtype", "shape"], "array");
  if (read.dtype !== undefined && read.dtype !== null && !isDtype(read.dtype)) {
    throw new TypeError(
      `array: dtype must be one of ${Object.keys(dtypeCodes).join(", ")}, got ${describe(read.dtype)}.`,
    );
  }
  return { dtype: read.dtype ?? undefined, shape: read.shape ?? undefined };
}

type Nest = readonly (Nest | MxArray | Scalar)[];

function holdsArray(value: readonly unknown[], depth: number): boolean {
  if (depth > DEEPEST) throw new TypeError(`array: ${tooDeep}`);
  return value.some((item) => item instanceof MxArray || (Array.isArray(item) && holdsArray(item, depth + 1)));
}

/** Stacks a list that has Arrays at its bottom, level by level. Called inside a tidy. */
function stackNested(value: Nest, path: string, dtype: Dtype | undefined): MxArray {
  const rows = Array.from(value, (item, i) => {
    if (item instanceof MxArray) return dtype === undefined ? item : fromArray(item, dtype, undefined);
    const at = `${path}[${i}]`;
    return Array.isArray(item) && holdsArray(item, 1) ? stackNested(item, at, dtype) : fromPlain(item, { dtype }, at);
  });
  const handles = rows.map((row) => soundHandle(row, "array"));
  refuseRagged(rows, path);
  const vector = C.mlx_vector_array_new_data(pointerAddress(handles), handles.length);
  const out = slot();
  const status = C.mlx_stack(out, vector, defaultStreamHandle());
  C.mlx_vector_array_free(vector);
  check(status, "array");
  return wrapArray(readSlot(out));
}

function refuseRagged(rows: readonly MxArray[], path: string): void {
  const first = rows[0]!.shape;
  const odd = rows.findIndex((row) => String(row.shape) !== String(first));
  if (odd < 0) return;
  throw new TypeError(
    `array: the nested lists are ragged: value${path}[${odd}] has the shape [${rows[odd]!.shape.join(", ")}], value${path}[0] has [${first.join(", ")}].`,
  );
}

function fromArray(value: MxArray, dtype: Dtype | undefined, shape: readonly number[] | undefined): MxArray {
  if (shape !== undefined) throw new TypeError("array: shape is for typed arrays and lists; use reshape on an Array.");
  const handle = soundHandle(value, "array");
  const out = slot();
  check(C.mlx_astype(out, handle, dtypeCodes[dtype ?? value.dtype], defaultStreamHandle()), "array");
  return wrapArray(readSlot(out));
}
