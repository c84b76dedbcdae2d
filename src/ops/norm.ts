/** The body of `mx.linalg.norm`: its order is absent, a number or a word. */

import {
  type ArrayInput,
  bool,
  C,
  failure,
  float,
  input,
  ints,
  MxArray,
  produce,
  slot,
  str,
  stream,
  type StreamOptions,
} from "../core/call.ts";
import { asList, countable } from "./args.ts";
import type { NormOrder } from "./types.ts";

const op = "linalg.norm";

export function normBody(
  a: ArrayInput,
  ord: NormOrder | null,
  axis: number | readonly number[] | null,
  keepDims: boolean,
  options: StreamOptions | undefined,
): MxArray {
  const on = stream(options, op);
  const keep = bool(keepDims, op, "keepDims");
  const axes = axis === null ? [] : (asList(axis) as readonly number[]);
  const address = axis === null ? 0 : ints(axes, op, "axis");
  const p = ord === null ? 0 : typeof ord === "string" ? str(ord, op, "ord") : float(ord, op, "ord");
  const source = input(a, op, "a");
  // The singular values are behind these orders of a matrix.
  if (ord === "nuc" || Math.abs(ord as number) === 2) countable(source, op, "a");
  const out = slot();
  const status =
    ord === null
      ? C.mlx_linalg_norm_l2(out, source, address, axes.length, keep, on)
      : typeof ord === "string"
        ? C.mlx_linalg_norm_matrix(out, source, p, address, axes.length, keep, on)
        : C.mlx_linalg_norm(out, source, p, address, axes.length, keep, on);
  if (status !== 0) throw failure(op, [a]);
  return produce(op, out);
}
