/** What can be said of dtypes and shapes without an array: categories, promotion, casting, broadcasting. */

import { MxArray } from "../core/array.ts";
import { describe } from "../core/describe.ts";
import { type Dtype, dtypeSize, integerBounds, isDtype, isFloating } from "../core/dtype.ts";

/** A family of dtypes. Python: mx.DtypeCategory. */
export class DtypeCategory {
  readonly name: string;
  /** The category of which this is a part; null for the widest. */
  readonly parent: DtypeCategory | null;

  /** @internal The categories are constants: mx.floating, mx.integer and so on. */
  constructor(name: string, parent: DtypeCategory | null) {
    this.name = name;
    this.parent = parent;
  }

  toString(): string {
    return this.name;
  }
}

/** Every dtype. */
export const generic: DtypeCategory = new DtypeCategory("generic", null);
/** Every dtype but bool. */
export const number: DtypeCategory = new DtypeCategory("number", generic);
/** Signed and unsigned integers. */
export const integer: DtypeCategory = new DtypeCategory("integer", number);
/** int8 to int64. */
export const signedinteger: DtypeCategory = new DtypeCategory("signedinteger", integer);
/** uint8 to uint64. */
export const unsignedinteger: DtypeCategory = new DtypeCategory("unsignedinteger", integer);
/** Real and complex floats. */
export const inexact: DtypeCategory = new DtypeCategory("inexact", number);
/** float16, bfloat16, float32, float64. */
export const floating: DtypeCategory = new DtypeCategory("floating", inexact);
/** complex64. */
export const complexfloating: DtypeCategory = new DtypeCategory("complexfloating", inexact);

function categoryOf(dtype: Dtype): DtypeCategory {
  if (dtype === "bool") return generic;
  if (dtype === "complex64") return complexfloating;
  if (isFloating(dtype)) return floating;
  return isUnsigned(dtype) ? unsignedinteger : signedinteger;
}

function isUnsigned(dtype: Dtype): boolean {
  return integerBounds[dtype]?.[0] === 0n;
}

function isSigned(dtype: Dtype): boolean {
  return integerBounds[dtype] !== undefined && !isUnsigned(dtype);
}

/**
 * True when the first dtype or category is the second or a part of it.
 *
 * A category is never part of a dtype. Throws a TypeError for anything else. Python: `mx.issubdtype(arg1, arg2)`.
 *
 * @example
 * mx.issubdtype(mx.int8, mx.integer);      // true
 */
export function issubdtype(arg1: Dtype | DtypeCategory, arg2: Dtype | DtypeCategory): boolean {
  const part = dtypeOrCategory(arg1, "arg1");
  const whole = dtypeOrCategory(arg2, "arg2");
  if (!(whole instanceof DtypeCategory)) return part === whole;
  let at: DtypeCategory | null = part instanceof DtypeCategory ? part : categoryOf(part);
  while (at !== null && at !== whole) at = at.parent;
  return at === whole;
}

function dtypeOrCategory(value: unknown, name: string): Dtype | DtypeCategory {
  if (value instanceof DtypeCategory || isDtype(value)) return value;
  throw new TypeError(`issubdtype: ${name} must be a dtype or a category of dtypes, got ${describe(value)}.`);
}

/** The words of the array API for families of dtypes. */
export type DtypeKind =
  "bool" | "signed integer" | "unsigned integer" | "integral" | "real floating" | "complex floating" | "numeric";

const kinds: Readonly<Record<string, (dtype: Dtype) => boolean>> = {
  bool: (dtype) => dtype === "bool",
  "signed integer": isSigned,
  "unsigned integer": isUnsigned,
  integral: (dtype) => integerBounds[dtype] !== undefined,
  "real floating": isFloating,
  "complex floating": (dtype) => dtype === "complex64",
  numeric: (dtype) => dtype !== "bool",
};

/**
 * True when a dtype is of a kind: another dtype, one of the array API's words, or any of a list of these.
 *
 * Throws a TypeError for an unknown word. Python: `mx.isdtype(dtype, kind)`.
 */
export function isdtype(dtype: Dtype, kind: Dtype | DtypeKind | readonly (Dtype | DtypeKind)[]): boolean {
  if (!isDtype(dtype)) throw new TypeError(`isdtype: dtype must be a dtype, got ${describe(dtype)}.`);
  if (Array.isArray(kind)) return kind.map((one: unknown) => isOfKind(dtype, one)).includes(true);
  return isOfKind(dtype, kind);
}

function isOfKind(dtype: Dtype, kind: unknown): boolean {
  if (typeof kind === "string" && Object.hasOwn(kinds, kind)) return kinds[kind]!(dtype);
  if (isDtype(kind)) return kind === dtype;
  const known = Object.keys(kinds).map((word) => JSON.stringify(word));
  throw new TypeError(`isdtype: kind must be a dtype or one of ${known.join(", ")}, got ${describe(kind)}.`);
}

/** The dtype that an operation on both gives. */
export function promote(a: Dtype, b: Dtype): Dtype {
  if (a === b || b === "bool") return a;
  if (a === "bool") return b;
  if (a === "complex64" || b === "complex64") return "complex64";
  if (isFloating(a) || isFloating(b)) return promoteFloats(a, b);
  if (isUnsigned(a) === isUnsigned(b)) return dtypeSize(a) >= dtypeSize(b) ? a : b;
  const [unsigned, signed] = isUnsigned(a) ? [a, b] : [b, a];
  if (dtypeSize(signed) > dtypeSize(unsigned)) return signed;
  return unsigned === "uint8" ? "int16" : unsigned === "uint16" ? "int32" : unsigned === "uint32" ? "int64" : "float32";
}

function promoteFloats(a: Dtype, b: Dtype): Dtype {
  if (!isFloating(a)) return b;
  if (!isFloating(b)) return a;
  // float16 and bfloat16 have the same size, and neither holds the other.
  if (dtypeSize(a) === dtypeSize(b)) return "float32";
  return dtypeSize(a) > dtypeSize(b) ? a : b;
}

function dtypeOf(value: unknown, op: string, name: string): Dtype {
  if (MxArray.real(value)) return value.dtype;
  if (isDtype(value)) return value;
  throw new TypeError(`${op}: ${name} must be an Array or a dtype, got ${describe(value)}.`);
}

/**
 * The dtype that an operation on all of these gives, by MLX's promotion.
 *
 * uint64 with a signed integer gives float32, float16 with bfloat16 too. Throws a TypeError without arguments.
 * Python: `mx.result_type(*arrays_and_dtypes)`.
 *
 * @example
 * mx.resultType(mx.int8, mx.uint8);        // "int16"
 */
export function resultType(...arraysAndDtypes: readonly (MxArray | Dtype)[]): Dtype {
  const [first, ...rest] = arraysAndDtypes.map((value, i) => dtypeOf(value, "resultType", `argument ${i}`));
  if (first === undefined) throw new TypeError("resultType: at least one Array or dtype is needed.");
  return rest.reduce(promote, first);
}

/**
 * True when a value of the first dtype becomes the second by promotion alone: int64 to float16, never float32 to float16.
 *
 * Python: `mx.can_cast(from_, to)`.
 */
export function canCast(from: MxArray | Dtype, to: Dtype): boolean {
  const source = dtypeOf(from, "canCast", "from");
  if (!isDtype(to)) throw new TypeError(`canCast: to must be a dtype, got ${describe(to)}.`);
  return promote(source, to) === to;
}

/**
 * The shape that these shapes broadcast to.
 *
 * Shapes are aligned at their ends; lengths must agree or be 1. Throws a RangeError where they do not, a TypeError
 * without shapes. Python: `mx.broadcast_shapes(*shapes)`.
 *
 * @example
 * mx.broadcastShapes([2, 1], [3]);         // [2, 3]
 */
export function broadcastShapes(...shapes: readonly (readonly number[])[]): number[] {
  if (shapes.length === 0) throw new TypeError("broadcastShapes: at least one shape is needed.");
  for (const shape of shapes) {
    if (!Array.isArray(shape) || !shape.every((n) => Number.isInteger(n) && n >= 0 && n <= 2147483647)) {
      throw new TypeError(`broadcastShapes: a shape is a list of non-negative integers, got ${describe(shape)}.`);
    }
  }
  return shapes.reduce<number[]>(broadcastTwo, []);
}

function broadcastTwo(a: readonly number[], b: readonly number[]): number[] {
  const length = Math.max(a.length, b.length);
  return Array.from({ length }, (_, i) => {
    const x = a[i - length + a.length] ?? 1;
    const y = b[i - length + b.length] ?? 1;
    if (x !== y && x !== 1 && y !== 1) {
      throw new RangeError(`broadcastShapes: [${a.join(", ")}] and [${b.join(", ")}] cannot be broadcast.`);
    }
    return x === 1 ? y : x;
  });
}
