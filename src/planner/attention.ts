/** The passes of attention, as options of the range planner. */

import { bad, boolean, integer, object } from "./check.ts";
import { PlannerError } from "./errors.ts";
import type { BufferView, MemoryOptions, PlanOptions } from "./types.ts";
import { mostRows } from "./work.ts";

/** A pass: the forward pass, the gradient of the queries, or the gradients of keys and values. */
export type AttentionPass = "forward" | "dq" | "dkv";

/** The arrays that passes read: the two of the queries' shape, those of the keys', and the statistics of each row. */
export type AttentionInput = "q" | "k" | "v" | "dO" | "lse" | "delta" | "dkPartial" | "dvPartial";

export interface AttentionShape {
  readonly pass: AttentionPass;
  /** Queries, and keys. */
  readonly n: number;
  /** Size of a head. */
  readonly d: number;
  /** Heads of the queries, a multiple of those of keys and values. */
  readonly hq: number;
  readonly hkv: number;
  /** Batch. Default 1. */
  readonly b?: number;
  /** Default true. */
  readonly causal?: boolean;
  /** Bytes of an element of queries, keys and values. Default 2. Statistics and partial gradients are float32. */
  readonly itemsize?: number;
  /**
   * The buffers that inputs lie in, where several share one: views of one fused projection. Default: one each. With
   * the view's own elements as size; the first view of a buffer is the one that counts, in the order of `AttentionInput`.
   */
  readonly bufferIds?: { readonly [name in AttentionInput]?: BufferView["bufferId"] };
}

/** What `planRanges` needs to know of a pass; add `rate` and, where needed, `limits`. */
export interface AttentionWork {
  readonly queryRows: number;
  readonly pairCost: number;
  readonly causal: boolean;
  readonly inputs: readonly BufferView[];
  readonly outputElements?: NonNullable<PlanOptions["outputElements"]>;
  readonly memory: MemoryOptions;
}

/** Products of a row of d a pair: scores and values; in the gradients also those of the scores and of the operands. */
const productsPerPair: Readonly<Record<AttentionPass, number>> = { forward: 2, dq: 3, dkv: 4 };

const reads: Readonly<Record<AttentionPass, readonly AttentionInput[]>> = {
  forward: ["q", "k", "v"],
  dq: ["q", "k", "v", "dO", "lse", "delta"],
  dkv: ["q", "k", "v", "dO", "lse", "delta", "dkPartial", "dvPartial"],
};

/**
 * The cost, inputs, kept outputs and memory of a pass of attention over b batches and hq heads. The forward pass and dQ
 * keep the rows that each range puts out to the end; dK/dV hand a float32 pair from range to range, of which nothing
 * is certain to stay.
 *
 * Throws a PlannerError for sizes that are no positive integers, and when hq is no multiple of hkv.
 */
export function attentionWork(shape: AttentionShape): AttentionWork {
  const { pass, n, d, hq, hkv, b = 1, causal = true, itemsize = 2, bufferIds = {} } = object(shape, "shape");
  if (typeof pass !== "string" || !Object.hasOwn(reads, pass)) bad("pass", '"forward", "dq" or "dkv"', pass);
  boolean(causal, "causal");
  object(bufferIds, "bufferIds");
  integer(n, "n", 1, mostRows);
  for (const [field, value] of Object.entries({ d, hq, hkv, b, itemsize })) integer(value, field, 1);
  if (hq % hkv !== 0) throw new PlannerError("badInput", "hkv", `${hq} heads of queries are no multiple of ${hkv}`);
  const query = integer(b * hq * n * d, "b * hq * n * d", 1);
  const key = b * hkv * n * d;
  const rows = b * hq * n;
  const sizes: Record<AttentionInput, number> = {
    ...{ q: query, dO: query, k: key, v: key, dkPartial: key, dvPartial: key },
    ...{ lse: rows, delta: rows },
  };
  const inputs = reads[pass].map((name) => ({ bufferId: bufferIds[name] ?? name, dataSize: sizes[name] }));
  const bytes = (name: AttentionInput): number =>
    name === "dkPartial" || name === "dvPartial"
      ? 0
      : sizes[name] * (name === "lse" || name === "delta" ? 4 : itemsize);
  const inputBytes = reads[pass].reduce((sum, name) => sum + bytes(name), 0);
  const work = { queryRows: n, pairCost: productsPerPair[pass] * d * b * hq, causal, inputs };
  if (pass === "dkv") {
    const pair = 2 * key * 4;
    return { ...work, memory: { inputBytes, resultBytes: pair, rangeBytes: pair } };
  }
  const perRow = b * hq * (pass === "forward" ? d + 1 : d);
  const rowBytes = b * hq * (pass === "forward" ? d * itemsize + 4 : d * itemsize);
  return {
    ...work,
    outputElements: (r0, r1) => perRow * (r1 - r0),
    // The rows of every range stay to the end, and then beside what they are joined into.
    memory: { inputBytes, resultBytes: 2 * rowBytes * n },
  };
}
