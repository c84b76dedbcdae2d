/** The body of `mx.pad`, whose width has four forms. */

import {
  type ArrayInput,
  C,
  failure,
  input,
  inputDtype,
  inputLike,
  int,
  ints,
  MxArray,
  produce,
  refuse,
  slot,
  str,
  stream,
  type StreamOptions,
} from "../core/call.ts";
import { describe } from "../core/describe.ts";
import { shapeOfInput } from "./args.ts";
import type { PadMode, PadWidth } from "./types.ts";

export function padBody(
  a: ArrayInput,
  padWidth: PadWidth,
  mode: PadMode,
  constantValues: ArrayInput,
  options: StreamOptions | undefined,
): MxArray {
  const on = stream(options, "pad");
  const word = str(mode, "pad", "mode");
  const width = readWidth(padWidth, shapeOfInput(a, "pad").length);
  const source = input(a, "pad", "a");
  const value = inputLike(constantValues, inputDtype(a, "pad", "a"), "pad", "constantValues");
  const out = slot();
  const status =
    typeof width === "number"
      ? C.mlx_pad_symmetric(out, source, width, value, word, on)
      : padAxes(out, source, width, value, word, on);
  if (status !== 0) throw failure("pad", [a, constantValues]);
  return produce("pad", out);
}

interface Widths {
  low: readonly number[];
  high: readonly number[];
}

function padAxes(out: number, source: number, { low, high }: Widths, value: number, word: number, on: number): number {
  const axes = low.map((_, axis) => axis);
  const axesAddress = ints(axes, "pad", "axes");
  const lowAddress = ints(low, "pad", "padWidth");
  const highAddress = ints(high, "pad", "padWidth");
  const n = axes.length;
  return C.mlx_pad(out, source, axesAddress, n, lowAddress, n, highAddress, n, value, word, on);
}

/** One width for all sides, or the widths before and after each axis. */
function readWidth(width: unknown, ndim: number): number | Widths {
  if (!Array.isArray(width)) return int(width, "pad", "padWidth");
  if (width.length > 0 && width.every(Array.isArray)) {
    const pairs = width.map((pair: unknown[], i) => readPair(pair, `padWidth[${i}]`));
    if (pairs.length === 1) return everyAxis(pairs[0]!, ndim);
    // MLX does not count them, and writes past the end of the shape.
    if (pairs.length !== ndim) {
      refuse(new RangeError(`pad: padWidth has ${pairs.length} pairs for an array of ${ndim} axes.`));
    }
    return { low: pairs.map(([low]) => low), high: pairs.map(([, high]) => high) };
  }
  if (width.length === 1) return int(width[0], "pad", "padWidth[0]");
  if (width.length === 2) return everyAxis(readPair(width, "padWidth"), ndim);
  const forms = "an integer, [before, after], or such a pair for each axis";
  return refuse(new TypeError(`pad: padWidth must be ${forms}, got ${describe(width)}.`));
}

function readPair(pair: readonly unknown[], name: string): [number, number] {
  if (pair.length !== 2) refuse(new TypeError(`pad: ${name} must be a pair [before, after], got ${describe(pair)}.`));
  return [int(pair[0], "pad", `${name}[0]`), int(pair[1], "pad", `${name}[1]`)];
}

function everyAxis([low, high]: readonly [number, number], ndim: number): Widths {
  return { low: new Array<number>(ndim).fill(low), high: new Array<number>(ndim).fill(high) };
}
