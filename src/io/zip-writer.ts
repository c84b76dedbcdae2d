/** Writing zip files of up to 4 GiB: npz. */

import { crc32, deflateRawSync } from "node:zlib";
import type { Sink } from "./sink.ts";

/** From here on, numbers of the format need a wider form, which this writer does not have. */
export const LARGEST_ZIP: number = 2 ** 32 - 1;
const MOST_ENTRIES = 65534;
/** 1 January 1980, the first day that the format knows: equal arrays give equal files. */
const DAY = 0x21;
/** The name is UTF-8. */
const UTF8 = 0x800;
const VERSION = 20;

interface Written {
  name: Uint8Array;
  fields: Uint8Array;
  at: number;
}

export class ZipWriter {
  readonly #sink: Sink;
  readonly #compress: boolean;
  readonly #tooLarge: (what: string) => Error;
  readonly #entries: Written[] = [];
  #at = 0;

  /** `tooLarge` makes the error for what does not fit into the format. */
  constructor(sink: Sink, compress: boolean, tooLarge: (what: string) => Error) {
    this.#sink = sink;
    this.#compress = compress;
    this.#tooLarge = tooLarge;
  }

  #write(bytes: Uint8Array): void {
    this.#at += bytes.length;
    if (this.#at > LARGEST_ZIP) throw this.#tooLarge("more than 4 GiB");
    this.#sink.write(bytes);
  }

  add(name: string, bytes: Uint8Array): void {
    if (this.#entries.length === MOST_ENTRIES) throw this.#tooLarge(`more than ${MOST_ENTRIES} arrays`);
    const encoded = new TextEncoder().encode(name);
    if (encoded.length > 0xffff) throw this.#tooLarge(`a name of more than 65,535 bytes`);
    const packed = this.#compress ? deflateRawSync(bytes) : bytes;
    const fields = new Uint8Array(26);
    const view = new DataView(fields.buffer);
    view.setUint16(0, VERSION, true);
    view.setUint16(2, UTF8, true);
    view.setUint16(4, this.#compress ? 8 : 0, true);
    view.setUint16(8, DAY, true);
    view.setUint32(10, crc32(bytes), true);
    view.setUint32(14, packed.length, true);
    view.setUint32(18, bytes.length, true);
    view.setUint16(22, encoded.length, true);
    this.#entries.push({ name: encoded, fields, at: this.#at });
    this.#write(signature(0x04034b50));
    this.#write(fields);
    this.#write(encoded);
    this.#write(packed);
  }

  /** Writes the table of contents. */
  end(): void {
    const start = this.#at;
    for (const { name, fields, at } of this.#entries) {
      const tail = new DataView(new ArrayBuffer(14));
      tail.setUint32(10, at, true);
      this.#write(signature(0x02014b50));
      this.#write(new Uint8Array([VERSION, 0]));
      this.#write(fields);
      this.#write(new Uint8Array(tail.buffer));
      this.#write(name);
    }
    const view = new DataView(new ArrayBuffer(18));
    view.setUint16(4, this.#entries.length, true);
    view.setUint16(6, this.#entries.length, true);
    view.setUint32(8, this.#at - start, true);
    view.setUint32(12, start, true);
    this.#write(signature(0x06054b50));
    this.#write(new Uint8Array(view.buffer));
  }
}

function signature(word: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, word, true);
  return new Uint8Array(view.buffer);
}
