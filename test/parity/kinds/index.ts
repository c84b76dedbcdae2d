// Kinds `index` and `update`: reading by an index, and writing by one.
import { compare } from "../compare.ts";
import type { Case } from "../format.ts";
import { decode } from "../literals.ts";
import { callOf, part } from "./calls.ts";

export function prepareIndex(one: Case): () => unknown {
  const array = decode(one.x, false);
  const parts = (one.index as unknown[]).map(part);
  return () => callOf(array, "get", parts);
}

export function prepareUpdate(one: Case): () => unknown {
  const array = decode(one.x, false);
  const parts = (one.index as unknown[]).map(part);
  const value = decode(one.value, true);
  return () => callOf(callOf(array, "at", parts), one.op as string, [value]);
}

export function runIndex(one: Case): string | null {
  return compare(one.expect, prepareIndex(one)(), { rtol: one.rtol ?? 0, atol: one.atol ?? 0 });
}

export function runUpdate(one: Case): string | null {
  return compare(one.expect, prepareUpdate(one)(), { rtol: one.rtol ?? 0, atol: one.atol ?? 0 });
}
