/** Operands: from what a user may write to the native handles of one call. */

import type { Pointer } from "../backend/types.ts";
import { type ArrayInput, MxArray } from "./array.ts";
import { constant } from "./constants.ts";
import { describe } from "./describe.ts";
import type { Dtype } from "./dtype.ts";
import { DisposedError, MlxError } from "./error.ts";
import type { Entry } from "./ledger.ts";
import { newArrayFrom } from "./literal.ts";
import { C } from "./native.ts";
import { type Complex, isScalar, newScalar, ownDtype, type Scalar, WeakFloat, weakDtype } from "./scalar.ts";
import { pointerAddress } from "./scratch.ts";
import { aside, holdArray, holdVector, refuse } from "./temporaries.ts";

/** The handle of an operand that is an Array. */
function arrayHandle(array: MxArray, op: string): Pointer {
  const entry = array.entry as Entry;
  if (entry.handle === 0) refuse(new DisposedError(op, "Array"));
  if (entry.poison !== null) {
    refuse(new MlxError(op, `an operand has no value, its evaluation failed: ${entry.poison}`));
  }
  return entry.handle;
}

/** A scalar operand. What is no plain value is read aside, and what it holds is copied: it may be a Proxy. */
function scalarOf(value: unknown, op: string, name: string): Scalar {
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") return value;
  const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
  const scalar = isObject ? aside(() => copyOf(value)) : null;
  return scalar ?? refuseInput(value, op, name);
}

function copyOf(value: unknown): Scalar | null {
  if (!isScalar(value)) return null;
  if (value instanceof WeakFloat) {
    const inner: unknown = value.value;
    return typeof inner === "number" ? new WeakFloat(inner) : null;
  }
  const { re, im } = value as Complex;
  return typeof re === "number" && typeof im === "number" ? { re, im } : null;
}

function scalarHandle(value: Scalar, dtype: Dtype, op: string, name: string): Pointer {
  try {
    return typeof value === "number" ? constant(value, dtype) : holdArray(newScalar(value, dtype));
  } catch (error) {
    return refuse(new RangeError(`${op}: ${name}: ${(error as Error).message}.`));
  }
}

function refuseInput(value: unknown, op: string, name: string): never {
  const error = aside(() =>
    value instanceof MxArray
      ? new TypeError(`${op}: an operand only inherits from Array: make it with mx.array.`)
      : new TypeError(`${op}: ${name} must be an Array or a scalar, got ${describe(value)}.${hint(value)}`),
  );
  return refuse(error);
}

function hint(value: unknown): string {
  return Array.isArray(value) || ArrayBuffer.isView(value) ? " Make an array of it with mx.array(...)." : "";
}

/** The handle of an Array, or of a scalar with its own dtype. */
export function input(value: ArrayInput, op: string, name: string): Pointer {
  if (MxArray.real(value)) return arrayHandle(value, op);
  const scalar = scalarOf(value, op, name);
  return scalarHandle(scalar, ownDtype(scalar), op, name);
}

/** The handle of an Array, or of a scalar that takes its dtype from `other`. */
export function inputLike(value: ArrayInput, other: Dtype, op: string, name: string): Pointer {
  if (MxArray.real(value)) return arrayHandle(value, op);
  const scalar = scalarOf(value, op, name);
  return scalarHandle(scalar, weakDtype(scalar, other), op, name);
}

export interface Pair {
  a: Pointer;
  b: Pointer;
}

// One object for every binary operation: its fields are read before anything else can run.
const shared: Pair = { a: 0, b: 0 };

/** The handles of two operands; a scalar beside an Array is weak. The result is reused by the next call. */
export function pair(a: ArrayInput, b: ArrayInput, op: string): Pair {
  // Only what is no Array can run code meanwhile, which may use `shared` itself: it is written last.
  if (MxArray.real(a)) {
    const first = arrayHandle(a, op);
    shared.b = MxArray.real(b) ? arrayHandle(b, op) : inputLike(b, a.dtype, op, "b");
    shared.a = first;
  } else if (MxArray.real(b)) {
    const second = arrayHandle(b, op);
    shared.a = inputLike(a, b.dtype, op, "a");
    shared.b = second;
  } else {
    const first = input(a, op, "a");
    shared.b = input(b, op, "b");
    shared.a = first;
  }
  return shared;
}

/** The handle of an operand that may be absent: 0, the empty array, for null and undefined. */
export function nullable(value: ArrayInput | null | undefined, op: string, name: string): Pointer {
  return value === null || value === undefined ? 0 : input(value, op, name);
}

export type IndexInput = MxArray | number | bigint | IndexList;
export interface IndexList extends ReadonlyArray<number | bigint | IndexList> {}

/** The handle of an index array: plain numbers, and nested lists of them, are read as integers. */
export function indexInput(value: IndexInput, op: string, name: string): Pointer {
  if (MxArray.real(value)) return arrayHandle(value, op);
  if (typeof value !== "number" && typeof value !== "bigint" && !Array.isArray(value)) {
    return refuse(
      new TypeError(
        `${op}: ${name} must be an Array of integers, an integer or a list of integers, got ${aside(() => describe(value))}.`,
      ),
    );
  }
  try {
    return holdArray(aside(() => newArrayFrom(value, { dtype: "int32" }, { integersOnly: true })));
  } catch (error) {
    const kind = error instanceof RangeError ? RangeError : TypeError;
    return refuse(new kind(`${op}: ${name}: ${(error as Error).message}`));
  }
}

/** The handle of a temporary vector of operands. */
export function vector(values: readonly ArrayInput[], op: string, name: string): Pointer {
  if (!Array.isArray(values))
    return refuse(new TypeError(`${op}: ${name} must be a list of Arrays, got ${describe(values)}.`));
  // The whole list first: a getter among its elements can run anything, also dispose what was already taken.
  const elements = aside(() => Array.from(values as readonly ArrayInput[]));
  return vectorOfHandles(elements.map((element, i) => input(element, op, `${name}[${i}]`)));
}

/** A temporary vector of these arrays. */
export function vectorOfHandles(handles: readonly Pointer[]): Pointer {
  return holdVector(C.mlxts_vector_new(pointerAddress(handles), handles.length));
}

/** The dtype that an operand has by itself. */
export function inputDtype(value: ArrayInput, op: string, name: string): Dtype {
  if (MxArray.real(value)) {
    arrayHandle(value, op);
    return value.dtype;
  }
  return ownDtype(scalarOf(value, op, name));
}
