/**
 * Where tracing looks in. The call funnel has one hook, and null costs one test an operation. What is not that hot —
 * evaluations, transforms, files — goes through one small interface.
 */

import type { Handle } from "./handle.ts";

/** `more` says that the result is another one of the call before. */
export type OpHook = (operation: string, result: Handle, more?: boolean) => void;

export let opHook: OpHook | null = null;

export function setOpHook(hook: OpHook | null): void {
  opHook = hook;
}

/** Tells the hook of all results of a call. Where it throws, the caller gets none of them. */
export function tellAll(operation: string, results: readonly Handle[]): void {
  try {
    for (const [i, result] of results.entries()) opHook?.(operation, result, i > 0);
  } catch (error) {
    for (const result of results) result.dispose();
    throw error;
  }
}

/** What takes time and is no operation: `closure` is a JavaScript function that native code calls. */
export type SpanKind = "eval" | "asyncEval" | "wait" | "compile" | "transform" | "closure" | "io";

export type Details = Record<string, unknown>;

/** A span that has begun. */
export interface OpenSpan {
  /** Ends it, with what is known only now. Never throws. */
  end(details?: Details): void;
}

export interface Tracer {
  begin(kind: SpanKind, name: string, details?: Details): OpenSpan;
  /** Arrays that came out of a transform, not of an operation. */
  made(operation: string, arrays: readonly Handle[]): void;
}

export let tracer: Tracer | null = null;

export function setTracer(next: Tracer | null): void {
  tracer = next;
}

/** Runs `body` as a span of the trace, where there is one. */
export function traced<T>(kind: SpanKind, name: string, details: Details, body: () => T): T {
  if (tracer === null) return body();
  const span = tracer.begin(kind, name, details);
  try {
    return body();
  } finally {
    span.end();
  }
}
