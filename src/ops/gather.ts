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
import { insideCount } from "./index-checks.ts";
import type { QuantizationMode } from "./types.ts";

/** The handle of indices into as many things; absent ones take them in order. */
function picks(indices: IndexInput | null, count: number, op: string, name: string, on: Pointer): Pointer {
  if (indices === null) return 0;
  if (MxArray.real(indices)) return insideCount(indices, count, op, name, on);
  checkPicks(indices, count, op, name);
  return indexInput(indices, op, name);
}

function checkPicks(indices: unknown, count: number, op: string, name: string): void {
  forEachIndex(indices, `${op}: ${name}`, (index, path) => {
    if ((typeof index === "number" || typeof index === "bigint") && (index < 0 || index >= count)) {
      refuse(new RangeError(`${path} is ${index}, and there are ${count} to pick from.`));
    }
  });
}

/** How many matrices an operand holds. */
function matrices(value: ArrayInput, op: string): number {
  return shapeOfInput(value, op)
    .slice(0, -2)
    .reduce((count, length) => count * length, 1);
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
  const lhs = picks(lhsIndices, matrices(a, op), op, "lhsIndices", on);
  const rhs = picks(rhsIndices, matrices(b, op), op, "rhsIndices", on);
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
  const lhs = picks(lhsIndices, matrices(x, op), op, "lhsIndices", on);
  const rhs = picks(rhsIndices, matrices(w, op), op, "rhsIndices", on);
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
  const lhs = picks(lhsIndices, matrices(x, op), op, "lhsIndices", on);
  const rhs = picks(rhsIndices, matrices(w, op), op, "rhsIndices", on);
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
  const inner = shapeOfInput(a, op).at(-1) ?? 0;
  // A segment may end behind the last element.
  const parts = picks(segments, inner + 1, op, "segments", on);
  const both = pair(a, b, op);
  nonEmpty(both.a, op, "a");
  nonEmpty(both.b, op, "b");
  const out = slot();
  if (C.mlx_segmented_mm(out, both.a, both.b, parts, on) !== 0) throw failure(op, [a, b, segments]);
  return produce(op, out);
}
