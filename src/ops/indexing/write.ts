/** The native writes that updates are made of. */

import type { MxArray } from "../../core/array.ts";
import { C, failure, input, ints, produce, slot, stream } from "../../core/call.ts";
import { indexVector, type Place } from "./gather.ts";
import type { Box } from "./parts.ts";

/** How a value meets what is there. */
export type Writer = "set" | "add" | "prod" | "max" | "min";

const slices = {
  set: "mlx_slice_update",
  add: "mlx_slice_update_add",
  prod: "mlx_slice_update_prod",
  max: "mlx_slice_update_max",
  min: "mlx_slice_update_min",
} as const;

const scatters = {
  set: "mlx_scatter",
  add: "mlx_scatter_add",
  prod: "mlx_scatter_prod",
  max: "mlx_scatter_max",
  min: "mlx_scatter_min",
} as const;

/** Writes a value of the box's own shape into a box of an array. */
export function sliceUpdate(a: MxArray, value: MxArray, box: Box, writer: Writer): MxArray {
  const on = stream(undefined, "at");
  const into = input(a, "at", "a");
  const from = input(value, "at", "value");
  const out = slot();
  const n = box.starts.length;
  const starts = ints(box.starts, "at", "start");
  const stops = ints(box.stops, "at", "stop");
  const status = C[slices[writer]](out, into, from, starts, n, stops, n, ints(box.steps, "at", "step"), n, on);
  if (status !== 0) throw failure("at", [a, value]);
  return produce("at", out);
}

/** Writes `updates`, shaped [index axes..., one length per axis of `a`], at the place that the indices name. */
export function scatter(a: MxArray, place: Place, updates: MxArray, writer: Writer): MxArray {
  const { indices, axes } = place;
  const on = stream(undefined, "at");
  const into = input(a, "at", "a");
  const list = indexVector(place, a, "at", on);
  const from = input(updates, "at", "value");
  const out = slot();
  const status = C[scatters[writer]](out, into, list, from, ints(axes, "at", "axes"), axes.length, on);
  if (status !== 0) throw failure("at", [a, ...indices, updates]);
  return produce("at", out);
}

/** Writes a value where a mask is true. */
export function maskedScatter(a: MxArray, mask: MxArray, value: MxArray): MxArray {
  const on = stream(undefined, "at");
  const into = input(a, "at", "a");
  const where = input(mask, "at", "mask");
  const from = input(value, "at", "value");
  const out = slot();
  if (C.mlx_masked_scatter(out, into, where, from, on) !== 0) throw failure("at", [a, mask, value]);
  return produce("at", out);
}
