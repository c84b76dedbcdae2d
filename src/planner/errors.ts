/** What the planner throws. */

/** `badInput`: an argument that makes no sense. The others: no plan exists that keeps within what was asked. */
export type PlannerErrorCode =
  "badInput" | "unsupportedVersion" | "unitOverBudget" | "packedOverBudget" | "memoryOverLimit";

/** No plan, and why: `code` for programs, `field` the option that it is about, such as "memory.limitBytes". */
export class PlannerError extends RangeError {
  readonly code: PlannerErrorCode;
  readonly field: string;

  constructor(code: PlannerErrorCode, field: string, message: string) {
    super(`planner: ${field}: ${message}`);
    this.name = "PlannerError";
    this.code = code;
    this.field = field;
  }
}
