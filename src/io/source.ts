/** Where a file's bytes come from: the disk, or memory. Every read is checked, so nothing is ever made up. */

import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { MlxError } from "../core/error.ts";
import { requireFile } from "./file-reader.ts";

export const DAMAGED = "The file is incomplete or damaged.";

export abstract class ByteSource implements Disposable {
  /** The function that was called, for errors. */
  readonly operation: string;
  /** The path, or what else these bytes are called in errors. */
  readonly name: string;
  readonly size: number;

  constructor(operation: string, name: string, size: number) {
    this.operation = operation;
    this.name = name;
    this.size = size;
  }

  /** Fills `into` with the bytes from `offset` on; false when they are not all there. */
  abstract fill(offset: number, into: Uint8Array): boolean;

  [Symbol.dispose](): void {}

  error(what: string): MlxError {
    return new MlxError(this.operation, `${this.name}: ${what}`);
  }

  /** Throws unless `length` bytes follow `offset`. `part` is what they are. */
  require(offset: number, length: number, part: string): void {
    if (offset + length <= this.size) return;
    throw this.error(
      `the file ends inside ${part}: ${length} bytes are due at byte ${offset}, but it has only ${this.size}. ${DAMAGED}`,
    );
  }

  readInto(offset: number, into: Uint8Array, part: string): void {
    this.require(offset, into.length, part);
    if (!this.fill(offset, into)) throw this.error(`the file became shorter while ${part} was read.`);
  }

  /** A copy of some bytes. The length is checked before memory is taken for them. */
  read(offset: number, length: number, part: string): Uint8Array<ArrayBuffer> {
    this.require(offset, length, part);
    const bytes = new Uint8Array(length);
    this.readInto(offset, bytes, part);
    return bytes;
  }
}

/** A file on disk. It stays open, so what is read is one file even when another takes its name meanwhile. */
export class FileSource extends ByteSource {
  readonly #fd: number;

  constructor(operation: string, path: string, fd: number, size: number) {
    super(operation, path, size);
    this.#fd = fd;
  }

  static open(operation: string, path: string): FileSource {
    // Before the opening, which waits for ever on a pipe.
    requireFile(path, operation);
    let fd: number;
    try {
      fd = openSync(path, "r");
    } catch (error) {
      throw new MlxError(operation, `${path} cannot be opened: ${(error as Error).message}.`);
    }
    return new FileSource(operation, path, fd, fstatSync(fd).size);
  }

  override fill(offset: number, into: Uint8Array): boolean {
    for (let done = 0; done < into.length;) {
      const got = readSync(this.#fd, into, done, into.length - done, offset + done);
      if (got === 0) return false;
      done += got;
    }
    return true;
  }

  override [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}

/** Bytes in memory. They are read at once, never later. */
export class BytesSource extends ByteSource {
  readonly #bytes: Uint8Array;

  constructor(operation: string, name: string, bytes: Uint8Array) {
    super(operation, name, bytes.length);
    this.#bytes = bytes;
  }

  override fill(offset: number, into: Uint8Array): boolean {
    if (offset + into.length > this.#bytes.length) return false;
    into.set(this.#bytes.subarray(offset, offset + into.length));
    return true;
  }
}

/** A part of another source, which counts from 0 and ends where the part ends. */
export class PartSource extends ByteSource {
  readonly #whole: ByteSource;
  readonly #start: number;

  constructor(whole: ByteSource, name: string, start: number, size: number) {
    super(whole.operation, name, size);
    this.#whole = whole;
    this.#start = start;
  }

  override fill(offset: number, into: Uint8Array): boolean {
    return this.#whole.fill(this.#start + offset, into);
  }
}
