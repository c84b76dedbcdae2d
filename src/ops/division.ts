/**
 * Bodies of the divisions that can be of integers. MLX leaves these to the processor, which ends the process at a zero
 * divisor and at the least int32 or int64 divided by -1. Here a zero divisor gives 0, as in NumPy, and -1 negates.
 */

import type { Pointer } from "../backend/types.ts";
import {
  type ArrayInput,
  C,
  failure,
  MxArray,
  pair,
  produce,
  produce2,
  produceVector,
  slot,
  stream,
  type StreamOptions,
} from "../core/call.ts";
import { type Dtype, dtypeNames, integerBounds } from "../core/dtype.ts";
import { newScalar } from "../core/scalar.ts";
import { readSlot } from "../core/slots.ts";
import { holdArray } from "../core/temporaries.ts";
import { arrayHandles } from "../core/vector.ts";
import { promote } from "./dtypes.ts";
import { step } from "./steps.ts";

/** One division under way. */
interface Division {
  op: string;
  a: Pointer;
  b: Pointer;
  operands: readonly [ArrayInput, ArrayInput];
  /** The dtype of the result. */
  dtype: Dtype;
  on: Pointer;
}

/** The divisor made harmless, and where it was not. */
interface Guard {
  divisor: Pointer;
  isZero: Pointer;
  /** Where the divisor is -1, for the dtypes in which that overflows. */
  isMinusOne: Pointer | null;
}

type Binary = (out: Pointer, a: Pointer, b: Pointer, on: Pointer) => number;

function begin(a: ArrayInput, b: ArrayInput, options: StreamOptions | undefined, op: string): Division {
  const on = stream(options, op);
  const both = pair(a, b, op);
  const dtype = promote(dtypeNames[C.mlx_array_dtype(both.a)]!, dtypeNames[C.mlx_array_dtype(both.b)]!);
  return { op, a: both.a, b: both.b, operands: [a, b], dtype, on };
}

/** Whether no divisor can end the process: floats, and plain numbers other than 0 and -1. */
function harmless({ dtype, operands: [, b] }: Division): boolean {
  if (dtype !== "bool" && integerBounds[dtype] === undefined) return true;
  return b === true || ((typeof b === "number" || typeof b === "bigint") && Number(b) !== 0 && Number(b) !== -1);
}

function binary(division: Division, native: Binary, a: Pointer, b: Pointer): Pointer {
  const out = slot();
  return step(native(out, a, b, division.on), out, division.op, division.operands);
}

function select(division: Division, test: Pointer, yes: Pointer, no: Pointer): Pointer {
  const out = slot();
  return step(C.mlx_where(out, test, yes, no, division.on), out, division.op, division.operands);
}

function scalar(value: number, dtype: Dtype): Pointer {
  return holdArray(newScalar(value, dtype));
}

function guard(division: Division): Guard {
  const { b, dtype } = division;
  const own = dtypeNames[C.mlx_array_dtype(b)]!;
  const isZero = binary(division, C.mlx_equal, b, scalar(0, own));
  const overflows = (dtype === "int32" || dtype === "int64") && (integerBounds[own]?.[0] ?? 0n) < 0n;
  const isMinusOne = overflows ? binary(division, C.mlx_equal, b, scalar(-1, own)) : null;
  const bad = isMinusOne === null ? isZero : binary(division, C.mlx_logical_or, isZero, isMinusOne);
  return { divisor: select(division, bad, scalar(1, own), b), isZero, isMinusOne };
}

function quotient(division: Division, { isZero, isMinusOne }: Guard, raw: Pointer): Pointer {
  const { a, dtype } = division;
  const negated = isMinusOne === null ? null : binary(division, C.mlx_multiply, a, scalar(-1, dtype));
  const value = isMinusOne === null || negated === null ? raw : select(division, isMinusOne, negated, raw);
  return select(division, isZero, scalar(0, dtype), value);
}

function remainder(division: Division, { isZero, isMinusOne }: Guard, raw: Pointer): Pointer {
  const none = scalar(0, division.dtype);
  const value = select(division, isZero, none, raw);
  return isMinusOne === null ? value : select(division, isMinusOne, none, value);
}

/** Ends an operation with an intermediate result, which gets a handle of its own. */
function finish({ op, operands }: Division, value: Pointer): MxArray {
  const out = slot();
  // A copy of the handle: the temporary is freed by produce.
  if (C.mlx_array_set(out, value) !== 0) throw failure(op, operands);
  return produce(op, out);
}

function divide(
  a: ArrayInput,
  b: ArrayInput,
  options: StreamOptions | undefined,
  op: string,
  native: Binary,
  correct: (division: Division, guard: Guard, raw: Pointer) => Pointer,
): MxArray {
  const division = begin(a, b, options, op);
  if (harmless(division)) {
    const out = slot();
    if (native(out, division.a, division.b, division.on) !== 0) throw failure(op, [a, b]);
    return produce(op, out);
  }
  const safe = guard(division);
  return finish(division, correct(division, safe, binary(division, native, division.a, safe.divisor)));
}

export function floorDivideBody(a: ArrayInput, b: ArrayInput, options: StreamOptions | undefined): MxArray {
  return divide(a, b, options, "floorDivide", C.mlx_floor_divide, quotient);
}

export function remainderBody(a: ArrayInput, b: ArrayInput, options: StreamOptions | undefined): MxArray {
  return divide(a, b, options, "remainder", C.mlx_remainder, remainder);
}

export function divmodBody(a: ArrayInput, b: ArrayInput, options: StreamOptions | undefined): [MxArray, MxArray] {
  const op = "divmod";
  const division = begin(a, b, options, op);
  const safe = harmless(division) ? null : guard(division);
  const out = slot();
  if (C.mlx_divmod(out, division.a, safe === null ? division.b : safe.divisor, division.on) !== 0) {
    throw failure(op, [a, b]);
  }
  if (safe === null) return produceVector(op, out) as [MxArray, MxArray];
  const vector = readSlot(out);
  const [q, r] = arrayHandles(vector, op).map(holdArray) as [Pointer, Pointer];
  C.mlx_vector_array_free(vector);
  const whole = quotient(division, safe, q);
  const left = remainder(division, safe, r);
  // The slots last, for the steps before use some themselves.
  const first = slot();
  const second = slot();
  const status = C.mlx_array_set(first, whole) || C.mlx_array_set(second, left);
  if (status !== 0) throw failure(op, [a, b]);
  return produce2(op, first, second);
}
