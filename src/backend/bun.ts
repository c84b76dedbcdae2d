/** The Bun backend: the only file that imports `bun:ffi` and `bun:jsc`. */

import { CString, dlopen, JSCallback, ptr, read, toArrayBuffer } from "bun:ffi";
import { edenGC, fullGC, releaseWeakRefs } from "bun:jsc";
import type { Backend, Callback, FunctionType, NativeFunction, Pointer, SymbolTable } from "./types.ts";

type BunPointer = Parameters<typeof toArrayBuffer>[0];

// The types of Bun 1.4.5 leave out the last two parameters, which its documentation has.
const lendArrayBuffer = toArrayBuffer as (
  pointer: BunPointer,
  offset: number,
  byteLength: number,
  context: BunPointer,
  release: BunPointer,
) => ArrayBuffer;

/** What dlopen returns: a function that also knows its address. */
type BunFunction = NativeFunction & { readonly ptr?: number | bigint };

const functions: Record<string, BunFunction> = {};

export const bun: Backend = {
  name: "bun",
  version: Bun.version,

  open(path: string, table: SymbolTable): Record<string, NativeFunction> {
    const opened = dlopen(path, table as Parameters<typeof dlopen>[1]).symbols as Record<string, BunFunction>;
    Object.assign(functions, opened);
    return opened;
  },

  symbolAddress(name: string): Pointer {
    const address = functions[name]?.ptr;
    if (address === undefined) throw new Error(`no opened library has the function ${name}`);
    return Number(address);
  },

  address(buffer: ArrayBuffer): Pointer {
    return ptr(buffer) as number;
  },

  view(pointer: Pointer, byteLength: number): ArrayBuffer {
    return toArrayBuffer(pointer as BunPointer, 0, byteLength);
  },

  lend(pointer: Pointer, byteLength: number, context: Pointer, release: Pointer): ArrayBuffer {
    return lendArrayBuffer(pointer as BunPointer, 0, byteLength, context as BunPointer, release as BunPointer);
  },

  text(pointer: Pointer): string {
    return new CString(pointer as BunPointer).toString();
  },

  readPointer(pointer: Pointer, offset: number): Pointer {
    return read.ptr(pointer as BunPointer, offset);
  },

  readI32(pointer: Pointer, offset: number): number {
    return read.i32(pointer as BunPointer, offset);
  },

  callback(fn: NativeFunction, type: FunctionType): Callback {
    const callback = new JSCallback(fn, type as ConstructorParameters<typeof JSCallback>[1]);
    return { pointer: callback.ptr as number, close: () => callback.close() };
  },

  // A WeakRef keeps its target alive for the rest of the job that made or read it. Without the release, a
  // collection in a synchronous loop clears nothing.
  collectYoung(): void {
    releaseWeakRefs();
    edenGC();
  },

  collectAll(): void {
    releaseWeakRefs();
    fullGC();
  },
};
