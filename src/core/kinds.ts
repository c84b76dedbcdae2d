/**
 * Every kind of native handle, from the generated table: how it is named and freed. Kinds that have a class of their
 * own use it; the rest live in a NativeHandle, so that the ledger owns them all in one way.
 */

import { handles } from "../../generated/handles.ts";
import type { Pointer } from "../backend/types.ts";
import { Handle, internal } from "./handle.ts";
import type { Kind } from "./ledger.ts";
import { C } from "./native.ts";

export type KindName = keyof typeof handles;

type Free = (handle: Pointer) => unknown;

function className(kind: string): string {
  return kind.replace(/(^|_)(\w)/g, (_, __, letter: string) => letter.toUpperCase());
}

const kinds = new Map<KindName, Kind>();

/** The ledger's description of a kind. Closures can be running JavaScript when they are freed, so their free waits. */
export function kindOf(name: KindName): Kind {
  let kind = kinds.get(name);
  if (kind === undefined) {
    const free = handles[name].free as keyof typeof C;
    kind = {
      name: className(name),
      free: (handle) => (C[free] as Free)(handle),
      reentrant: name.startsWith("closure"),
    };
    kinds.set(name, kind);
  }
  return kind;
}

/** A disposable of a kind that needs no methods. */
export class NativeHandle extends Handle {
  /** @internal */
  constructor(name: KindName, handle: Pointer) {
    super(internal, handle, 0, kindOf(name));
  }
}
