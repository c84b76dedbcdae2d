/** Plans work for MLX's command buffers, in pure TypeScript: `import { planRanges } from "mlx-ts/planner"`. */

export {
  type AttentionInput,
  type AttentionPass,
  type AttentionShape,
  type AttentionWork,
  attentionWork,
} from "./attention.ts";
export { PlannerError, type PlannerErrorCode } from "./errors.ts";
export { checkedVersions, cudaLimits, type LimitOptions, metalLimits } from "./limits.ts";
export {
  commitReason,
  firstTrigger,
  type ModelledBuffer,
  type PackingBackend,
  unitElements,
  unitsOf,
} from "./packing.ts";
export { planRanges } from "./ranges.ts";
export { formatPlan, type LimitsReport, type PlanReport, reportPlan } from "./report.ts";
export {
  type Account,
  account,
  type Primitive,
  simulate,
  type SimulatedMarker,
  type SimulatedOp,
  type SimulateOptions,
} from "./simulate.ts";
export type {
  BufferView,
  CloseReason,
  Limits,
  LimitSource,
  MemoryOptions,
  OpenBuffer,
  Plan,
  PlanMemory,
  PlanMode,
  PlannedBuffer,
  PlanOptions,
  PlanStrategy,
  ResolvedLimits,
  RowRange,
} from "./types.ts";
export { causalPairs, rangeMacs } from "./work.ts";
