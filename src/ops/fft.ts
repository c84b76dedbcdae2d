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

function oneAxis(
  op: string,
  native: OneAxis,
  length: Length,
  a: ArrayInput,
  n: number | null,
  axis: number,
  norm: FftNorm,
  options: StreamOptions | undefined,
): MxArray {
  const on = stream(options, op);
  const code = normCode(norm, op);
  const along = int(axis, op, "axis");
  const source = input(a, op, "a");
  const own = axisLength(shapeOfInput(a, op), along, op);
  const size = n !== null ? int(n, op, "n") : length === "full" ? own : 2 * (own - 1);
  const out = slot();
  if (native(out, source, size, along, code, on) !== 0) throw failure(op, [a]);
  return produce(op, out);
}

function manyAxes(
  op: string,
  native: ManyAxes,
  length: Length,
  a: ArrayInput,
  s: readonly number[] | null,
  axes: readonly number[] | null,
  norm: FftNorm,
  options: StreamOptions | undefined,
): MxArray {
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
  if (native(out, source, sizesAddress, sizes.length, axesAddress, along.length, code, on) !== 0)
    throw failure(op, [a]);
  return produce(op, out);
}

function shifted(
  op: string,
  native: Shift,
  a: ArrayInput,
  axes: number | readonly number[] | null,
  options: StreamOptions | undefined,
): MxArray {
  const on = stream(options, op);
  const source = input(a, op, "a");
  const along = axes === null ? shapeOfInput(a, op).map((_, axis) => axis) : (asList(axes) as readonly number[]);
  const address = ints(along, op, "axes");
  const out = slot();
  if (native(out, source, address, along.length, on) !== 0) throw failure(op, [a]);
  return produce(op, out);
}

export function fftBody(
  a: ArrayInput,
  n: number | null,
  axis: number,
  norm: FftNorm,
  options: StreamOptions | undefined,
): MxArray {
  return oneAxis("fft.fft", C.mlx_fft_fft, "full", a, n, axis, norm, options);
}

export function ifftBody(
  a: ArrayInput,
  n: number | null,
  axis: number,
  norm: FftNorm,
  options: StreamOptions | undefined,
): MxArray {
  return oneAxis("fft.ifft", C.mlx_fft_ifft, "full", a, n, axis, norm, options);
}

export function rfftBody(
  a: ArrayInput,
  n: number | null,
  axis: number,
  norm: FftNorm,
  options: StreamOptions | undefined,
): MxArray {
  return oneAxis("fft.rfft", C.mlx_fft_rfft, "full", a, n, axis, norm, options);
}

export function irfftBody(
  a: ArrayInput,
  n: number | null,
  axis: number,
  norm: FftNorm,
  options: StreamOptions | undefined,
): MxArray {
  return oneAxis("fft.irfft", C.mlx_fft_irfft, "half", a, n, axis, norm, options);
}

export function fft2Body(
  a: ArrayInput,
  s: readonly number[] | null,
  axes: readonly number[] | null,
  norm: FftNorm,
  options: StreamOptions | undefined,
): MxArray {
  return manyAxes("fft.fft2", C.mlx_fft_fft2, "full", a, s, axes, norm, options);
}

export function ifft2Body(
  a: ArrayInput,
  s: readonly number[] | null,
  axes: readonly number[] | null,
  norm: FftNorm,
  options: StreamOptions | undefined,
): MxArray {
  return manyAxes("fft.ifft2", C.mlx_fft_ifft2, "full", a, s, axes, norm, options);
}

export function rfft2Body(
  a: ArrayInput,
  s: readonly number[] | null,
  axes: readonly number[] | null,
  norm: FftNorm,
  options: StreamOptions | undefined,
): MxArray {
  return manyAxes("fft.rfft2", C.mlx_fft_rfft2, "full", a, s, axes, norm, options);
}

export function irfft2Body(
  a: ArrayInput,
  s: readonly number[] | null,
  axes: readonly number[] | null,
  norm: FftNorm,
  options: StreamOptions | undefined,
): MxArray {
  return manyAxes("fft.irfft2", C.mlx_fft_irfft2, "half", a, s, axes, norm, options);
}

export function fftnBody(
  a: ArrayInput,
  s: readonly number[] | null,
  axes: readonly number[] | null,
  norm: FftNorm,
  options: StreamOptions | undefined,
): MxArray {
  return manyAxes("fft.fftn", C.mlx_fft_fftn, "full", a, s, axes, norm, options);
}

export function ifftnBody(
  a: ArrayInput,
  s: readonly number[] | null,
  axes: readonly number[] | null,
  norm: FftNorm,
  options: StreamOptions | undefined,
): MxArray {
  return manyAxes("fft.ifftn", C.mlx_fft_ifftn, "full", a, s, axes, norm, options);
}

export function rfftnBody(
  a: ArrayInput,
  s: readonly number[] | null,
  axes: readonly number[] | null,
  norm: FftNorm,
  options: StreamOptions | undefined,
): MxArray {
  return manyAxes("fft.rfftn", C.mlx_fft_rfftn, "full", a, s, axes, norm, options);
}

export function irfftnBody(
  a: ArrayInput,
  s: readonly number[] | null,
  axes: readonly number[] | null,
  norm: FftNorm,
  options: StreamOptions | undefined,
): MxArray {
  return manyAxes("fft.irfftn", C.mlx_fft_irfftn, "half", a, s, axes, norm, options);
}

export function fftshiftBody(
  a: ArrayInput,
  axes: number | readonly number[] | null,
  options: StreamOptions | undefined,
): MxArray {
  return shifted("fft.fftshift", C.mlx_fft_fftshift, a, axes, options);
}

export function ifftshiftBody(
  a: ArrayInput,
  axes: number | readonly number[] | null,
  options: StreamOptions | undefined,
): MxArray {
  return shifted("fft.ifftshift", C.mlx_fft_ifftshift, a, axes, options);
}
