/**
 * A checksum behind an exported function. MLX reads such files without any check, and a damaged one can crash it; what
 * follows the last function it never looks at, so Python MLX reads sealed files as well.
 */

import { createHash } from "node:crypto";
import { appendFileSync, closeSync, openSync, readSync } from "node:fs";

const mark = Buffer.from("mlx-ts sha256 1\n", "latin1");
const length = mark.length + 32;
const WINDOW = 1 << 20;

/** Calls `use` with the parts of a file's first `size` bytes. */
function readParts(path: string, size: number, use: (part: Uint8Array) => void): void {
  const fd = openSync(path, "r");
  try {
    const buffer = new Uint8Array(Math.min(WINDOW, Math.max(size, 1)));
    for (let at = 0; at < size;) {
      const got = readSync(fd, buffer, 0, Math.min(buffer.length, size - at), at);
      if (got === 0) return;
      use(buffer.subarray(0, got));
      at += got;
    }
  } finally {
    closeSync(fd);
  }
}

function digest(path: string, size: number): Buffer {
  const hash = createHash("sha256");
  readParts(path, size, (part) => hash.update(part));
  return hash.digest();
}

/** Puts the seal behind a file of so many bytes. */
export function seal(path: string, size: number): void {
  appendFileSync(path, Buffer.concat([mark, digest(path, size)]));
}

/** What a file's seal says: it has none, it fits, or the bytes before it are not those that were sealed. */
export type SealState = "none" | "whole" | "broken";

export function checkSeal(path: string, size: number): SealState {
  if (size < length) return "none";
  const end = Buffer.alloc(length);
  const fd = openSync(path, "r");
  try {
    readSync(fd, end, 0, length, size - length);
  } finally {
    closeSync(fd);
  }
  if (!end.subarray(0, mark.length).equals(mark)) return "none";
  return end.subarray(mark.length).equals(digest(path, size - length)) ? "whole" : "broken";
}
