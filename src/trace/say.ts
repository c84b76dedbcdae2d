/** Lines on stderr. */

import { writeSync } from "node:fs";

/** Writes to stderr at once. Where that is closed or full, nothing: a program must not fail because it is recorded. */
export function say(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    return;
  }
}
