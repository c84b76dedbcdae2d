/** What the program itself puts into a trace. */

import { describe } from "../core/describe.ts";
import type { Details } from "../core/hooks.ts";
import { requireFunction } from "../core/scope.ts";
import { active, mark as markNow, open } from "./tracer.ts";

function checkName(name: unknown, operation: string): void {
  if (typeof name !== "string") throw new TypeError(`${operation}: name must be a string, got ${describe(name)}.`);
}

function checkDetails(details: unknown, operation: string): void {
  if (details === undefined) return;
  if (typeof details === "object" && details !== null && !Array.isArray(details)) return;
  throw new TypeError(`${operation}: details must be an object, got ${describe(details)}.`);
}

function plain(value: unknown): boolean {
  return value === null || ["string", "boolean", "undefined"].includes(typeof value) || Number.isFinite(value);
}

/** What a file can hold of one value. */
function writtenValue(value: unknown): unknown {
  if (plain(value)) return value;
  // A list of their own: one may be changed later, or say itself what stands for it in JSON.
  if (Array.isArray(value) && value.length <= 100 && value.every(plain)) return Array.from<unknown>(value);
  return describe(value);
}

const UNREADABLE = "cannot be read";

/**
 * What a file can hold. Of anything but plain values and lists of them, a few words: an Array must not be computed.
 * Never throws: a program must not fail because it is recorded.
 */
function written(details: Details | undefined): Details {
  try {
    const entries = Object.entries(details ?? {}).map(([name, value]) => [name, writtenValue(value)] as const);
    return Object.fromEntries(entries);
  } catch {
    return { details: UNREADABLE };
  }
}

/** What a span says of an error. Anything can be thrown: what has no text, or throws when it is asked for one. */
function words(error: unknown): Details {
  try {
    return { error: String(error instanceof Error ? error.message : error) };
  } catch {
    return { error: UNREADABLE };
  }
}

/** False where that cannot be found out. */
function isPromise(value: unknown): value is PromiseLike<unknown> {
  try {
    return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
  } catch {
    return false;
  }
}

/**
 * Runs `fn` as a span of the trace and returns its result: a session, a step, a layer. Where `fn` returns a promise, the
 * span ends with it. An error ends the span too, is noted in it, and comes out. Nothing but `fn` happens where nothing
 * is recorded.
 *
 * `details` is what the trace shows beside the name: texts, numbers, lists of them; of anything else a few words. Throws a TypeError for a name that is no string.
 *
 * @example
 * const loss = trace.span("step", () => train(batch), { batch: 7 });
 */
export function span<T>(name: string, fn: () => T, details?: Record<string, unknown>): T {
  checkName(name, "trace.span");
  requireFunction(fn, "trace.span");
  checkDetails(details, "trace.span");
  if (!active()) return fn();
  const opened = open("span", name, written(details));
  let result: T;
  try {
    result = fn();
  } catch (error) {
    opened.end(words(error));
    throw error;
  }
  if (!isPromise(result)) {
    opened.end();
    return result;
  }
  opened.detach();
  // What only looks like a promise may give nothing, or throw, when it is asked to go on.
  const promise = result instanceof Promise ? result : Promise.resolve(result);
  return promise.then(
    (value) => {
      opened.end();
      return value;
    },
    (error: unknown) => {
      opened.end(words(error));
      throw error;
    },
  ) as T;
}

/** Marks this moment in the trace. Throws a TypeError for a name that is no string. */
export function mark(name: string, details?: Record<string, unknown>): void {
  checkName(name, "trace.mark");
  checkDetails(details, "trace.mark");
  if (active()) markNow(name, written(details));
}
