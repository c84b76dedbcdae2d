/** The base of every disposable: one native handle, owned through the ledger. */

import type { Pointer } from "../backend/types.ts";
import { DisposedError } from "./error.ts";
import { adopt, type Entry, type Kind, release } from "./ledger.ts";
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
    return this.entry.handle === 0;
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

// What console.log and Bun.inspect show.
Object.defineProperty(Handle.prototype, Symbol.for("nodejs.util.inspect.custom"), {
  value(this: Handle): string {
    return this.disposed ? `${this.entry.kind.name}(disposed)` : this.toString();
  },
});

function howToMake(name: string): string {
  return name === "Array" ? "Use mx.array(value)." : "Use the function of mlx-ts that returns one.";
}

/** The native handle of a live value; throws a DisposedError that names the operation otherwise. */
export function handleOf(value: Handle, operation: string): Pointer {
  const handle = value.entry.handle;
  if (handle === 0) throw new DisposedError(operation, value.entry.kind.name);
  return handle;
}
