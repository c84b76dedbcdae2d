/** What a recording consists of. Times are nanoseconds of the thread's clock. */

import type { Details } from "../core/hooks.ts";

/** An array as it is described in a trace. */
export interface ArrayForm {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly elements: number;
  readonly bytes: number;
}

/** An operation as it was built: what went in, what came out, and where it will run. */
export interface OpForm {
  readonly outputs: ArrayForm[];
  readonly inputs: readonly ArrayForm[];
  readonly stream: string;
}

/** The storage that an array views, as the planner's simulator wants it. */
export interface RecordedView {
  /** Number of the storage, unlike any other's of the recording. */
  readonly bufferId: number;
  /** The `bufferId` that a storage view of it has: an address, which comes again when the storage is gone. */
  readonly storageId: number;
  /** Elements of the storage that the array spans. */
  readonly dataSize: number;
}

/** One primitive of MLX, evaluated alone in fine mode. */
export interface Sample {
  /** 1, or 0 where the result is a view of an input. */
  readonly dispatches: number;
  readonly reads: readonly RecordedView[];
  readonly writes: readonly RecordedView[];
}

export type Category =
  | "op"
  | "primitive"
  | "eval"
  | "asyncEval"
  | "wait"
  | "compile"
  | "transform"
  | "closure"
  | "io"
  | "span"
  | "mark"
  | "counter";

export interface TraceRecord {
  /** "async" is a span of a promise, which others may overlap. */
  readonly shape: "span" | "async" | "mark" | "counter";
  readonly category: Category;
  readonly name: string;
  readonly start: number;
  readonly duration: number;
  readonly details?: Details | undefined;
  readonly op?: OpForm | undefined;
  readonly sample?: Sample | undefined;
  /** Tells spans of promises apart. */
  readonly id?: number | undefined;
}

/** What counts in the table of the slowest. */
export interface Cost {
  /** Name of the row. */
  readonly row: string;
  /** Without the spans inside. */
  readonly self: number;
  readonly count: number;
  readonly bytes: number;
}

export function bytesOf({ inputs, outputs }: OpForm): number {
  let bytes = 0;
  for (const form of inputs) bytes += form.bytes;
  for (const form of outputs) bytes += form.bytes;
  return bytes;
}
