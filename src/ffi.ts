/** The raw typed functions of mlx-c, for what the array API does not cover. Nothing here checks its arguments. */

export { symbols } from "../generated/symbols.ts";
export type { Pointer } from "./backend/types.ts";
export { wrapArray } from "./core/array.ts";
export { handleOf } from "./core/handle.ts";
export { type KindName, NativeHandle } from "./core/kinds.ts";
export { C as functions, loadLibrary, type Native } from "./core/native.ts";
export { type PrivateSlot, privateSlot, readSlot, slot } from "./core/slots.ts";
export { takeNativeMessage } from "./core/error.ts";
export { VectorArray } from "./core/vector.ts";
