/** DLPack capsules: an array's storage for another library in this process. */

import type { Pointer } from "../backend/types.ts";
import { DisposedError, MlxError, takeNativeMessage } from "../core/error.ts";
import { Handle, handleOf, internal } from "../core/handle.ts";
import { type Kind, release } from "../core/ledger.ts";
import { C } from "../core/native.ts";

const taken = "was already taken: its tensor is the consumer's now. Make another capsule with toDLPack() of the view.";

/** Whose turn it is to call the tensor's deleter. */
interface Custody {
  taken: boolean;
}

/**
 * A DLManagedTensorVersioned (DLPack 1.0) with the READ_ONLY flag, on the host. It holds the storage until its deleter
 * has run, once: the consumer calls it after `take`, and otherwise the capsule does when it is disposed or forgotten.
 * Any thread may call the deleter. Made by `StorageView.toDLPack`.
 */
export class DLPackCapsule extends Handle {
  readonly #custody: Custody;

  /** @internal Owns `tensor`. */
  constructor(key: typeof internal, tensor: Pointer) {
    const custody: Custody = { taken: false };
    const kind: Kind = {
      name: "DLPackCapsule",
      free: (held) => {
        if (!custody.taken) C.mlxts_dlpack_free(held);
      },
    };
    super(key, tensor, 0, kind);
    this.#custody = custody;
  }

  /** The name that DLPack gives a capsule: "used_dltensor_versioned" once a consumer has taken the tensor. */
  get name(): "dltensor_versioned" | "used_dltensor_versioned" {
    return this.#custody.taken ? "used_dltensor_versioned" : "dltensor_versioned";
  }

  /** The address of the tensor, to look at. Throws a DisposedError once it was taken or disposed. */
  get pointer(): number {
    return this.#live("pointer");
  }

  /**
   * Hands the tensor to a consumer, who calls its deleter when done, and returns the address. Once: afterwards the
   * capsule is used up, and to dispose it does nothing. Throws a DisposedError the second time.
   */
  take(): number {
    const tensor = this.#live("take");
    this.#custody.taken = true;
    release(this.entry);
    return tensor;
  }

  override toString(): string {
    return `DLPackCapsule(${this.name})`;
  }

  #live(member: string): Pointer {
    if (this.#custody.taken) throw new DisposedError(member, "DLPackCapsule", taken);
    return handleOf(this, member, "DLPackCapsule");
  }
}

/** A capsule of an available array. */
export function capsuleOf(array: Pointer, operation: string): DLPackCapsule {
  const tensor = C.mlxts_dlpack_new(array);
  if (!tensor) throw new MlxError(operation, takeNativeMessage());
  return new DLPackCapsule(internal, tensor);
}
