/**
 * What the floors above need from a JavaScript runtime: native calls, raw memory, callbacks and the garbage
 * collector. One implementation per runtime stands beside this file; nothing above it knows which one runs.
 */

/** An address or a native handle. Addresses fit a double: user space is 47 bits wide on every platform served. */
export type Pointer = number;

/** The type names of `bun:ffi` that the generated table uses. */
export type FFIName =
  "ptr" | "bool" | "u8" | "u16" | "i32" | "u32" | "i64" | "u64" | "i64_fast" | "u64_fast" | "f32" | "f64" | "void";

export interface FunctionType {
  readonly args: readonly FFIName[];
  readonly returns: FFIName;
}

export type SymbolTable = Readonly<Record<string, FunctionType>>;

// biome-ignore lint: the generated `Native` type gives each function its own signature.
export type NativeFunction = (...args: any[]) => any;

/** A JavaScript function that native code can call. Free every native object that holds it before closing it. */
export interface Callback {
  readonly pointer: Pointer;
  close(): void;
}

export interface Backend {
  readonly name: string;
  readonly version: string;
  /** Opens a shared library and resolves every symbol of the table; throws when one is missing. */
  open(path: string, table: SymbolTable): Record<string, NativeFunction>;
  /** The address of a function of an opened library, to hand to native code. */
  symbolAddress(name: string): Pointer;
  /** The address of an explicit `ArrayBuffer`. Views over small typed arrays move: never pass their buffers. */
  address(buffer: ArrayBuffer): Pointer;
  /** A view of native memory, not a copy and not retained: the caller keeps the memory alive while it reads. */
  view(pointer: Pointer, byteLength: number): ArrayBuffer;
  /**
   * The same for memory that the buffer itself keeps: when the buffer goes, detached or collected, `release` is called
   * with the address and `context`, on whichever thread that happens. So it must be a native function.
   */
  lend(pointer: Pointer, byteLength: number, context: Pointer, release: Pointer): ArrayBuffer;
  /** The text at a NUL-terminated UTF-8 address. */
  text(pointer: Pointer): string;
  readPointer(pointer: Pointer, offset: number): Pointer;
  readI32(pointer: Pointer, offset: number): number;
  callback(fn: NativeFunction, type: FunctionType): Callback;
  /** Collects short-lived garbage now, so that cleared weak references can be seen in this very job. */
  collectYoung(): void;
  /** Collects all garbage now. */
  collectAll(): void;
}
