/** The body of `mx.tensordot`: axes is a number, or a list for each operand. */

import {
  type ArrayInput,
  C,
  failure,
  int,
  ints,
  MxArray,
  pair,
  produce,
  refuse,
  slot,
  stream,
  type StreamOptions,
} from "../core/call.ts";
import { describe } from "../core/describe.ts";
import type { TensordotAxes } from "./types.ts";

export function tensordotBody(
  a: ArrayInput,
  b: ArrayInput,
  axes: TensordotAxes,
  options: StreamOptions | undefined,
): MxArray {
  const on = stream(options, "tensordot");
  const out = slot();
  let status: number;
  if (typeof axes === "object") {
    const [first, second] = readAxes(axes);
    const ofA = ints(first, "tensordot", "axes[0]");
    const ofB = ints(second, "tensordot", "axes[1]");
    const both = pair(a, b, "tensordot");
    status = C.mlx_tensordot(out, both.a, both.b, ofA, first.length, ofB, second.length, on);
  } else {
    const count = int(axes, "tensordot", "axes");
    const both = pair(a, b, "tensordot");
    status = C.mlx_tensordot_axis(out, both.a, both.b, count, on);
  }
  if (status !== 0) throw failure("tensordot", [a, b]);
  return produce("tensordot", out);
}

function readAxes(axes: unknown): readonly [readonly number[], readonly number[]] {
  if (Array.isArray(axes) && axes.length === 2 && axes.every(Array.isArray)) return axes as [number[], number[]];
  return refuse(new TypeError(`tensordot: axes must be an integer or two lists of axes, got ${describe(axes)}.`));
}
