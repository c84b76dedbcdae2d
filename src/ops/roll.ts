/** The body of `mx.roll`: shift and axis are each an integer or a list. */

import {
  type ArrayInput,
  C,
  failure,
  input,
  int,
  ints,
  MxArray,
  produce,
  slot,
  stream,
  type StreamOptions,
} from "../core/call.ts";
import { asList } from "./args.ts";

export function rollBody(
  a: ArrayInput,
  shift: number | readonly number[],
  axis: number | readonly number[] | null,
  options: StreamOptions | undefined,
): MxArray {
  const on = stream(options, "roll");
  const axes = axis === null || typeof axis === "object" ? axis : int(axis, "roll", "axis");
  // One shift goes for every axis of a list.
  const shifts =
    typeof shift === "number" && axes !== null && typeof axes === "object"
      ? new Array<number>(axes.length).fill(shift)
      : (asList(shift) as readonly number[]);
  const by = ints(shifts, "roll", "shift");
  const source = input(a, "roll", "a");
  const out = slot();
  const status =
    axes === null
      ? C.mlx_roll(out, source, by, shifts.length, on)
      : typeof axes === "number"
        ? C.mlx_roll_axis(out, source, by, shifts.length, axes, on)
        : C.mlx_roll_axes(out, source, by, shifts.length, ints(axes, "roll", "axis"), axes.length, on);
  if (status !== 0) throw failure("roll", [a]);
  return produce("roll", out);
}
