/**
 * Numbers that come back. A training step has dozens of them beside its arrays, the same in every step, and a native
 * array for each is a fifth of what the operation costs. A number that is seen twice in a row at its place of the table
 * gets a handle that stays; any other is made anew each time, as one that is never the same again must be.
 */

import type { Pointer } from "../backend/types.ts";
import type { Dtype } from "./dtype.ts";
import { keptConstant, PLACES } from "./kept.ts";
import { atThreadEnd } from "./ledger.ts";
import { C } from "./native.ts";
import { newScalar } from "./scalar.ts";
import { holdArray, holdConstant } from "./temporaries.ts";

interface Constant {
  value: number;
  dtype: Dtype;
  /** 0 for a number that was seen once. */
  handle: Pointer;
}

const table: (Constant | undefined)[] = new Array<Constant | undefined>(PLACES).fill(undefined);
const bits = new DataView(new ArrayBuffer(8));
const SHIFT = 32 - Math.log2(PLACES);
let listening = false;

function placeOf(value: number): number {
  if ((value | 0) === value) return value & (PLACES - 1);
  bits.setFloat64(0, value);
  return Math.imul(bits.getInt32(0) ^ bits.getInt32(4), 0x9e3779b1) >>> SHIFT;
}

/** The handle of a number as an array of no dimensions, good for one call. Throws a RangeError where it does not fit. */
export function constant(value: number, dtype: Dtype): Pointer {
  const place = placeOf(value);
  const known = table[place];
  // Not ===: NaN is a constant like any other, and -0 is not 0.
  if (known !== undefined && known.dtype === dtype && Object.is(known.value, value)) {
    return known.handle === 0 ? settle(known, place) : known.handle;
  }
  const handle = holdArray(newScalar(value, dtype));
  if (known === undefined) table[place] = { value, dtype, handle: 0 };
  else {
    // What it held may be an operand of the very call that is being prepared.
    if (known.handle !== 0) holdConstant(known.handle);
    known.value = value;
    known.dtype = dtype;
    known.handle = 0;
    keptConstant(place, 0);
  }
  return handle;
}

/** Gives a number that was seen before a handle that stays. */
function settle(known: Constant, place: number): Pointer {
  const handle = holdArray(newScalar(known.value, known.dtype));
  const own = C.mlxts_constant_new(handle);
  if (!own) return handle;
  known.handle = keptConstant(place, own);
  if (!listening) {
    listening = true;
    atThreadEnd(forgetConstants);
  }
  return own;
}

/** Frees all of them. */
export function forgetConstants(): void {
  for (const [place, known] of table.entries()) {
    if (known === undefined || known.handle === 0) continue;
    C.mlxts_constant_free(known.handle);
    known.handle = keptConstant(place, 0);
  }
}
