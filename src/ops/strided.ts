/** The body of `mx.asStrided`: a view of the elements by strides, checked to stay inside them. */

import {
  type ArrayInput,
  C,
  failure,
  input,
  int64s,
  ints,
  MxArray,
  produce,
  refuse,
  slot,
  stream,
  type StreamOptions,
} from "../core/call.ts";
import { describe } from "../core/describe.ts";
import { shapeOfInput } from "./args.ts";

const op = "asStrided";

export function asStridedBody(
  a: ArrayInput,
  shape: readonly number[] | null,
  strides: readonly number[] | null,
  offset: number,
  options: StreamOptions | undefined,
): MxArray {
  const on = stream(options, op);
  const source = input(a, op, "a");
  const dims = shape ?? shapeOfInput(a, op);
  const shapeAddress = ints(dims, op, "shape");
  const steps = strides ?? rowMajor(dims);
  const stridesAddress = int64s(steps, op, "strides");
  checkInside(
    dims,
    steps,
    offset,
    shapeOfInput(a, op).reduce((size, length) => size * length, 1),
  );
  const out = slot();
  const status = C.mlx_as_strided(out, source, shapeAddress, dims.length, stridesAddress, steps.length, offset, on);
  if (status !== 0) throw failure(op, [a]);
  return produce(op, out);
}

function rowMajor(shape: readonly number[]): number[] {
  const strides = new Array<number>(shape.length);
  let step = 1;
  for (let i = shape.length - 1; i >= 0; i--) {
    strides[i] = step;
    step *= shape[i]!;
  }
  return strides;
}

/** MLX reads whatever the strides lead to. The elements of the source are counted in row-major order. */
function checkInside(shape: readonly number[], strides: readonly number[], offset: number, size: number): void {
  if (typeof offset !== "number") refuse(new TypeError(`${op}: offset must be an integer, got ${describe(offset)}.`));
  if (!Number.isSafeInteger(offset) || offset < 0) {
    refuse(new RangeError(`${op}: offset must be a non-negative integer, got ${describe(offset)}.`));
  }
  if (strides.length !== shape.length) {
    refuse(new RangeError(`${op}: shape has ${shape.length} entries and strides has ${strides.length}.`));
  }
  let least = offset;
  let most = offset;
  for (let i = 0; i < shape.length; i++) {
    if (shape[i]! < 0) refuse(new RangeError(`${op}: shape[${i}] must not be negative, got ${shape[i]}.`));
    const reach = Number(strides[i]) * (shape[i]! - 1);
    if (reach < 0) least += reach;
    else most += reach;
  }
  if (!shape.includes(0) && (least < 0 || most >= size)) {
    refuse(
      new RangeError(`${op}: the view reaches elements ${least} to ${most} of an array that has ${size} elements.`),
    );
  }
}
