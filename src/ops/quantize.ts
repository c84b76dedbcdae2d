/** `mx.quantize`, whose number of results follows the mode. */

import {
  type ArrayInput,
  C,
  failure,
  input,
  isOptions,
  MxArray,
  nullable,
  produceVector,
  slot,
  str,
  stream,
  type StreamOptions,
} from "../core/call.ts";
import { nothingAfter, optionalCount, trailing } from "./args.ts";
import type { QuantizationMode } from "./types.ts";

/** The options of `mx.quantize`. */
export interface QuantizeOptions<M extends QuantizationMode = QuantizationMode> extends StreamOptions {
  /** Elements that share a scale. Default: what the mode prescribes, 64 for "affine". */
  groupSize?: number | null | undefined;
  /** Bits of an element. Default: what the mode prescribes, 4 for "affine". */
  bits?: number | null | undefined;
  /** Default: "affine". */
  mode?: M | undefined;
  /** A scale of the whole matrix, for "nvfp4". Default: null. */
  globalScale?: ArrayInput | null | undefined;
}

type Count = number | null | undefined;
type Affine = [wq: MxArray, scales: MxArray, biases: MxArray];
type Float = [wq: MxArray, scales: MxArray];

const names = ["groupSize", "bits", "mode", "globalScale", "stream"] as const;

/**
 * Packs a matrix into few bits an element, group by group along its last axis.
 *
 * w has at least two axes and a last one that the group size divides. "affine" gives the packed uint32 matrix, scales
 * and biases; the float modes ("mxfp4", "mxfp8", "nvfp4") give the packed matrix and scales. Throws an MlxError for
 * sizes and bits that the mode does not have. Defaults: groupSize null, bits null, mode "affine", globalScale null.
 * Python: `mx.quantize(w, /, group_size=None, bits=None, mode='affine', *, global_scale=None)`.
 *
 * @example
 * const [wq, scales, biases] = mx.quantize(w, { groupSize: 64, bits: 4 });
 */
export function quantize(w: ArrayInput, options?: QuantizeOptions<"affine">): Affine;
/** Packs a matrix into few bits an element, group by group along its last axis. */
export function quantize(w: ArrayInput, options: QuantizeOptions<Exclude<QuantizationMode, "affine">>): Float;
/** Packs a matrix into few bits an element, group by group along its last axis. */
export function quantize(w: ArrayInput, options: QuantizeOptions): Affine | Float;
/** Packs a matrix into few bits an element, group by group along its last axis. */
export function quantize(
  w: ArrayInput,
  groupSize: Count,
  options?: Omit<QuantizeOptions<"affine">, "groupSize">,
): Affine;
/** Packs a matrix into few bits an element, group by group along its last axis. */
export function quantize(
  w: ArrayInput,
  groupSize: Count,
  bits: Count,
  options?: Omit<QuantizeOptions<"affine">, "groupSize" | "bits">,
): Affine;
/** Packs a matrix into few bits an element, group by group along its last axis. */
export function quantize(
  w: ArrayInput,
  groupSize: Count,
  bits: Count,
  mode: "affine" | undefined,
  options?: Pick<QuantizeOptions, "globalScale" | "stream">,
): Affine;
/** Packs a matrix into few bits an element, group by group along its last axis. */
export function quantize(
  w: ArrayInput,
  groupSize: Count,
  bits: Count,
  mode: QuantizationMode,
  options?: Pick<QuantizeOptions, "globalScale" | "stream">,
): Affine | Float;
export function quantize(
  w: ArrayInput,
  groupSize?: unknown,
  bits?: unknown,
  mode?: unknown,
  options?: unknown,
): MxArray[] {
  let given: Readonly<Record<string, unknown>> = {};
  if (isOptions(groupSize)) {
    nothingAfter(bits ?? mode ?? options, "quantize");
    given = trailing(groupSize, "quantize", names, 0);
    ({ groupSize, bits, mode } = given);
  } else if (isOptions(bits)) {
    nothingAfter(mode ?? options, "quantize");
    given = trailing(bits, "quantize", names, 1);
    ({ bits, mode } = given);
  } else if (isOptions(mode)) {
    nothingAfter(options, "quantize");
    given = trailing(mode, "quantize", names, 2);
    ({ mode } = given);
  } else if (options !== undefined) {
    given = trailing(options, "quantize", names, 3);
  }
  const on = stream(given, "quantize");
  const size = optionalCount(groupSize, "quantize", "groupSize");
  const width = optionalCount(bits, "quantize", "bits");
  const word = str(mode === undefined ? "affine" : mode, "quantize", "mode");
  const matrix = input(w, "quantize", "w");
  const scale = nullable(given.globalScale as ArrayInput | null | undefined, "quantize", "globalScale");
  const out = slot();
  if (C.mlx_quantize(out, matrix, size, width, word, scale, on) !== 0) throw failure("quantize", [w]);
  return produceVector("quantize", out);
}
