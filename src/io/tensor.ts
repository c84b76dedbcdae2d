/** Arrays from the bytes of a file, read at once into memory of MLX's own. */

import { type MxArray, wrapArray } from "../core/array.ts";
import { C } from "../core/call.ts";
import { type Dtype, dtypeCodes, dtypeSize } from "../core/dtype.ts";
import { check } from "../core/error.ts";
import { evaluateOne } from "../core/evaluate.ts";
import { backend } from "../core/native.ts";
import { int32Address } from "../core/scratch.ts";
import { readSlot, slot } from "../core/slots.ts";
import { tensorBytes } from "./sizes.ts";
import type { ByteSource } from "./source.ts";

export interface TensorPlace {
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  /** Where the first byte is. */
  readonly offset: number;
  readonly fortranOrder?: boolean;
  readonly bigEndian?: boolean;
  /** What it is called in errors. */
  readonly part: string;
}

/** Up to here a tensor passes through a JavaScript buffer. */
const SMALL = 1 << 16;
/** A multiple of every element size. Views over native memory are limited in size. */
const CHUNK = 1 << 24;

/**
 * Reads a tensor. MLX would read it later, when the file may have changed, and takes a short read for a whole one;
 * here a read that comes up short is an error. No more memory is taken than the array needs.
 */
export function readTensor(source: ByteSource, place: TensorPlace, stream: number): MxArray {
  const shape = place.fortranOrder === true ? place.shape.toReversed() : place.shape;
  const bytes = tensorBytes(shape, place.dtype);
  source.require(place.offset, bytes, place.part);
  const array =
    bytes <= SMALL ? readSmall(source, place, shape, bytes) : readLarge(source, place, shape, bytes, stream);
  return place.fortranOrder === true && shape.length > 1 ? flipped(array, source.operation, stream) : array;
}

// An address does not keep its buffer alive: it is held here until native code has copied it.
let held: ArrayBuffer | null = null;

function readSmall(source: ByteSource, place: TensorPlace, shape: readonly number[], bytes: number): MxArray {
  const buffer = new ArrayBuffer(Math.max(bytes, 8));
  readElements(source, place, 0, new Uint8Array(buffer, 0, bytes));
  held = buffer;
  const address = backend.address(buffer);
  const handle = C.mlx_array_new_data(address, int32Address(shape), shape.length, dtypeCodes[place.dtype]);
  held = null;
  check(handle ? 0 : 1, source.operation);
  return wrapArray(handle);
}

function readLarge(
  source: ByteSource,
  place: TensorPlace,
  shape: readonly number[],
  bytes: number,
  stream: number,
): MxArray {
  const out = slot();
  check(C.mlx_zeros(out, int32Address(shape), shape.length, dtypeCodes[place.dtype], stream), source.operation);
  const array = wrapArray(readSlot(out));
  try {
    // Nobody else has seen this array yet, so its memory may still be written.
    const address = C.mlxts_array_data(evaluateOne(array, source.operation));
    check(address ? 0 : 1, source.operation);
    for (let done = 0; done < bytes; done += CHUNK) {
      const length = Math.min(CHUNK, bytes - done);
      readElements(source, place, done, new Uint8Array(backend.view(address + done, length)));
    }
    return array;
  } catch (error) {
    array.dispose();
    throw error;
  }
}

function readElements(source: ByteSource, place: TensorPlace, done: number, into: Uint8Array): void {
  source.readInto(place.offset + done, into, place.part);
  if (place.bigEndian !== true) return;
  const size = place.dtype === "complex64" ? 4 : dtypeSize(place.dtype);
  const swapped = Buffer.from(into.buffer, into.byteOffset, into.length);
  if (size === 2) swapped.swap16();
  else if (size === 4) swapped.swap32();
  else if (size === 8) swapped.swap64();
}

/** The view with its axes reversed. */
function flipped(array: MxArray, operation: string, stream: number): MxArray {
  const out = slot();
  const status = C.mlx_transpose(out, evaluateOne(array, operation), stream);
  const view = status === 0 ? wrapArray(readSlot(out)) : null;
  array.dispose();
  check(status, operation);
  return view!;
}
