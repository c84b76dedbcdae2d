/** Tracing: `import * as trace from "mlx-ts/trace"`. */

export type { RecordingInfo, TraceEvent, TraceFile, WriterMark } from "./chrome.ts";
export { startFromEnvironment } from "./environment.ts";
export { captureGpu } from "./gpu.ts";
export { mark, span } from "./marks.ts";
export type { RecordedMarker, RecordedOp, RecordedPrimitive, RecordedStep } from "./ops.ts";
export type { ArrayForm, RecordedView } from "./record.ts";
export { record, type Recording, type RecordOptions } from "./recording.ts";
export type { Slowest, SlowestRow } from "./slowest.ts";
