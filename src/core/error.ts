/** The errors of mlx-ts, and the words that native code leaves behind. */

import { LibraryError } from "../backend/errors.ts";
import { backend, C } from "./native.ts";

/** MLX refused or failed: `operation` is the mlx-ts name of what was called, `reason` MLX's own words. */
export class MlxError extends Error {
  override name = "MlxError";
  readonly operation: string;
  readonly reason: string;

  constructor(operation: string, reason: string, operands = "") {
    super(`${operation}: ${reason}${operands === "" ? "" : ` (${operands})`}`);
    this.operation = operation;
    this.reason = reason;
  }
}

/** A value was used after `dispose()`, the end of its `using` block, or the end of its `tidy`. */
export class DisposedError extends Error {
  override name = "DisposedError";
  readonly operation: string;

  constructor(
    operation: string,
    kind: string,
    what = 'was already disposed. Return it from tidy(), wrap it in keep(), or let a longer-lived "using" own it.',
  ) {
    super(`${operation}: this ${kind} ${what}`);
    this.operation = operation;
  }
}

export { LibraryError };

/** The message of this thread's last native error, without the source position that mlx-c appends. */
export function takeNativeMessage(): string {
  const address = C.mlxts_error_take();
  if (address === 0 || address === null) return "the native call failed without a message";
  return backend.text(address).replace(/ at [^\s]*\.(?:cpp|h|cc):\d+\s*$/, "");
}

/** Throws the native error of a failed call. */
export function check(status: number, operation: string): void {
  if (status !== 0) throw new MlxError(operation, takeNativeMessage());
}
