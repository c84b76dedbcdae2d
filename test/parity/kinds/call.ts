// Kind `call`: one function, method or property with arguments, and its result.
import { isArray } from "../arrays.ts";
import { compare } from "../compare.ts";
import { type Case, Unsupported } from "../format.ts";
import { decodeCall } from "../literals.ts";
import { type Callable, camelCase, resolveFunction } from "../names.ts";

/** A call that is ready to run: everything that could be the harness's own mistake lies behind it. */
export function prepareCall(one: Case): () => unknown {
  const fn = one.fn ?? "";
  const args = one.args as unknown[];
  const kwargs = (one.kwargs ?? {}) as Record<string, unknown>;
  if (!fn.startsWith("array.")) {
    const target = resolveFunction(fn);
    const decoded = decodeCall(fn, args, kwargs);
    return () => target(...decoded);
  }
  const [self, ...rest] = decodeCall(fn, args, kwargs);
  const name = camelCase(fn.slice("array.".length));
  if (!isArray(self)) throw new Error(`${fn}: the first argument is not an array`);
  if (!(name in self)) throw new Unsupported(`an array has no ${name}`);
  const member = (self as unknown as Record<string, unknown>)[name];
  if (typeof member === "function") return () => (member as Callable).apply(self, rest);
  if (rest.length > 0) throw new Error(`${fn} is a property and takes no arguments`);
  return () => member;
}

export function runCall(one: Case): string | null {
  return compare(one.expect, prepareCall(one)(), { rtol: one.rtol ?? 0, atol: one.atol ?? 0 });
}
