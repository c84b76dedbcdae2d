/** Plans work for MLX's command buffers, in pure TypeScript: `import { planRanges } from "mlx-ts/planner"`. */

export { PlannerError, type PlannerErrorCode } from "./errors.ts";
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
