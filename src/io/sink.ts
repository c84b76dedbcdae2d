/** Where bytes that are saved go: a file, or memory. */

import { closeSync, openSync, writeSync } from "node:fs";

export interface Sink {
  /** Takes the bytes now: they may change afterwards. */
  write(bytes: Uint8Array): void;
}

/** Creates a file and writes it from the front. */
export function writeFileThrough(path: string, fill: (sink: Sink) => void): void {
  const fd = openSync(path, "wx");
  try {
    fill({
      write(bytes) {
        for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done, bytes.length - done);
      },
    });
  } finally {
    closeSync(fd);
  }
}

/** Collects bytes, and joins them at the end. */
export class MemorySink implements Sink {
  readonly #parts: Uint8Array[] = [];
  #size = 0;

  write(bytes: Uint8Array): void {
    this.#parts.push(bytes.slice());
    this.#size += bytes.length;
  }

  take(): Uint8Array<ArrayBuffer> {
    const whole = new Uint8Array(this.#size);
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }
}
