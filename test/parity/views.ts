// `$view`: lazily strided inputs, made with the public API and never copied to row-major first.
import { isArray, type MxArray } from "./arrays.ts";
import { Unsupported } from "./format.ts";
import { resolveFunction } from "./names.ts";

type SliceSpec = [start: number | null, stop: number | null, step: number | null];

/** Start and length of one axis of a slice, by Python's rules. */
export function sliceRange(
  [start, stop, step]: SliceSpec,
  size: number,
): { start: number; step: number; length: number } {
  const by = step ?? 1;
  if (by === 0) throw new Error("a slice's step is 0");
  const [low, high] = by > 0 ? [0, size] : [-1, size - 1];
  const clamp = (bound: number): number => Math.min(Math.max(bound < 0 ? bound + size : bound, low), high);
  const from = start === null ? (by > 0 ? low : high) : clamp(start);
  const to = stop === null ? (by > 0 ? high : low) : clamp(stop);
  return { start: from, step: by, length: Math.max(0, Math.ceil((to - from) / by)) };
}

function rowMajorStrides(shape: readonly number[]): number[] {
  const strides = new Array<number>(shape.length).fill(1);
  for (let axis = shape.length - 2; axis >= 0; axis--) {
    strides[axis] = (strides[axis + 1] as number) * (shape[axis + 1] as number);
  }
  return strides;
}

/** A slice of a row-major array as strides and an offset: one lazy operation, with negative steps as they are. */
function slice(array: MxArray, specs: readonly SliceSpec[]): unknown {
  const strides = rowMajorStrides(array.shape);
  const shape: number[] = [];
  let offset = 0;
  for (const [axis, size] of array.shape.entries()) {
    const range = sliceRange(specs[axis] ?? [null, null, null], size);
    shape.push(range.length);
    if (range.length > 0) offset += range.start * (strides[axis] as number);
    strides[axis] = range.step * (strides[axis] as number);
  }
  return resolveFunction("mx.as_strided")(array, { shape, strides, offset });
}

function apply(array: MxArray, op: unknown[], first: boolean): unknown {
  const [name, ...args] = op as [string, ...unknown[]];
  switch (name) {
    case "transpose":
      return resolveFunction("mx.transpose")(array, args[0]);
    case "broadcast_to":
      return resolveFunction("mx.broadcast_to")(array, args[0]);
    case "reshape":
      return resolveFunction("mx.reshape")(array, args[0]);
    case "expand_dims":
      return resolveFunction("mx.expand_dims")(array, args[0]);
    case "as_strided":
      return resolveFunction("mx.as_strided")(array, { shape: args[0], strides: args[1], offset: args[2] });
    case "slice":
      // Strides are only known here for the row-major array that a chain begins with.
      if (first) return slice(array, args[0] as SliceSpec[]);
      throw new Unsupported("a slice of a view");
    default:
      throw new Unsupported(`view operation ${name}`);
  }
}

/** Applies the operations of a view in order. */
export function makeView(array: unknown, ops: readonly unknown[][]): unknown {
  let view = array;
  for (const [index, op] of ops.entries()) {
    if (!isArray(view)) throw new Unsupported("a view of something that is not an array");
    view = apply(view, op, index === 0);
  }
  return view;
}
