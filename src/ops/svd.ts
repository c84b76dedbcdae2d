/** `mx.linalg.svd`, which gives one array instead of three without the vectors. */

import {
  type ArrayInput,
  bool,
  C,
  failure,
  input,
  isOptions,
  MxArray,
  produceVector,
  slot,
  stream,
  type StreamOptions,
} from "../core/call.ts";
import { countable, countableFactors, nothingAfter, trailing } from "./args.ts";

/** The options of `mx.linalg.svd`. */
export interface SvdOptions<V extends boolean = boolean> extends StreamOptions {
  /** Whether U and Vt are wanted too. Default: true. */
  computeUv?: V | undefined;
}

type Full = [U: MxArray, S: MxArray, Vt: MxArray];

const names = ["computeUv", "stream"] as const;

/**
 * The singular values of matrices, largest first, and their vectors: U, S and Vt with a = U diag(S) Vt.
 *
 * a has at least two axes and dtype float32 or float64; U is [..., m, m], Vt [..., n, n], S [..., min(m, n)]. Without
 * computeUv only S is given. Runs on the CPU stream only. Default: computeUv true.
 * Python: `mx.linalg.svd(a, compute_uv=True)`.
 */
export function svd(a: ArrayInput, options?: SvdOptions<true>): Full;
/** The singular values of matrices, largest first. */
export function svd(a: ArrayInput, options: SvdOptions<false>): MxArray;
/** The singular values of matrices, largest first, and their vectors where computeUv is true. */
export function svd(a: ArrayInput, options: SvdOptions): Full | MxArray;
/** The singular values of matrices, largest first, and their vectors. */
export function svd(a: ArrayInput, computeUv: true | undefined, options?: StreamOptions): Full;
/** The singular values of matrices, largest first. */
export function svd(a: ArrayInput, computeUv: false, options?: StreamOptions): MxArray;
/** The singular values of matrices, largest first, and their vectors where computeUv is true. */
export function svd(a: ArrayInput, computeUv: boolean, options?: StreamOptions): Full | MxArray;
export function svd(a: ArrayInput, computeUv?: unknown, options?: unknown): MxArray[] | MxArray {
  const op = "linalg.svd";
  let given: Readonly<Record<string, unknown>> = {};
  if (isOptions(computeUv)) {
    nothingAfter(options, op);
    given = trailing(computeUv, op, names, 0);
    ({ computeUv } = given);
  } else if (options !== undefined) {
    given = trailing(options, op, names, 1);
  }
  const on = stream(given, op);
  const vectors = computeUv === undefined ? true : bool(computeUv, op, "computeUv");
  const matrix = input(a, op, "a");
  (vectors ? countableFactors : countable)(matrix, op, "a");
  const out = slot();
  if (C.mlx_linalg_svd(out, matrix, vectors, on) !== 0) throw failure(op, [a]);
  const results = produceVector(op, out);
  return vectors ? results : results[0]!;
}
