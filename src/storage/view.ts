/** The storage view: what an export gives, and how its bytes are taken back. */

import type { Pointer } from "../backend/types.ts";
import type { MxArray } from "../core/array.ts";
import type { Dtype } from "../core/dtype.ts";
import { check, MlxError, takeNativeMessage } from "../core/error.ts";
import { Handle, handleOf, internal } from "../core/handle.ts";
import type { Kind } from "../core/ledger.ts";
import { backend as runtime, C } from "../core/native.ts";
import { LARGEST_BYTES, type TypedArray, typedOver } from "../core/readback.ts";
import { readSlot, slot } from "../core/slots.ts";
import { type DLPackCapsule, capsuleOf } from "./dlpack.ts";
import { gather } from "./gather.ts";
import type { StorageBackend, StorageLayout, StorageSpan } from "./layout.ts";
import type { StorageShim } from "./shim.ts";

/** What a view shows, read once when it was made: the array behind it never changes. */
interface Facts {
  readonly backend: StorageBackend;
  readonly dtype: Dtype;
  readonly layout: StorageLayout;
  readonly span: StorageSpan;
  readonly buffer: Pointer;
  readonly bufferId: number;
  readonly device: Pointer;
}

// As it was before any program replaced it: to dispose never throws.
const { transfer } = ArrayBuffer.prototype;

/**
 * The buffer that a view has lent, so that whoever frees the view's handle can take it back: `dispose`, the end of
 * `tidy`, the end of a Worker. Held weakly, or a forgotten view would stay for ever.
 */
class Loan {
  buffer: WeakRef<ArrayBuffer> | null = null;

  revoke(): void {
    const lent = this.buffer?.deref();
    this.buffer = null;
    // A buffer that something else is reading is pinned, and stays as it is: it holds the storage by itself.
    if (lent !== undefined && !lent.detached) transfer.call(lent, 0);
  }
}

// As long as somebody has the bytes, the view that they were read from is not forgotten: or the ledger would take back
// bytes that are in use.
const lenders = new WeakMap<ArrayBuffer, StorageView>();

/**
 * The storage of an evaluated array: where it is, how the array lies in it, and its bytes without a copy. It holds the
 * storage, so that MLX writes nothing else there, until it is disposed; then every array of its bytes has length 0, and
 * every member throws a DisposedError. It is a snapshot: what updates an array makes a new one.
 *
 * The bytes are for reading. JavaScript cannot forbid to write them; to do so changes the array, and every array that
 * shares its storage, under MLX's feet. Made by `exportStorage`.
 */
export class StorageView extends Handle {
  readonly #facts: Facts;
  readonly #loan: Loan;
  readonly #shim: StorageShim;
  #lent: ArrayBuffer | null = null;

  /** @internal Owns `handle`. */
  constructor(key: typeof internal, handle: Pointer, facts: Facts, shim: StorageShim) {
    const loan = new Loan();
    const kind: Kind = {
      name: "StorageView",
      free: (held) => {
        loan.revoke();
        C.mlx_array_free(held);
      },
    };
    super(key, handle, key === internal ? facts.span.storageSpanNbytes : 0, kind);
    this.#facts = facts;
    this.#loan = loan;
    this.#shim = shim;
  }

  #live(member: string): Facts {
    handleOf(this, member, "StorageView");
    return this.#facts;
  }

  /** Where the storage lives: "metal", "cpu" or "cuda". */
  get backend(): StorageBackend {
    return this.#live("backend").backend;
  }

  /**
   * The address of MLX's buffer object: an MTL::Buffer* on Metal, elsewhere the allocator's own block. The array's first
   * element is `byteOffset` bytes into what the object stands for.
   */
  get buffer(): number {
    return this.#live("buffer").buffer;
  }

  /** The address of the buffer's MTL::Device; 0 where there is none. */
  get device(): number {
    return this.#live("device").device;
  }

  /** A number that the views of one storage share while it lives. */
  get bufferId(): number {
    return this.#live("bufferId").bufferId;
  }

  /** Bytes of the whole buffer, which may be more than was asked for. */
  get bufferNbytes(): number {
    return this.#live("bufferNbytes").layout.bufferBytes;
  }

  /** Bytes from the start of the buffer to the first element in logical order. */
  get byteOffset(): number {
    return this.#live("byteOffset").layout.byteOffset;
  }

  /** Bytes of the elements in logical order. More than are stored where elements are repeated. */
  get logicalNbytes(): number {
    return this.#live("logicalNbytes").span.logicalNbytes;
  }

  /** Bytes of the stored elements as MLX counts them: with the gaps, without repetitions. */
  get storageSpanNbytes(): number {
    return this.#live("storageSpanNbytes").span.storageSpanNbytes;
  }

  /** The first byte of the buffer that an element reaches: below `byteOffset` where a stride is negative. */
  get firstByte(): number {
    return this.#live("firstByte").span.firstByte;
  }

  /** The byte behind the last one that an element reaches. */
  get endByte(): number {
    return this.#live("endByte").span.endByte;
  }

  /** The element type. */
  get dtype(): Dtype {
    return this.#live("dtype").dtype;
  }

  /** The length of each axis. */
  get shape(): number[] {
    return [...this.#live("shape").layout.shape];
  }

  /** Elements from one index of an axis to the next: 0 where one element is repeated, negative where order is reversed. */
  get strides(): number[] {
    return [...this.#live("strides").layout.strides];
  }

  /** MLX's flag: the stored elements have no gaps. True for a repeated element too. */
  get contiguous(): boolean {
    return this.#live("contiguous").layout.flags.contiguous;
  }

  /** MLX's flag: row-major order, no gaps, no repetitions. */
  get rowContiguous(): boolean {
    return this.#live("rowContiguous").layout.flags.rowContiguous;
  }

  /** MLX's flag: column-major order, no gaps, no repetitions. */
  get colContiguous(): boolean {
    return this.#live("colContiguous").layout.flags.colContiguous;
  }

  /** True when `bytes` are a copy on the host: on CUDA, with `{ host: true }`. */
  get hostCopy(): boolean {
    return this.#live("hostCopy").backend === "cuda";
  }

  /**
   * The bytes from `firstByte` to `endByte`, without a copy (but see `hostCopy`); the same Uint8Array's buffer each time.
   * Detached, with length 0, once the view is disposed. Do not write to them. Throws a RangeError past the 4 GiB that
   * one buffer holds.
   */
  get bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#lend("bytes"));
  }

  /**
   * `bytes` as elements, in the order of the storage: a Uint16Array of bits for bfloat16, pairs for complex64, a
   * Uint8Array for bool, as `toTypedArray` has them. Element i of an array with strides is not element i of this.
   */
  typed(): TypedArray {
    return typedOver(this.#lend("typed"), this.#live("typed").dtype);
  }

  /** The elements in row-major order, whatever the strides: a copy that outlives the view. */
  copy(): TypedArray {
    const { layout, span, dtype } = this.#live("copy");
    refuseHuge(span.logicalNbytes, "copy");
    if (span.logicalNbytes === 0) return typedOver(new ArrayBuffer(0), dtype);
    return typedOver(gather(layout, this.#hostAddress("copy") + layout.byteOffset, "copy"), dtype);
  }

  /**
   * The array for a consumer in this process that speaks DLPack 1.0: read-only, on the host, with the array's strides.
   * The capsule holds the storage by itself, and may outlive this view. Throws an MlxError for a view with `hostCopy`.
   * Python: a.__dlpack__().
   */
  toDLPack(): DLPackCapsule {
    const { backend } = this.#live("toDLPack");
    if (backend === "cuda") {
      throw new MlxError("toDLPack", "the storage is not readable by the host; take copy() and hand that out");
    }
    return capsuleOf(this.entry.handle, "toDLPack");
  }

  override toString(): string {
    const { backend, dtype, layout, span } = this.#live("toString");
    const shape = layout.shape.join(", ");
    return `StorageView(${backend}, ${dtype}[${shape}], bytes ${span.firstByte} to ${span.endByte} of ${layout.bufferBytes})`;
  }

  #lend(member: string): ArrayBuffer {
    const { backend, span } = this.#live(member);
    // One that the program has transferred elsewhere is out of reach: there is another, then.
    if (this.#lent !== null && !this.#lent.detached) return this.#lent;
    const size = span.endByte - span.firstByte;
    refuseHuge(size, member);
    const made = size === 0 ? new ArrayBuffer(0) : this.#read(backend, size, member);
    this.#lent = made;
    this.#loan.buffer = new WeakRef(made);
    lenders.set(made, this);
    return made;
  }

  /** Where the buffer begins, for the host. */
  #hostAddress(member: string): Pointer {
    const base = this.#shim.hostAddress(this.entry.handle);
    if (base === 0) throw new MlxError(member, "the host cannot read the storage: take toTypedArray() of the array");
    return base;
  }

  #read(backend: StorageBackend, size: number, member: string): ArrayBuffer {
    const address = this.#hostAddress(member) + this.#facts.span.firstByte;
    if (backend === "cuda") return runtime.view(address, size).slice(0);
    // The buffer holds the storage by itself: it may be pinned by a reader, or sent to a Worker, when the view goes.
    const held = C.mlxts_storage_hold(this.entry.handle);
    if (!held) throw new MlxError(member, takeNativeMessage());
    try {
      return runtime.lend(address, size, held, runtime.symbolAddress("mlxts_storage_drop"));
    } catch (error) {
      C.mlx_array_free(held);
      throw error;
    }
  }
}

function refuseHuge(bytes: number, member: string): void {
  if (bytes <= LARGEST_BYTES) return;
  throw new RangeError(`${member}: ${bytes} bytes are more than one buffer holds: export slices of the array.`);
}

/** The view of an array whose storage has been found in order. */
export function viewOf(
  array: MxArray,
  backend: StorageBackend,
  found: { readonly layout: StorageLayout; readonly span: StorageSpan },
  operation: string,
  shim: StorageShim,
): StorageView {
  const source = handleOf(array, operation, "Array");
  const buffer = shim.buffer(source);
  const facts: Facts = {
    backend,
    dtype: array.dtype,
    layout: found.layout,
    span: found.span,
    buffer,
    bufferId: shim.bufferId(source),
    device: backend === "metal" ? shim.device(buffer) : 0,
  };
  // A handle of its own: the array may go first, and MLX reuses no storage that two hold.
  const out = slot();
  check(C.mlx_array_set(out, source), operation);
  return new StorageView(internal, readSlot(out), facts, shim);
}
