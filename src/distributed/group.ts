/** Groups of processes that compute together. */

import type { Pointer } from "../backend/types.ts";
import { bool, int, str } from "../core/args.ts";
import { describe } from "../core/describe.ts";
import { check } from "../core/error.ts";
import { Handle, handleOf, internal } from "../core/handle.ts";
import { kindOf } from "../core/kinds.ts";
import { C } from "../core/native.ts";
import { checkOptions } from "../core/options.ts";
import { keep } from "../core/scope.ts";
import { readSlot, slot } from "../core/slots.ts";
import { prepareRing } from "./ring.ts";

/** The ways in which processes can find each other. */
export type DistributedBackend = "any" | "mpi" | "ring" | "nccl" | "jaccl";

const backends: readonly DistributedBackend[] = ["any", "mpi", "ring", "nccl", "jaccl"];

function backendName(value: unknown, op: string): Pointer {
  if (!backends.includes(value as DistributedBackend)) {
    throw new TypeError(`${op}: backend must be one of ${backends.join(", ")}, got ${describe(value)}.`);
  }
  return str(value, op, "backend");
}

/** Processes that can exchange arrays. Made by `distributed.init`. Python: mx.distributed.Group. */
export class Group extends Handle {
  /** @internal */
  constructor(key: typeof internal, handle: Pointer) {
    super(key, handle, 0, kindOf("distributed_group"));
  }

  /** The number of this process in the group, from 0. Python: `group.rank()`. */
  rank(): number {
    return C.mlx_distributed_group_rank(handleOf(this, "rank", "DistributedGroup"));
  }

  /** How many processes the group has. Python: `group.size()`. */
  size(): number {
    return C.mlx_distributed_group_size(handleOf(this, "size", "DistributedGroup"));
  }

  /**
   * The group of those processes that give the same color, ordered by their keys; a negative key, the default, keeps
   * the order of this group. Every process of the group must call it. Throws an MlxError where the backend cannot
   * split, as the ring. Python: `group.split(color, key=-1)`.
   */
  split(color: number, key: number = -1): Group {
    const handle = handleOf(this, "split", "DistributedGroup");
    const out = slot();
    check(C.mlx_distributed_group_split(out, handle, int(color, "split", "color"), int(key, "split", "key")), "split");
    return new Group(internal, readSlot(out));
  }

  override toString(): string {
    return `DistributedGroup(rank ${this.rank()} of ${this.size()})`;
  }
}

/** The options of `distributed.init`. */
export interface InitOptions {
  /** Throw where no group can be made, instead of giving a group of this process alone. Default: false. */
  strict?: boolean | undefined;
  /** Which backend; "any" takes the first that works. Default: "any". */
  backend?: DistributedBackend | undefined;
}

/**
 * Whether this build of MLX has a way to connect processes, not whether there is anybody to connect to.
 *
 * Throws a TypeError for a name that is no backend. Python: `mx.distributed.is_available(backend='any')`.
 */
export function isAvailable(backend: DistributedBackend = "any"): boolean {
  return C.mlx_distributed_is_available(backendName(backend, "distributed.isAvailable"));
}

/**
 * Connects this process with the others and gives the group of all. Later calls give the same group.
 *
 * A ring reads its rank from the variable MLX_RANK and the addresses of all ranks from the JSON file that MLX_HOSTFILE
 * names. **It waits for the other processes, and rank 0 without its peers waits for good**: the thread that calls it
 * cannot be interrupted, so run it in a process that somebody else may end. Throws an MlxError for settings that cannot
 * work, and with `strict` where no group can be made. Python: `mx.distributed.init(strict=False, backend='any')`.
 *
 * @example
 * using group = mx.distributed.init({ backend: "ring" });
 * group.size();                            // 1 when no ring is set up
 */
export function init(options: InitOptions = {}): Group {
  checkOptions(options, ["strict", "backend"], "distributed.init");
  const backend = options.backend ?? "any";
  const strict = bool(options.strict ?? false, "distributed.init", "strict");
  const name = backendName(backend, "distributed.init");
  if (backend === "any" || backend === "ring") prepareRing();
  const out = slot();
  check(C.mlx_distributed_init(out, strict, name), "distributed.init");
  return new Group(internal, readSlot(out));
}

let everyone: Group | null = null;

/** The group that an operation was given, or the one of all processes, which the first use connects. */
export function groupOf(group: unknown, op: string): Group {
  if (group === undefined || group === null) {
    everyone ??= keep(init());
    return everyone;
  }
  if (group instanceof Group) return group;
  throw new TypeError(`${op}: group must be a group made by distributed.init, got ${describe(group)}.`);
}
