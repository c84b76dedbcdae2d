/** Bodies of `mx.where` and `mx.clip`, whose scalars are typed by the arrays beside them. */

import {
  type ArrayInput,
  C,
  failure,
  input,
  inputDtype,
  inputLike,
  MxArray,
  produce,
  refuse,
  slot,
  stream,
  type StreamOptions,
} from "../core/call.ts";

export function whereBody(
  condition: ArrayInput,
  x: ArrayInput,
  y: ArrayInput,
  options: StreamOptions | undefined,
): MxArray {
  const on = stream(options, "where");
  const test = input(condition, "where", "condition");
  const yes = MxArray.real(y) ? inputLike(x, inputDtype(y, "where", "y"), "where", "x") : input(x, "where", "x");
  const no = MxArray.real(x) ? inputLike(y, inputDtype(x, "where", "x"), "where", "y") : input(y, "where", "y");
  const out = slot();
  if (C.mlx_where(out, test, yes, no, on) !== 0) throw failure("where", [condition, x, y]);
  return produce("where", out);
}

export function clipBody(
  a: ArrayInput,
  aMin: ArrayInput | null,
  aMax: ArrayInput | null,
  options: StreamOptions | undefined,
): MxArray {
  const on = stream(options, "clip");
  if (aMin === null && aMax === null) refuse(new TypeError("clip: one of aMin and aMax must be given."));
  const dtype = inputDtype(a, "clip", "a");
  const source = input(a, "clip", "a");
  const low = aMin === null ? 0 : inputLike(aMin, dtype, "clip", "aMin");
  const high = aMax === null ? 0 : inputLike(aMax, dtype, "clip", "aMax");
  const out = slot();
  if (C.mlx_clip(out, source, low, high, on) !== 0) throw failure("clip", [a, aMin, aMax]);
  return produce("clip", out);
}
