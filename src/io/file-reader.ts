/** Reads little-endian values from a file one after the other, and never past its end. */

import { closeSync, openSync, readSync, statSync } from "node:fs";
import { MlxError } from "../core/error.ts";

const WINDOW = 1 << 18;
const decoder = new TextDecoder();

/** The size of a file. Missing files, folders and pipes get words of their own; reading a pipe would wait for ever. */
export function requireFile(path: string, operation: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new MlxError(operation, `there is no file ${path}.`);
  if (stat.isFile()) return stat.size;
  throw new MlxError(operation, `${path} is not a file${stat.isDirectory() ? " but a folder" : ""}.`);
}

export class FileReader implements Disposable {
  /** Bytes read so far. */
  offset = 0;
  readonly #fd: number;
  readonly #size: number;
  readonly #truncated: (at: number, wanted: number) => Error;
  #buffer: Uint8Array<ArrayBuffer>;
  #view: DataView<ArrayBuffer>;
  #start = 0;
  #end = 0;

  /** `size` is the file's; `truncated` makes the error for a value that would end behind it. */
  constructor(path: string, size: number, truncated: (at: number, wanted: number) => Error) {
    this.#fd = openSync(path, "r");
    this.#size = size;
    this.#truncated = truncated;
    this.#buffer = new Uint8Array(WINDOW);
    this.#view = new DataView(this.#buffer.buffer);
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }

  get remaining(): number {
    return this.#size - this.offset;
  }

  /** Throws unless the file holds `bytes` more. */
  require(bytes: number): void {
    if (!(bytes <= this.remaining)) throw this.#truncated(this.offset, bytes);
  }

  /** The place of the next `bytes` in the window, which they now belong to. */
  #take(bytes: number): number {
    if (this.offset + bytes > this.#end) this.#fill(bytes);
    const at = this.offset - this.#start;
    this.offset += bytes;
    return at;
  }

  #fill(bytes: number): void {
    this.require(bytes);
    if (bytes > this.#buffer.length) {
      this.#buffer = new Uint8Array(bytes);
      this.#view = new DataView(this.#buffer.buffer);
    }
    this.#start = this.#end = this.offset;
    const wanted = Math.min(this.#buffer.length, this.remaining);
    while (this.#end - this.#start < wanted) {
      const had = this.#end - this.#start;
      const got = readSync(this.#fd, this.#buffer, had, wanted - had, this.#end);
      // The file shrank while it was read.
      if (got === 0) throw this.#truncated(this.offset, bytes);
      this.#end += got;
    }
  }

  u8(): number {
    return this.#view.getUint8(this.#take(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#take(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#take(8), true);
  }

  i8(): number {
    return this.#view.getInt8(this.#take(1));
  }

  i16(): number {
    return this.#view.getInt16(this.#take(2), true);
  }

  i32(): number {
    return this.#view.getInt32(this.#take(4), true);
  }

  i64(): bigint {
    return this.#view.getBigInt64(this.#take(8), true);
  }

  f32(): number {
    return this.#view.getFloat32(this.#take(4), true);
  }

  f64(): number {
    return this.#view.getFloat64(this.#take(8), true);
  }

  /** UTF-8 text of so many bytes. Bytes that are no UTF-8 become U+FFFD. */
  text(bytes: number): string {
    const at = this.#take(bytes);
    return decoder.decode(this.#buffer.subarray(at, at + bytes));
  }
}
