/** What the planner takes and gives. */

/**
 * How the end of a range becomes the end of a command buffer. "explicit": an asynchronous evaluation after each range
 * commits it, whatever MLX's limits are. "packed": no evaluation between the ranges (the graph inside of a transform);
 * MLX's own limits alone close a buffer, as modelled.
 */
export type PlanMode = "explicit" | "packed";

/** "balanced" is this library's planner, "published" reproduces the ranges of the planner in mlx-train-perf exactly. */
export type PlanStrategy = "balanced" | "published";

/** Why MLX commits a command buffer; "open" for one that nothing has closed yet. */
export type CloseReason = "ops" | "elements" | "finalize" | "synchronize" | "open";

/** When a command buffer is committed: once it holds more than this. */
export interface Limits {
  /** Dispatches; MLX's `MLX_MAX_OPS_PER_BUFFER`. */
  readonly maxOps: number;
  /** Whole units of 2^20 elements; MLX's `MLX_MAX_MB_PER_BUFFER`, which counts elements in spite of its name. */
  readonly maxMb: number;
}

/** Where a limit comes from. */
export type LimitSource = "architecture" | "compute capability" | "environment";

/** Limits together with what they were read from, for the report. */
export interface ResolvedLimits extends Limits {
  readonly backend: "metal" | "cuda";
  /** Architecture as MLX sees it (Metal), or the compute capability (CUDA). */
  readonly architecture: string;
  /** Where the architecture's name comes from. */
  readonly architectureSource: "argument" | "environment";
  /** Version of MLX whose rule and constants these are. */
  readonly mlxVersion: string;
  readonly sources: { readonly maxOps: LimitSource; readonly maxMb: LimitSource };
}

/** A view of a buffer. Views of one buffer carry the same id; MLX counts the first one that it binds. */
export interface BufferView {
  readonly bufferId: string | number | bigint;
  /** Elements, whatever their dtype: MLX's `data_size`. */
  readonly dataSize: number;
}

/** What is already in the open command buffer. */
export interface OpenBuffer {
  readonly ops?: number;
  readonly elements?: number;
  /** Projected seconds of the work in it. */
  readonly seconds?: number;
  /** Ids of the buffers that it has counted. Without them, only what is certain is assumed of a range's inputs. */
  readonly seen?: Iterable<BufferView["bufferId"]>;
}

/** What ranges hold in memory. Sizes in bytes; a function is asked for rows [r0, r1) and must be pure. */
export interface MemoryOptions {
  /** What is alive before the run and stays: the inputs. Default 0. */
  readonly inputBytes?: number;
  /** What the run builds up and keeps: an accumulator, or all of the output. Default 0. */
  readonly resultBytes?: number;
  /** What one range hands on: its pair of partial gradients, or its rows of the output. Default 0. */
  readonly rangeBytes?: number | ((r0: number, r1: number) => number);
  /** What a range needs beside that while it runs, such as materialised scores. Must not fall as ranges grow. */
  readonly workspaceBytes?: number | ((r0: number, r1: number) => number);
  /**
   * The most that inputs, result and ranges in flight may hold together. Bounds the window, and the ranges too: each
   * to the rows that fit wherever they are, which are more ranges than there could be where only the last ones are large.
   */
  readonly limitBytes?: number;
  /** The most ranges to have in flight. Default 2: one that computes, one that waits. */
  readonly window?: number;
}

export interface PlanOptions<M extends PlanMode = PlanMode> {
  /** Rows to cut, n >= 1; queries attend to as many keys. */
  readonly queryRows: number;
  /** Multiply-accumulates of one pair of query and key, over all batches and heads. */
  readonly pairCost: number;
  /** Multiply-accumulates a second, as measured. */
  readonly rate: number;
  /** What of the rate is planned with. Default 0.5. */
  readonly safetyFactor?: number;
  /** Whether row i attends to the i + 1 first keys only. Default true. */
  readonly causal?: boolean;
  /** What each range reads. Default: nothing. */
  readonly inputs?: readonly BufferView[];
  /** Elements that rows [r0, r1) put out and that stay alive to the end of the chain. Default 0. */
  readonly outputElements?: (r0: number, r1: number) => number;
  /** Rows that a range may not cut through. Default 1. */
  readonly blockAlign?: number;
  /** Dispatches of one range. Default 1. */
  readonly opsPerRange?: number;
  /** MLX's limits on this machine. Only mode "explicit" does without. */
  readonly limits?: Limits | ResolvedLimits;
  /** Projected seconds that a command buffer may hold. Default 0.5. */
  readonly budgetSeconds?: number;
  /** What precedes the first range in its command buffer. Default: nothing. */
  readonly initial?: OpenBuffer;
  readonly mode?: M;
  readonly strategy?: PlanStrategy;
  readonly memory?: MemoryOptions;
}

/** Rows [r0, r1). */
export type RowRange = readonly [r0: number, r1: number];

/** A command buffer as modelled. */
export interface PlannedBuffer {
  /** Its ranges: the first, and the one behind the last. */
  readonly firstRange: number;
  readonly endRange: number;
  readonly ops: number;
  readonly elements: number;
  /** Whole units of 2^20 elements. */
  readonly units: number;
  /** Projected, at rate times safetyFactor. */
  readonly seconds: number;
  readonly reason: CloseReason;
}

export interface PlanMemory {
  readonly inputBytes: number;
  readonly resultBytes: number;
  /** The most that one range in flight holds: what it hands on and its workspace. */
  readonly bytesPerRange: number;
  /** Ranges that may be in flight at once, at least 1. */
  readonly window: number;
  /** Above what was alive before the run: the result, and a window of ranges. */
  readonly peakBytes: number;
}

/** Ranges of rows that tile [0, queryRows), and what is modelled of them. Not to be written to, the bounds included. */
export interface Plan<M extends PlanMode = PlanMode> extends Iterable<RowRange> {
  readonly mode: M;
  readonly strategy: PlanStrategy;
  readonly queryRows: number;
  readonly causal: boolean;
  readonly blockAlign: number;
  /** Number of ranges. */
  readonly count: number;
  /** The `count + 1` bounds of the ranges: range i is [bounds[i], bounds[i + 1]). */
  readonly bounds: Int32Array;
  /**
   * Whether what `initial` describes must be committed before the first range, because the two do not fit into one
   * buffer. In mode "explicit" only.
   */
  readonly commitFirst: boolean;
  readonly memory: PlanMemory;
  readonly budgetSeconds: number;
  /** What the seconds are projected with: rate times safetyFactor. */
  readonly plannedRate: number;
  readonly pairCost: number;
  readonly limits: Limits | ResolvedLimits | undefined;
  /** Range i, a new pair. Throws a RangeError where there is none. */
  range(i: number): RowRange;
  /** Multiply-accumulates of range i, exact. */
  macs(i: number): bigint;
  /** Projected seconds of range i alone. */
  seconds(i: number): number;
  /** The modelled command buffers, in order. Computed when first asked for. */
  readonly buffers: readonly PlannedBuffer[];
}
