/** A recording as a list of operations, and as what the planner's simulator takes. */

import type { ArrayForm, Category, RecordedView, TraceRecord } from "./record.ts";

/** An operation as it was built. */
export interface RecordedOp {
  readonly name: string;
  readonly inputs: readonly ArrayForm[];
  readonly outputs: readonly ArrayForm[];
  /** Device and number of the stream: "cpu 0". */
  readonly stream: string;
  /** Time that building it took. */
  readonly buildSeconds: number;
}

/** A primitive of MLX that was evaluated alone. */
export interface RecordedPrimitive {
  /** MLX's name: "Matmul". */
  readonly name: string;
  readonly dispatches: number;
  /** Dispatches cannot be seen from outside. */
  readonly assumed: true;
  readonly reads: readonly RecordedView[];
  readonly writes: readonly RecordedView[];
  readonly seconds: number;
}

export interface RecordedMarker {
  readonly marker: "evalEnd" | "synchronize";
}

export type RecordedStep = RecordedPrimitive | RecordedMarker;

export function recordedOps(records: readonly TraceRecord[]): RecordedOp[] {
  return records.flatMap(({ category, name, op, duration }) =>
    category !== "op" || op === undefined
      ? []
      : [{ name, inputs: op.inputs, outputs: op.outputs, stream: op.stream, buildSeconds: duration / 1e9 }],
  );
}

const markers: Partial<Record<Category, RecordedMarker["marker"]>> = {
  eval: "evalEnd",
  asyncEval: "evalEnd",
  wait: "synchronize",
};

export function recordedSteps(records: readonly TraceRecord[]): RecordedStep[] {
  return records.flatMap(({ category, name, sample, duration }): RecordedStep[] => {
    if (sample !== undefined) return [{ name, ...sample, assumed: true, seconds: duration / 1e9 }];
    const marker = markers[category];
    return marker === undefined ? [] : [{ marker }];
  });
}
