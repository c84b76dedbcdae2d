// What the unit tests share: scopes, untyped values, thrown errors, views of every stride, programs in a process of
// their own.
import { test } from "bun:test";
import { join, resolve } from "node:path";
import { describeEnd, type ProcessResult, runProcess } from "../scripts/gate/process.ts";
import { defaultStreamHandle } from "../src/core/stream.ts";
import { int32Address, int64Address } from "../src/core/scratch.ts";
import { functions, handleOf, type Pointer, readSlot, slot, takeNativeMessage, wrapArray } from "../src/ffi.ts";
import * as mx from "../src/index.ts";

export const root: string = resolve(import.meta.dir, "..");

/** A value that the types refuse, as a caller without types passes it. */
export const untyped = <T>(value: unknown): T => value as T;

/** A test in a scope of its own: nothing that it makes outlives it. */
export function scoped(name: string, run: () => void): void {
  test(name, () => mx.tidy(run));
}

/** What `run` throws; fails when it does not throw. */
export function caught(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
}

/** `Kind: message` of what `run` throws. */
export function refusal(run: () => unknown): string {
  const error = caught(run);
  return `${error.constructor.name}: ${error.message}`;
}

function made(call: (out: Pointer) => number): mx.Array {
  const out = slot();
  if (call(out) !== 0) throw new Error(takeNativeMessage());
  return wrapArray(readSlot(out));
}

/** A view with its axes in another order. */
export function transposed(array: mx.Array, axes: readonly number[]): mx.Array {
  const handle = handleOf(array, "test");
  return made((out) =>
    functions.mlx_transpose_axes(out, handle, int32Address(axes), axes.length, defaultStreamHandle()),
  );
}

/** A view of a part; negative strides walk backwards. */
export function sliced(array: mx.Array, start: number[], stop: number[], strides: number[]): mx.Array {
  const handle = handleOf(array, "test");
  const n = start.length;
  const [a, b, c] = [int32Address(start), int32Address(stop), int32Address(strides)];
  return made((out) => functions.mlx_slice(out, handle, a, n, b, n, c, n, defaultStreamHandle()));
}

/** A view that repeats its elements. */
export function broadcast(array: mx.Array, shape: readonly number[]): mx.Array {
  const handle = handleOf(array, "test");
  return made((out) =>
    functions.mlx_broadcast_to(out, handle, int32Address(shape), shape.length, defaultStreamHandle()),
  );
}

/** A view with strides in elements. */
export function strided(array: mx.Array, shape: number[], strides: number[], offset: number): mx.Array {
  const handle = handleOf(array, "test");
  const n = shape.length;
  const [a, b] = [int32Address(shape), int64Address(strides)];
  return made((out) => functions.mlx_as_strided(out, handle, a, n, b, n, offset, defaultStreamHandle()));
}

/** The inverse on the CPU: of a singular matrix, its evaluation fails. */
export function inverse(matrix: mx.Array): mx.Array {
  const handle = handleOf(matrix, "test");
  return made((out) => functions.mlx_linalg_inv(out, handle, defaultStreamHandle()));
}

export interface ProgramOptions {
  args?: readonly string[];
  env?: Record<string, string | undefined>;
  /** Seconds until it counts as hanging. */
  timeout?: number;
  /** A flag of Bun, before the program. */
  flags?: readonly string[];
}

/** Runs a program that sees the library as `mx` in a process of its own. */
export function runProgram(body: string, options: ProgramOptions = {}): Promise<ProcessResult> {
  const index = JSON.stringify(join(root, "src/index.ts"));
  const helpers = JSON.stringify(join(root, "test/programs.ts"));
  const source = `import * as mx from ${index};\nimport { attempt, say } from ${helpers};\n${body}`;
  return runProcess([process.execPath, ...(options.flags ?? []), "-e", source, ...(options.args ?? [])], {
    cwd: root,
    timeout: options.timeout ?? 30,
    env: { NO_COLOR: "1", ...options.env },
  });
}

/** The lines that such a program says; throws with its whole output when it did not end well. */
export async function said(body: string, options: ProgramOptions = {}): Promise<string[]> {
  const result = await runProgram(body, options);
  const problem = describeEnd(result, options.timeout ?? 30);
  if (problem !== null) throw new Error(`${problem}\n${result.output}`);
  // The AddressSanitizer remarks on each allocation that fails, which is what some programs are about.
  const remark = /^==\d+==WARNING: AddressSanitizer failed to allocate/;
  return result.output
    .trimEnd()
    .split("\n")
    .filter((line) => !remark.test(line));
}
