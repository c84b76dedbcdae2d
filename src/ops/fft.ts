/** Bodies of the Fourier transforms: absent lengths and axes are read from the shape. */

import { fftNormCodes } from "../../generated/enums.ts";
import type { Pointer } from "../backend/types.ts";
import {
  type ArrayInput,
  C,
  failure,
  input,
  int,
  ints,
  MxArray,
  produce,
  refuse,
  slot,
  stream,
  type StreamOptions,
} from "../core/call.ts";
import { describe } from "../core/describe.ts";
import { asList, axisLength, shapeOfInput } from "./args.ts";
import type { FftNorm } from "./types.ts";

type OneAxis = (out: Pointer, a: Pointer, n: number, axis: number, norm: number, on: Pointer) => number;
type ManyAxes = (
  out: Pointer,
  a: Pointer,
  n: Pointer,
  nLength: number,
  axes: Pointer,
  axesLength: number,
  norm: number,
  on: Pointer,
) => number;
type Shift = (out: Pointer, a: Pointer, axes: Pointer, length: number, on: Pointer) => number;

/** "half": the input holds the first half of a spectrum, so that the last axis grows to twice its length less two. */
type Length = "full" | "half";

function normCode(norm: unknown, op: string): number {
  if (typeof norm === "string" && Object.hasOwn(fftNormCodes, norm)) return fftNormCodes[norm as FftNorm];
  return refuse(new TypeError(`${op}: norm must be "backward", "ortho" or "forward", got ${describe(norm)}.`));
}

type Options = StreamOptions | undefined;
type OneAxisBody = (a: ArrayInput, n: number | null, axis: number, norm: FftNorm, options: Options) => MxArray;
type ManyAxesBody = (
  a: ArrayInput,
  s: readonly number[] | null,
  axes: readonly number[] | null,
  norm: FftNorm,
  options: Options,
) => MxArray;
type ShiftBody = (a: ArrayInput, axes: number | readonly number[] | null, options: Options) => MxArray;

/** The body of a transform of one axis. `native` is asked for at each call: it changes when the library loads. */
function oneAxis(name: string, native: () => OneAxis, length: Length): OneAxisBody {
  const op = `fft.${name}`;
  return (a, n, axis, norm, options) => {
    const on = stream(options, op);
    const code = normCode(norm, op);
    const along = int(axis, op, "axis");
    const source = input(a, op, "a");
    const own = axisLength(shapeOfInput(a, op), along, op);
    const size = n !== null ? int(n, op, "n") : length === "full" ? own : 2 * (own - 1);
    const out = slot();
    if (native()(out, source, size, along, code, on) !== 0) throw failure(op, [a]);
    return produce(op, out);
  };
}

function manyAxes(name: string, native: () => ManyAxes, length: Length): ManyAxesBody {
  const op = `fft.${name}`;
  return (a, s, axes, norm, options) => {
    const on = stream(options, op);
    const code = normCode(norm, op);
    if (s !== null && axes === null) refuse(new TypeError(`${op}: s needs axes.`));
    const source = input(a, op, "a");
    const shape = shapeOfInput(a, op);
    const along = axes ?? shape.map((_, axis) => axis);
    const axesAddress = ints(along, op, "axes");
    const sizes = s ?? along.map((axis) => axisLength(shape, axis, op));
    along.forEach((axis) => axisLength(shape, axis, op));
    if (s === null && length === "half" && sizes.length > 0) {
      const last = sizes.length - 1;
      (sizes as number[])[last] = 2 * (sizes[last]! - 1);
    }
    const sizesAddress = ints(sizes, op, "s");
    const out = slot();
    if (native()(out, source, sizesAddress, sizes.length, axesAddress, along.length, code, on) !== 0)
      throw failure(op, [a]);
    return produce(op, out);
  };
}

function shifted(name: string, native: () => Shift): ShiftBody {
  const op = `fft.${name}`;
  return (a, axes, options) => {
    const on = stream(options, op);
    const source = input(a, op, "a");
    const along = axes === null ? shapeOfInput(a, op).map((_, axis) => axis) : (asList(axes) as readonly number[]);
    const address = ints(along, op, "axes");
    const out = slot();
    if (native()(out, source, address, along.length, on) !== 0) throw failure(op, [a]);
    return produce(op, out);
  };
}

export const fftBody: OneAxisBody = oneAxis("fft", () => C.mlx_fft_fft, "full");
export const ifftBody: OneAxisBody = oneAxis("ifft", () => C.mlx_fft_ifft, "full");
export const rfftBody: OneAxisBody = oneAxis("rfft", () => C.mlx_fft_rfft, "full");
export const irfftBody: OneAxisBody = oneAxis("irfft", () => C.mlx_fft_irfft, "half");
export const fft2Body: ManyAxesBody = manyAxes("fft2", () => C.mlx_fft_fft2, "full");
export const ifft2Body: ManyAxesBody = manyAxes("ifft2", () => C.mlx_fft_ifft2, "full");
export const rfft2Body: ManyAxesBody = manyAxes("rfft2", () => C.mlx_fft_rfft2, "full");
export const irfft2Body: ManyAxesBody = manyAxes("irfft2", () => C.mlx_fft_irfft2, "half");
export const fftnBody: ManyAxesBody = manyAxes("fftn", () => C.mlx_fft_fftn, "full");
export const ifftnBody: ManyAxesBody = manyAxes("ifftn", () => C.mlx_fft_ifftn, "full");
export const rfftnBody: ManyAxesBody = manyAxes("rfftn", () => C.mlx_fft_rfftn, "full");
export const irfftnBody: ManyAxesBody = manyAxes("irfftn", () => C.mlx_fft_irfftn, "half");
export const fftshiftBody: ShiftBody = shifted("fftshift", () => C.mlx_fft_fftshift);
export const ifftshiftBody: ShiftBody = shifted("ifftshift", () => C.mlx_fft_ifftshift);
