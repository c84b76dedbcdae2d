/** Bodies of the products with matrices that are picked by index. What is known of the indices is checked. */

import {
  type ArrayInput,
  bool,
  C,
  failure,
  type IndexInput,
  indexInput,
  input,
  MxArray,
  nullable,
  pair,
  produce,
  refuse,
  slot,
  str,
  stream,
  type StreamOptions,
} from "../core/call.ts";
import type { Pointer } from "../backend/types.ts";
import { dtypeCodes } from "../core/dtype.ts";
import { blockMode, nonEmpty, optionalCount, sameRows, shapeOfInput } from "./args.ts";
import { forEachIndex } from "./host-indices.ts";
import { type Axis, insideCount } from "./index-checks.ts";
import type { QuantizationMode } from "./types.ts";

/** The handle of indices into as many things; absent ones take them in order. */
function picks(indices: IndexInput | null, of: Axis, op: string, name: string, on: Pointer): Pointer {
  if (indices === null) return 0;
  if (MxArray.real(indices)) return insideCount(indices, of, op, name, on);
  checkPicks(indices, of.length, op, name);
  return indexInput(indices, op, name);
}

function checkPicks(indices: unknown, count: number, op: string, name: string): void {
  forEachIndex(indices, `${op}: ${name}`, (index, path) => {
    if ((typeof index === "number" || typeof index === "bigint") && (index < 0 || index >= count)) {
      refuse(new RangeError(`${path} is ${index}, and there are ${count} to pick from.`));
    }
  });
}

/** The axes in front, along which an operand holds matrices. */
function matrices(value: ArrayInput, op: string, name: string): Axis {
  const lengths = shapeOfInput(value, op).slice(0, -2);
  return {
    length: lengths.reduce((count, length) => count * length, 1),
    source: input(value, op, name),
    axes: lengths.map((_, axis) => axis),
  };
}

export function gatherMmBody(
  a: ArrayInput,
  b: ArrayInput,
  lhsIndices: IndexInput | null,
  rhsIndices: IndexInput | null,
  sortedIndices: boolean,
  options: StreamOptions | undefined,
): MxArray {
  const op = "gatherMm";
  const on = stream(options, op);
  const sorted = bool(sortedIndices, op, "sortedIndices");
  const lhs = picks(lhsIndices, matrices(a, op, "a"), op, "lhsIndices", on);
  const rhs = picks(rhsIndices, matrices(b, op, "b"), op, "rhsIndices", on);
  const both = pair(a, b, op);
  nonEmpty(both.a, op, "a");
  nonEmpty(both.b, op, "b");
  const out = slot();
  if (C.mlx_gather_mm(out, both.a, both.b, lhs, rhs, sorted, on) !== 0) throw failure(op, [a, b]);
  return produce(op, out);
}

export function gatherQmmBody(
  x: ArrayInput,
  w: ArrayInput,
  scales: ArrayInput,
  biases: ArrayInput | null,
  lhsIndices: IndexInput | null,
  rhsIndices: IndexInput | null,
  transpose: boolean,
  groupSize: number | null,
  bits: number | null,
  mode: QuantizationMode,
  sortedIndices: boolean,
  options: StreamOptions | undefined,
): MxArray {
  const op = "gatherQmm";
  const on = stream(options, op);
  const flip = bool(transpose, op, "transpose");
  const size = optionalCount(groupSize, op, "groupSize");
  const width = optionalCount(bits, op, "bits");
  const word = str(mode, op, "mode");
  const sorted = bool(sortedIndices, op, "sortedIndices");
  const left = input(x, op, "x");
  const right = input(w, op, "w");
  nonEmpty(left, op, "x");
  nonEmpty(right, op, "w");
  const lhs = picks(lhsIndices, matrices(x, op, "x"), op, "lhsIndices", on);
  const rhs = picks(rhsIndices, matrices(w, op, "w"), op, "rhsIndices", on);
  const scale = input(scales, op, "scales");
  const bias = nullable(biases, op, "biases");
  sameRows(scale, op, "scales", right);
  sameRows(bias, op, "biases", right);
  const out = slot();
  const status = C.mlx_gather_qmm(out, left, right, scale, bias, lhs, rhs, flip, size, width, word, sorted, on);
  if (status !== 0) throw failure(op, [x, w, scales, biases]);
  return produce(op, out);
}

export function gatherQqmmBody(
  x: ArrayInput,
  w: ArrayInput,
  scales: ArrayInput | null,
  lhsIndices: IndexInput | null,
  rhsIndices: IndexInput | null,
  groupSize: number | null,
  bits: number | null,
  mode: QuantizationMode,
  globalScaleX: ArrayInput | null,
  globalScaleW: ArrayInput | null,
  sortedIndices: boolean,
  options: StreamOptions | undefined,
): MxArray {
  const op = "gatherQqmm";
  const on = stream(options, op);
  const size = optionalCount(groupSize, op, "groupSize");
  const width = optionalCount(bits, op, "bits");
  const word = str(mode, op, "mode");
  blockMode(word, op, "mode");
  const sorted = bool(sortedIndices, op, "sortedIndices");
  const left = input(x, op, "x");
  const right = input(w, op, "w");
  // MLX looks at the scales of a packed matrix without asking whether there are any.
  if (scales === null && C.mlx_array_dtype(right) === dtypeCodes.uint32) {
    refuse(new TypeError(`${op}: a packed w needs scales.`));
  }
  nonEmpty(left, op, "x");
  nonEmpty(right, op, "w");
  const lhs = picks(lhsIndices, matrices(x, op, "x"), op, "lhsIndices", on);
  const rhs = picks(rhsIndices, matrices(w, op, "w"), op, "rhsIndices", on);
  const scale = nullable(scales, op, "scales");
  sameRows(scale, op, "scales", right);
  const globalX = nullable(globalScaleX, op, "globalScaleX");
  const globalW = nullable(globalScaleW, op, "globalScaleW");
  const out = slot();
  const status = C.mlx_gather_qqmm(out, left, right, scale, lhs, rhs, size, width, word, globalX, globalW, sorted, on);
  if (status !== 0) throw failure(op, [x, w, scales]);
  return produce(op, out);
}

export function segmentedMmBody(
  a: ArrayInput,
  b: ArrayInput,
  segments: IndexInput,
  options: StreamOptions | undefined,
): MxArray {
  const op = "segmentedMm";
  const on = stream(options, op);
  const shape = shapeOfInput(a, op);
  const last = shape.length - 1;
  // A segment may end behind the last element.
  const length = (shape.at(-1) ?? 0) + 1;
  const ends: Axis = { length, source: input(a, op, "a"), axes: last < 0 ? [] : [last], withEnd: true };
  const parts = picks(segments, ends, op, "segments", on);
  const both = pair(a, b, op);
  nonEmpty(both.a, op, "a");
  nonEmpty(both.b, op, "b");
  const out = slot();
  if (C.mlx_segmented_mm(out, both.a, both.b, parts, on) !== 0) throw failure(op, [a, b, segments]);
  return produce(op, out);
}
