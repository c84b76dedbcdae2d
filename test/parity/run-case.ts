// Runs one case in a scope of its own and says how it ended.
import { type Case, Unsupported } from "./format.ts";
import { kinds } from "./kinds.ts";
import { type Callable, mx, resolveFunction } from "./names.ts";

export type Status = "passed" | "failed" | "unsupported";

export interface CaseResult {
  id: string;
  status: Status;
  /** Empty for a case that passed. */
  message: string;
  /** Handles that the case left behind, after its scope was closed. */
  leaked?: number;
}

function liveHandles(): number {
  const memory = (mx() as { memory?: () => { liveHandles: number } }).memory;
  return memory === undefined ? 0 : memory().liveHandles;
}

/** Runs a case. Whatever it throws is a failure, except Unsupported, which is never a pass. */
export function runCase(one: Case): CaseResult {
  try {
    const runner = kinds[one.kind];
    if (runner === undefined) throw new Unsupported(`kind ${one.kind}`);
    const before = liveHandles();
    let difference: string | null = null;
    const tidy: Callable = resolveFunction("mx.tidy");
    tidy(() => {
      if (one.seed !== undefined) resolveFunction("mx.random.seed")(one.seed);
      difference = runner(one);
    });
    const leaked = liveHandles() - before;
    const result: CaseResult = {
      id: one.id,
      status: difference === null ? "passed" : "failed",
      message: difference ?? "",
    };
    return leaked > 0 ? { ...result, leaked } : result;
  } catch (error) {
    if (error instanceof Unsupported) return { id: one.id, status: "unsupported", message: error.message };
    const message = error instanceof Error ? `${error.name}: ${error.message}` : Bun.inspect(error);
    return { id: one.id, status: "failed", message: `it threw ${message}` };
  }
}
