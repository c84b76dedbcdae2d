/** Operations on any number of arrays, which come before the options. */

import {
  type ArrayInput,
  bool,
  C,
  failure,
  input,
  MxArray,
  produce,
  produceVector,
  slot,
  str,
  stream,
  type StreamOptions,
  vector,
} from "../core/call.ts";
import type { Pointer } from "../backend/types.ts";
import { onlyStream, trailing, withOptions } from "./args.ts";

type Arrays = readonly ArrayInput[];
type ThenOptions<T> = readonly [...arrays: ArrayInput[], options: T];

/** The options of `mx.meshgrid`. */
export interface MeshgridOptions extends StreamOptions {
  /** Give arrays of length 1 on the other axes, which broadcast. Default: false. */
  sparse?: boolean | undefined;
  /** "xy" puts the first array along the second axis, "ij" along the first. Default: "xy". */
  indexing?: "xy" | "ij" | undefined;
}

const meshgridNames = ["sparse", "indexing", "stream"] as const;

/**
 * Coordinate arrays from one-dimensional ones: each varies along its own axis and repeats along the others.
 *
 * Gives as many arrays as it gets. Throws an MlxError for another word than "xy" or "ij".
 * Defaults: sparse false, indexing "xy". Python: `mx.meshgrid(*arrays, sparse=False, indexing='xy')`.
 */
export function meshgrid(...arrays: Arrays | ThenOptions<MeshgridOptions>): MxArray[] {
  const { items, options } = withOptions<ArrayInput>(arrays);
  const given = options === undefined ? {} : trailing(options, "meshgrid", meshgridNames, 0);
  const on = stream(given, "meshgrid");
  const sparse = given.sparse === undefined ? false : bool(given.sparse, "meshgrid", "sparse");
  const indexing = str(given.indexing === undefined ? "xy" : given.indexing, "meshgrid", "indexing");
  const list = vector(items, "meshgrid", "arrays");
  const out = slot();
  if (C.mlx_meshgrid(out, list, sparse, indexing, on) !== 0) throw failure("meshgrid", items);
  return produceVector("meshgrid", out);
}

/**
 * All arrays with their shapes broadcast against each other.
 *
 * Throws an MlxError where the shapes do not go together. Python: `mx.broadcast_arrays(*arrays)`.
 */
export function broadcastArrays(...arrays: Arrays | ThenOptions<StreamOptions>): MxArray[] {
  const { items, options } = withOptions<ArrayInput>(arrays);
  if (options !== undefined) onlyStream(options, "broadcastArrays");
  const on = stream(options as StreamOptions | undefined, "broadcastArrays");
  const list = vector(items, "broadcastArrays", "arrays");
  const out = slot();
  if (C.mlx_broadcast_arrays(out, list, on) !== 0) throw failure("broadcastArrays", items);
  return produceVector("broadcastArrays", out);
}

/**
 * Sums of products by Einstein's convention: letters name axes, and those missing behind the arrow are summed.
 *
 * Throws an MlxError for subscripts that do not fit the operands. Python: `mx.einsum(subscripts, *operands)`.
 *
 * @example
 * mx.einsum("ij,jk->ik", a, b);            // a matrix product
 */
export function einsum(subscripts: string, ...operands: Arrays | ThenOptions<StreamOptions>): MxArray {
  const { items, options } = withOptions<ArrayInput>(operands);
  if (options !== undefined) onlyStream(options, "einsum");
  const on = stream(options as StreamOptions | undefined, "einsum");
  const text = str(subscripts, "einsum", "subscripts");
  const list = vector(items, "einsum", "operands");
  const out = slot();
  if (C.mlx_einsum(out, text, list, on) !== 0) throw failure("einsum", items);
  return produce("einsum", out);
}

type Native = (out: Pointer, a: Pointer, on: Pointer) => number;

function atLeast(op: string, native: Native, args: readonly unknown[]): MxArray | MxArray[] {
  const { items, options } = withOptions<ArrayInput>(args);
  if (options !== undefined) onlyStream(options, op);
  const one = (value: ArrayInput, i: number): MxArray => {
    const on = stream(options as StreamOptions | undefined, op);
    const a = input(value, op, `arys[${i}]`);
    const out = slot();
    if (native(out, a, on) !== 0) throw failure(op, [value]);
    return produce(op, out);
  };
  return items.length === 1 ? one(items[0]!, 0) : items.map(one);
}

/**
 * The array with at least one axis. Several arrays give a list.
 *
 * Python: `mx.atleast_1d(*arys)`.
 */
export function atleast1d(a: ArrayInput, options?: StreamOptions): MxArray;
/** The arrays with at least one axis each. */
export function atleast1d(...arrays: Arrays | ThenOptions<StreamOptions>): MxArray[];
export function atleast1d(...args: readonly unknown[]): MxArray | MxArray[] {
  return atLeast("atleast1d", C.mlx_atleast_1d, args);
}

/**
 * The array with at least two axes, new ones in front. Several arrays give a list.
 *
 * Python: `mx.atleast_2d(*arys)`.
 */
export function atleast2d(a: ArrayInput, options?: StreamOptions): MxArray;
/** The arrays with at least two axes each. */
export function atleast2d(...arrays: Arrays | ThenOptions<StreamOptions>): MxArray[];
export function atleast2d(...args: readonly unknown[]): MxArray | MxArray[] {
  return atLeast("atleast2d", C.mlx_atleast_2d, args);
}

/**
 * The array with at least three axes: a vector of n becomes [1, n, 1], a matrix gets an axis behind. Several arrays
 * give a list.
 *
 * Python: `mx.atleast_3d(*arys)`.
 */
export function atleast3d(a: ArrayInput, options?: StreamOptions): MxArray;
/** The arrays with at least three axes each. */
export function atleast3d(...arrays: Arrays | ThenOptions<StreamOptions>): MxArray[];
export function atleast3d(...args: readonly unknown[]): MxArray | MxArray[] {
  return atLeast("atleast3d", C.mlx_atleast_3d, args);
}
