/** The body of `mx.diff`: MLX repeats its work n times, however short the axis is. */

import {
  type ArrayInput,
  C,
  failure,
  input,
  int,
  MxArray,
  produce,
  slot,
  stream,
  type StreamOptions,
} from "../core/call.ts";
import { axisLength, shapeOfInput } from "./args.ts";

export function diffBody(a: ArrayInput, n: number, axis: number, options: StreamOptions | undefined): MxArray {
  const on = stream(options, "diff");
  const times = int(n, "diff", "n");
  const along = int(axis, "diff", "axis");
  const source = input(a, "diff", "a");
  // After as many times as the axis is long, nothing is left.
  const enough = Math.min(times, axisLength(shapeOfInput(a, "diff"), along, "diff"));
  const out = slot();
  if (C.mlx_diff(out, source, enough, along, on) !== 0) throw failure("diff", [a]);
  return produce("diff", out);
}
