/** The operations that move arrays between the processes of a group. */

import type { Pointer } from "../backend/types.ts";
import {
  type ArrayInput,
  C,
  checkOptions,
  dtype as dtypeCode,
  failure,
  input,
  int,
  ints,
  type MxArray,
  produce,
  slot,
  stream,
  type StreamOptions,
} from "../core/call.ts";
import type { Dtype } from "../core/dtype.ts";
import { handleOf } from "../core/handle.ts";
import { type Group, groupOf } from "./group.ts";

/** The options of the operations between processes. */
export interface GroupOptions extends StreamOptions {
  /** The processes that take part. Default: all, connected as `distributed.init()` does. */
  group?: Group | null | undefined;
}

type Collective = (out: Pointer, x: Pointer, group: Pointer, on: Pointer) => number;

interface Target {
  group: Group;
  handle: Pointer;
  on: Pointer;
}

function target(options: GroupOptions | undefined, op: string): Target {
  if (options !== undefined) checkOptions(options, ["group", "stream"], op);
  const group = groupOf(options?.group, op);
  return { group, handle: handleOf(group, op), on: stream(options, op) };
}

function collective(op: string, native: Collective, x: ArrayInput, options: GroupOptions | undefined): MxArray {
  const { handle, on } = target(options, op);
  const a = input(x, op, "x");
  const out = slot();
  if (native(out, a, handle, on) !== 0) throw failure(op, [x]);
  return produce(op, out);
}

/** The rank of another process, checked against the group. */
function peer(rank: number, group: Group, op: string, name: string): number {
  const checked = int(rank, op, name);
  const size = group.size();
  if (checked >= 0 && checked < size) return checked;
  throw new RangeError(`${op}: ${name} must be a rank from 0 to ${size - 1}, got ${checked}.`);
}

/**
 * The elementwise sum of every process's `x`. All processes give the same shape and dtype, and all get the result.
 *
 * Python: `mx.distributed.all_sum(x, *, group=None, stream=None)`.
 */
export function allSum(x: ArrayInput, options?: GroupOptions): MxArray {
  return collective("distributed.allSum", C.mlx_distributed_all_sum, x, options);
}

/**
 * The elementwise maximum over every process's `x`. All processes give the same shape and dtype.
 *
 * Python: `mx.distributed.all_max(x, *, group=None, stream=None)`.
 */
export function allMax(x: ArrayInput, options?: GroupOptions): MxArray {
  return collective("distributed.allMax", C.mlx_distributed_all_max, x, options);
}

/**
 * The elementwise minimum over every process's `x`. All processes give the same shape and dtype.
 *
 * Python: `mx.distributed.all_min(x, *, group=None, stream=None)`.
 */
export function allMin(x: ArrayInput, options?: GroupOptions): MxArray {
  return collective("distributed.allMin", C.mlx_distributed_all_min, x, options);
}

/**
 * Every process's `x`, joined along the first axis in the order of the ranks; scalars become a vector.
 *
 * Python: `mx.distributed.all_gather(x, *, group=None, stream=None)`.
 */
export function allGather(x: ArrayInput, options?: GroupOptions): MxArray {
  return collective("distributed.allGather", C.mlx_distributed_all_gather, x, options);
}

/**
 * This process's share, along the first axis, of the sum over every process's `x`: `x.shape[0]` is a multiple of the
 * group's size. Only NCCL can do it; others fail with an MlxError when the result is evaluated.
 *
 * Python: `mx.distributed.sum_scatter(x, *, group=None, stream=None)`.
 */
export function sumScatter(x: ArrayInput, options?: GroupOptions): MxArray {
  return collective("distributed.sumScatter", C.mlx_distributed_sum_scatter, x, options);
}

/**
 * `x`, which is sent to the process of rank `dst` when the result is evaluated.
 *
 * A ring sends to its two neighbours only. Throws a RangeError for a rank that the group does not have, an MlxError in
 * a group of one. Python: `mx.distributed.send(x, dst, *, group=None, stream=None)`.
 */
export function send(x: ArrayInput, dst: number, options?: GroupOptions): MxArray {
  const op = "distributed.send";
  const { group, handle, on } = target(options, op);
  const rank = peer(dst, group, op, "dst");
  const a = input(x, op, "x");
  const out = slot();
  if (C.mlx_distributed_send(out, a, rank, handle, on) !== 0) throw failure(op, [x]);
  return produce(op, out);
}

/**
 * The array that the process of rank `src` sends; evaluating it waits for the data.
 *
 * `shape` and `dtype` must be those of the sender: MLX counts bytes and checks nothing. Throws a RangeError for a rank
 * that the group does not have and for a negative length, an MlxError in a group of one.
 * Python: `mx.distributed.recv(shape, dtype, src, *, group=None, stream=None)`.
 */
export function recv(shape: readonly number[], dtype: Dtype, src: number, options?: GroupOptions): MxArray {
  const op = "distributed.recv";
  const { group, handle, on } = target(options, op);
  const rank = peer(src, group, op, "src");
  const code = dtypeCode(dtype, op, "dtype");
  const lengths = ints(shape, op, "shape");
  for (const length of shape) {
    if (length < 0) throw new RangeError(`${op}: shape must not have a negative length, got [${shape.join(", ")}].`);
  }
  const out = slot();
  if (C.mlx_distributed_recv(out, lengths, shape.length, code, rank, handle, on) !== 0) throw failure(op, []);
  return produce(op, out);
}

/**
 * The array that the process of rank `src` sends, of the shape and dtype of `x`.
 *
 * Throws as `recv` does. Python: `mx.distributed.recv_like(x, src, *, group=None, stream=None)`.
 */
export function recvLike(x: ArrayInput, src: number, options?: GroupOptions): MxArray {
  const op = "distributed.recvLike";
  const { group, handle, on } = target(options, op);
  const rank = peer(src, group, op, "src");
  const a = input(x, op, "x");
  const out = slot();
  if (C.mlx_distributed_recv_like(out, a, rank, handle, on) !== 0) throw failure(op, [x]);
  return produce(op, out);
}
