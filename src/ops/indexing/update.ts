/** Writing by an index: `x.at(0, "1:3").set(value)` and its relatives. Arrays are immutable: each gives a new one. */

import { any, astype, broadcastTo, negative, reciprocal, reshape, transpose } from "../../../generated/ops.ts";
import { type ArrayInput, MxArray, shapeOf } from "../../core/array.ts";
import { array } from "../../core/create.ts";
import { describe } from "../../core/describe.ts";
import { isInteger } from "../../core/dtype.ts";
import { handleOf } from "../../core/handle.ts";
import { isScalar, WeakFloat, weakDtype } from "../../core/scalar.ts";
import { tidy } from "../../core/scope.ts";
import { axesOrder, type Place, placeOf } from "./gather.ts";
import { sliced } from "./get.ts";
import { boxOf, type IndexPart, type Part, resolve, slicesOf } from "./parts.ts";
import { maskedScatter, scatter, sliceUpdate, type Writer } from "./write.ts";

/** What writing at an index can do. Each method gives a new array of the same shape and dtype. */
export interface ArrayAt {
  /** The value in place of what was there. Python: a[...] = value. */
  set(value: ArrayInput): MxArray;
  /** Adds the value; at repeated indices all values are added. Python: a.at[...].add. */
  add(value: ArrayInput): MxArray;
  /** Subtracts the value; at repeated indices all values are. Python: a.at[...].subtract. */
  subtract(value: ArrayInput): MxArray;
  /** Multiplies by the value. Python: a.at[...].multiply. */
  multiply(value: ArrayInput): MxArray;
  /** Divides by the value; multiplies by its reciprocal in the array's dtype, as MLX does. Python: a.at[...].divide. */
  divide(value: ArrayInput): MxArray;
  /** The larger of the two. Python: a.at[...].maximum. */
  maximum(value: ArrayInput): MxArray;
  /** The smaller of the two. Python: a.at[...].minimum. */
  minimum(value: ArrayInput): MxArray;
}

/**
 * The place in an array that an index names, to be written by `set`, `add` and so on: `x.at(i, "2:6").add(v)`. The index
 * is that of `get`; a boolean mask alone is allowed for `set`. The value broadcasts to the shape of the place and is cast
 * to the array's dtype. Python: a.at[...].
 */
export function at(a: MxArray, ...index: IndexPart[]): ArrayAt {
  shapeOf(a, "at");
  if (index.length === 0) {
    throw new TypeError('at: an index is missing: write at(0) and so on, or at("...") for the whole array.');
  }
  const write = (writer: Writer, prepare: (value: MxArray) => MxArray) => {
    return (value: ArrayInput): MxArray => update(a, index, writer, value, prepare);
  };
  const plain = (value: MxArray): MxArray => value;
  return {
    set: write("set", plain),
    add: write("add", plain),
    subtract: write("add", (value) => negative(value)),
    multiply: write("prod", plain),
    divide: write("prod", (value) => reciprocal(value)),
    maximum: write("max", plain),
    minimum: write("min", plain),
  };
}

function update(
  a: MxArray,
  index: readonly IndexPart[],
  writer: Writer,
  value: ArrayInput,
  prepare: (value: MxArray) => MxArray,
): MxArray {
  return tidy(() => {
    const [mask] = index;
    if (MxArray.real(mask)) handleOf(mask, "at");
    const cast = astype(prepare(astype(valueArray(value, a), a.dtype)), a.dtype);
    if (MxArray.real(mask) && mask.dtype === "bool") return writeMask(a, index, mask, writer, cast);
    const parts = resolve(index, shapeOf(a, "at"), "at");
    return parts.some(({ kind }) => kind === "array")
      ? writeArrays(a, parts, writer, cast)
      : writeBox(a, parts, writer, cast);
  });
}

/** The value as an array; a scalar is weak beside the array that it goes into. */
function valueArray(value: ArrayInput, a: MxArray): MxArray {
  if (MxArray.real(value)) {
    handleOf(value, "at");
    return value;
  }
  if (!isScalar(value)) throw new TypeError(`at: value must be an Array or a scalar, got ${describe(value)}.`);
  const plain = value instanceof WeakFloat ? value.value : value;
  try {
    // A fraction is cut off, as in Python; what the dtype cannot hold at all would come out as another number.
    if (typeof plain === "number" && !Number.isInteger(plain) && isInteger(a.dtype)) {
      return array(plain, { dtype: a.dtype });
    }
    return array(plain, { dtype: weakDtype(value, a.dtype) });
  } catch (error) {
    if (error instanceof RangeError) throw new RangeError(error.message.replace("array: ", "at: value: "));
    throw error;
  }
}

function writeMask(a: MxArray, index: readonly IndexPart[], mask: MxArray, writer: Writer, value: MxArray): MxArray {
  if (index.length > 1) throw new TypeError("at: a boolean mask stands alone: use one mask for all axes, or mx.where.");
  if (writer !== "set")
    throw new TypeError("at: a boolean mask allows set only. For the rest, use mx.where(mask, ...).");
  const { shape } = a;
  if (mask.ndim > shape.length || mask.shape.some((length, axis) => length !== shape[axis])) {
    throw new RangeError(
      `at: a mask of shape [${mask.shape.join(", ")}] does not fit the array's shape [${shape.join(", ")}].`,
    );
  }
  // MLX divides by the number of values. None are right where nothing is selected, so that it must be known.
  if (value.size === 0) {
    const behind = shape.slice(mask.ndim).reduce((product, length) => product * length, 1);
    if (behind > 0 && any(mask).item() === true) {
      throw new RangeError("at: the mask selects elements, and the value has none for them.");
    }
    return astype(a, a.dtype);
  }
  if (mask.ndim > 0) return maskedScatter(a, mask, value);
  // MLX's GPU code has no case for a mask without axes.
  return reshape(maskedScatter(reshape(a, [1, ...shape]), reshape(mask, [1]), value), shape);
}

/** The value broadcast to a place. Axes of length 1 in front of the place's own may be left over, as in NumPy. */
function fit(value: MxArray, place: readonly number[]): MxArray {
  const { shape } = value;
  let extra = 0;
  while (shape.length - extra > place.length && shape[extra] === 1) extra++;
  const skipped = place.length - (shape.length - extra);
  if (skipped < 0 || shape.slice(extra).some((length, axis) => length !== 1 && length !== place[skipped + axis])) {
    throw new RangeError(
      `at: a value of shape [${shape.join(", ")}] does not broadcast to the place's shape [${place.join(", ")}].`,
    );
  }
  return broadcastTo(extra === 0 ? value : reshape(value, shape.slice(extra)), place);
}

function writeBox(a: MxArray, parts: readonly Part[], writer: Writer, value: MxArray): MxArray {
  const place = parts.flatMap((part) => (part.kind === "integer" ? [] : [part.kind === "slice" ? part.count : 1]));
  const lengths = parts.flatMap((part) => (part.kind === "newaxis" ? [] : [part.kind === "slice" ? part.count : 1]));
  const fitted = fit(value, place);
  // Nothing to write, and native code is not safe with an empty place.
  if (fitted.size === 0) return astype(a, a.dtype);
  return sliceUpdate(a, reshape(fitted, lengths), boxOf(parts, a.shape), writer);
}

/** With index arrays: a scatter, into the box of the slices where there are any, which is then put back. */
function writeArrays(a: MxArray, parts: readonly Part[], writer: Writer, value: MxArray): MxArray {
  const place = placeOf(parts, "at");
  const fitted = fit(value, place.shape);
  if (fitted.size === 0) return astype(a, a.dtype);
  const box = boxOf(slicesOf(parts), a.shape);
  const target = box.whole ? a : sliced(a, box);
  const counts = slicesOf(parts).map((part) => part.count);
  const flat = reshape(fitted, [...counts.slice(0, place.before), ...place.indexShape, ...counts.slice(place.before)]);
  const indexFirst = place.before === 0 ? flat : transpose(flat, axesOrder(place, flat.ndim, true));
  const lengths = target.shape.map((length, axis) => (place.axes.includes(axis) ? 1 : length));
  const updates = reshape(indexFirst, [...place.indexShape, ...lengths]);
  const written = scatter(target, place, updates, writer);
  return box.whole ? written : sliceUpdate(a, written, box, "set");
}
