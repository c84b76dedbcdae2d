/**
 * Deflated bytes unpacked piece by piece, straight to where they are read to: the runtime's zlib gives all of them at
 * once, which for a large array takes its memory twice.
 * The system's zlib is used, which Linux and macOS have; without it the runtime's does it at once.
 */

import { crc32 } from "node:zlib";
import type { NativeFunction, SymbolTable } from "../backend/types.ts";
import { backend } from "../core/native.ts";
import { textAddress } from "../core/scratch.ts";
import { ByteSource, DAMAGED } from "./source.ts";
import type { ZipEntry } from "./zip-directory.ts";

const table: SymbolTable = {
  inflateInit2_: { args: ["ptr", "i32", "ptr", "i32"], returns: "i32" },
  inflate: { args: ["ptr", "i32"], returns: "i32" },
  inflateReset: { args: ["ptr"], returns: "i32" },
  inflateEnd: { args: ["ptr"], returns: "i32" },
};

type Zlib = Record<"inflateInit2_" | "inflate" | "inflateReset" | "inflateEnd", NativeFunction>;
let zlib: Zlib | null | undefined;

/** The system's zlib; null where there is none. */
function systemZlib(): Zlib | null {
  if (zlib === undefined) {
    try {
      zlib = backend.open(process.platform === "darwin" ? "/usr/lib/libz.1.dylib" : "libz.so.1", table) as Zlib;
    } catch {
      zlib = null;
    }
  }
  return zlib;
}

// Places in zlib's z_stream, which is the same on every 64-bit system.
const STREAM = 112;
const NEXT_IN = 0;
const AVAIL_IN = 8;
const NEXT_OUT = 24;
const AVAIL_OUT = 32;

const END = 1;
/** No header and no trailer around the deflated bytes. */
const RAW = -15;
/** Packed bytes are read, and bytes that nobody asked for unpacked, this many at a time. */
const WINDOW = 1 << 16;

/** The bytes that an entry stands for, unpacked as they are read, from front to back. */
export class InflatedSource extends ByteSource {
  readonly #zlib: Zlib;
  readonly #packed: ByteSource;
  readonly #entry: ZipEntry;
  readonly #stream = new DataView(new ArrayBuffer(STREAM));
  readonly #address: number;
  readonly #input = new ArrayBuffer(WINDOW);
  readonly #window = new ArrayBuffer(WINDOW);
  #read = 0;
  #at = 0;
  #crc = 0;
  #ended = false;

  constructor(library: Zlib, packed: ByteSource, entry: ZipEntry) {
    super(packed.operation, packed.name, entry.size);
    this.#zlib = library;
    this.#packed = packed;
    this.#entry = entry;
    this.#address = backend.address(this.#stream.buffer);
    const status = library.inflateInit2_(this.#address, RAW, textAddress("1.2.11"), STREAM) as number;
    if (status !== 0) throw packed.error(`zlib cannot be started (${status}).`);
  }

  /** The source of an entry, or null where the system has no zlib. */
  static open(packed: ByteSource, entry: ZipEntry): InflatedSource | null {
    const library = systemZlib();
    return library === null ? null : new InflatedSource(library, packed, entry);
  }

  override fill(offset: number, into: Uint8Array): boolean {
    if (offset < this.#at) this.#restart();
    this.#skipTo(offset);
    if (into.length < WINDOW) {
      // A small array may move: its bytes pass through a buffer that does not.
      const window = new Uint8Array(this.#window, 0, into.length);
      this.#unpack(backend.address(this.#window), window);
      into.set(window);
    } else {
      this.#unpack(backend.address(into.buffer as ArrayBuffer) + into.byteOffset, into);
    }
    return true;
  }

  /** Unpacks what has not been read, and checks the length and the checksum of the whole. */
  finish(): void {
    this.#skipTo(this.size);
    if (this.#produce(backend.address(this.#window), 1) !== 0) {
      throw this.error(`it cannot be decompressed to ${this.size} bytes: there are more. ${DAMAGED}`);
    }
    if (this.#crc !== this.#entry.crc) {
      throw this.error(`its bytes do not have the checksum that they should. ${DAMAGED}`);
    }
  }

  override [Symbol.dispose](): void {
    this.#zlib.inflateEnd(this.#address);
  }

  #restart(): void {
    this.#zlib.inflateReset(this.#address);
    this.#stream.setUint32(AVAIL_IN, 0, true);
    this.#read = 0;
    this.#at = 0;
    this.#crc = 0;
    this.#ended = false;
  }

  #skipTo(offset: number): void {
    while (this.#at < offset) {
      const length = Math.min(WINDOW, offset - this.#at);
      this.#unpack(backend.address(this.#window), new Uint8Array(this.#window, 0, length));
    }
  }

  /** The next bytes, written to `address`, where `bytes` looks. */
  #unpack(address: number, bytes: Uint8Array): void {
    const got = this.#produce(address, bytes.length);
    if (got < bytes.length) {
      throw this.error(`it decompresses to ${this.#at + got} bytes instead of ${this.size}. ${DAMAGED}`);
    }
    this.#crc = crc32(bytes, this.#crc);
    this.#at += got;
  }

  /** Unpacks up to `length` bytes; fewer at the end. */
  #produce(address: number, length: number): number {
    const stream = this.#stream;
    let left = length;
    while (left > 0 && !this.#ended) {
      if (stream.getUint32(AVAIL_IN, true) === 0) this.#refill();
      stream.setBigUint64(NEXT_OUT, BigInt(address + length - left), true);
      stream.setUint32(AVAIL_OUT, left, true);
      const status = this.#zlib.inflate(this.#address, 0) as number;
      const rest = stream.getUint32(AVAIL_OUT, true);
      const stuck = rest === left && status !== END && stream.getUint32(AVAIL_IN, true) === 0 && this.#exhausted;
      left = rest;
      this.#ended = status === END;
      // -5: nothing can go on with what there is; more may follow.
      if ((status < 0 && status !== -5) || stuck) {
        throw this.error(`it cannot be decompressed to ${this.size} bytes (zlib ${status}). ${DAMAGED}`);
      }
    }
    return length - left;
  }

  get #exhausted(): boolean {
    return this.#read === this.#packed.size;
  }

  #refill(): void {
    const length = Math.min(WINDOW, this.#packed.size - this.#read);
    this.#packed.readInto(this.#read, new Uint8Array(this.#input, 0, length), "the compressed data");
    this.#read += length;
    this.#stream.setBigUint64(NEXT_IN, BigInt(backend.address(this.#input)), true);
    this.#stream.setUint32(AVAIL_IN, length, true);
  }
}
