// Kinds `index` and `update`: reading by an index, and writing by one.
import { isArray } from "../arrays.ts";
import { compare } from "../compare.ts";
import { type Case, tagged, Unsupported } from "../format.ts";
import { decode } from "../literals.ts";
import type { Callable } from "../names.ts";

/** A part of a Python index in our notation. */
function part(value: unknown): unknown {
  const tag = tagged(value);
  if (tag?.tag === "$slice") return (tag.body as unknown[]).map((bound) => bound ?? "").join(":");
  if (tag?.tag === "$ellipsis") return "...";
  if (tag?.tag === "$newaxis") return null;
  return decode(value, false);
}

function method(self: unknown, name: string): Callable {
  if (!isArray(self)) throw new Error("the indexed value is not an array");
  const member = (self as unknown as Record<string, unknown>)[name];
  if (typeof member !== "function") throw new Unsupported(`an array has no ${name}`);
  return member.bind(self) as Callable;
}

export function prepareIndex(one: Case): () => unknown {
  const get = method(decode(one.x, false), "get");
  const parts = (one.index as unknown[]).map(part);
  return () => get(...parts);
}

export function prepareUpdate(one: Case): () => unknown {
  const at = method(decode(one.x, false), "at");
  const parts = (one.index as unknown[]).map(part);
  const value = decode(one.value, true);
  return () => writer(at(...parts), one.op as string)(value);
}

function writer(place: unknown, op: string): Callable {
  return ((place as Record<string, unknown>)[op] as Callable).bind(place);
}

export function runIndex(one: Case): string | null {
  return compare(one.expect, prepareIndex(one)(), { rtol: one.rtol ?? 0, atol: one.atol ?? 0 });
}

export function runUpdate(one: Case): string | null {
  return compare(one.expect, prepareUpdate(one)(), { rtol: one.rtol ?? 0, atol: one.atol ?? 0 });
}
