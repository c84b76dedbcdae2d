/** The base of every disposable: one native handle, owned through the ledger. */

import type { Pointer } from "../backend/types.ts";
import { describe } from "./describe.ts";
import { DisposedError, MlxError } from "./error.ts";
import { adopt, Entry, type Kind, release } from "./ledger.ts";
import { treeLeaf } from "./tree.ts";

/** Says that a constructor was called by mlx-ts itself. */
export const internal: unique symbol = Symbol("mlx-ts.internal");

export abstract class Handle implements Disposable {
  /** @internal The ledger entry that owns the native handle. */
  readonly entry: Entry;

  /** @internal Takes ownership of `handle`. Use the functions of mlx-ts to make values. */
  constructor(key: typeof internal, handle: Pointer, bytes: number, kind: Kind) {
    if (key !== internal) throw new TypeError(`${kind.name} cannot be made with "new". ${howToMake(kind.name)}`);
    this.entry = adopt(this, handle, bytes, kind);
  }

  /** True once the value was disposed; every other use then throws a DisposedError. */
  get disposed(): boolean {
    const { entry } = this as { entry?: Entry };
    return entry === undefined || entry.handle === 0;
  }

  toString(): string {
    return this.entry.kind.name;
  }

  /** Frees the native handle now. Idempotent, and never throws. Other arrays computed from this one stay valid. */
  dispose(): void {
    release(this.entry);
  }

  [Symbol.dispose](): void {
    release(this.entry);
  }
}

Object.defineProperty(Handle.prototype, treeLeaf, { value: true });

// What console.log and Bun.inspect show. Printing is how one looks for a mistake, so it never throws for one.
Object.defineProperty(Handle.prototype, Symbol.for("nodejs.util.inspect.custom"), {
  value(this: Handle): string {
    const { entry } = this;
    if (!(entry instanceof Entry)) return "{}";
    if (entry.handle === 0) return `${entry.kind.name}(disposed)`;
    if (entry.poison !== null) return `${entry.kind.name}(no value: ${entry.poison})`;
    try {
      return this.toString();
    } catch (error) {
      if (error instanceof RangeError) return `${entry.kind.name}(no text: ${error.message})`;
      if (!(error instanceof MlxError)) throw error;
      return `${entry.kind.name}(no value: ${error.reason})`;
    }
  },
});

function howToMake(name: string): string {
  return name === "Array" ? "Use mx.array(value)." : "Use the function of mlx-ts that returns one.";
}

/**
 * The native handle of a live value. Throws a DisposedError that names the operation for a disposed one, and a
 * TypeError for what is no value of mlx-ts or of another kind than `kind`: native code would take any address.
 */
export function handleOf(value: Handle, operation: string, kind?: string): Pointer {
  const entry = (value as Handle | null | undefined)?.entry;
  if (!(entry instanceof Entry) || (kind !== undefined && entry.kind.name !== kind)) {
    const wanted = kind === undefined ? "a value" : `${kind === "Array" ? "an" : "a"} ${kind}`;
    throw new TypeError(`${operation}: expected ${wanted} made by mlx-ts, got ${describe(value)}.`);
  }
  if (entry.handle === 0) throw new DisposedError(operation, entry.kind.name);
  return entry.handle;
}
