/** The trailing options object that every operation takes. */

import { describe } from "./describe.ts";
import { isComplex } from "./scalar.ts";
import { refuse } from "./temporaries.ts";

/** True for a plain options object: not an Array, a list, a typed array or a complex scalar. */
export function isOptions(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value) as unknown;
  return (prototype === Object.prototype || prototype === null) && !isComplex(value);
}

/** Refuses anything but an options object with known names. */
export function checkOptions(options: unknown, allowed: readonly string[], op: string): void {
  if (!isOptions(options)) {
    refuse(
      new TypeError(
        `${op}: the last argument must be an options object ({ ${allowed.join(", ")} }), got ${describe(options)}.`,
      ),
    );
  }
  for (const key in options) {
    if (!allowed.includes(key)) refuse(new TypeError(unknownOption(key, allowed, op)));
  }
}

function unknownOption(key: string, allowed: readonly string[], op: string): string {
  const near = nearest(key, allowed);
  const meant = near === null ? "" : ` Did you mean "${near}"?`;
  return `${op}: unknown option "${key}".${meant} The options are ${allowed.join(", ")}.`;
}

function nearest(word: string, among: readonly string[]): string | null {
  let best: string | null = null;
  let least = Math.max(2, Math.floor(word.length / 2));
  for (const candidate of among) {
    const d = distance(word.toLowerCase().replaceAll("_", ""), candidate.toLowerCase());
    if (d < least) [best, least] = [candidate, d];
  }
  return best;
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length]!;
}
