// What the kinds share: calling a method by name, and a part of an index in our notation.
import { isArray } from "../arrays.ts";
import { tagged, Unsupported } from "../format.ts";
import { decode } from "../literals.ts";
import type { Callable } from "../names.ts";

/** Calls a method, or reads a property when there are no arguments and it is none. */
export function callOf(self: unknown, name: string, args: unknown[]): unknown {
  const member = (self as Record<string, unknown> | undefined)?.[name];
  if (member === undefined) throw new Unsupported(`there is no ${name}`);
  return typeof member === "function" ? (member as Callable).apply(self, args) : member;
}

/** A part of a Python index in our notation. */
export function part(value: unknown): unknown {
  if (isArray(value)) return value;
  const tag = tagged(value);
  if (tag?.tag === "$slice") return (tag.body as unknown[]).map((bound) => bound ?? "").join(":");
  if (tag?.tag === "$ellipsis") return "...";
  if (tag?.tag === "$newaxis") return null;
  return decode(value, false);
}
