/** compile: a function traced once for each form of its arguments, then run as one optimised graph. */

import { MxArray } from "../core/array.ts";
import { applyVectors, Closure } from "../core/closure.ts";
import { check } from "../core/error.ts";
import { Handle, handleOf, internal } from "../core/handle.ts";
import { NativeHandle } from "../core/kinds.ts";
import type { Kind } from "../core/ledger.ts";
import { C } from "../core/native.ts";
import { checkOptions } from "../core/options.ts";
import { bool } from "../core/args.ts";
import { dispose, keep, refusePromise, requireFunction } from "../core/scope.ts";
import { int64Address } from "../core/scratch.ts";
import { privateSlot, readSlot, slot } from "../core/slots.ts";
import { signature } from "./signature.ts";
import { State } from "./state.ts";
import { type Form, formOf } from "./trees.ts";

export interface CompileOptions {
  /** What the function reads and replaces beside its arguments: modules, optimizers, `mx.random.state`, containers of Arrays. */
  state?: unknown;
  /** Trace once for all shapes. MLX then refuses operations whose result depends on the shape, such as slices. Default false. */
  shapeless?: boolean | undefined;
}

/** A compiled function. Disposing it frees what it has compiled. */
export interface Compiled<A extends unknown[], R> extends Disposable {
  (...args: A): R;
  /** How often the function itself has run, to be traced. */
  readonly traceCount: number;
  dispose(): void;
}

let lastId = 0;

const kind: Kind = { name: "Compiled", free: erase };

function erase(id: number): void {
  const out = slot();
  check(C.mlx_detail_compile_cache(out), "compile");
  const cache = readSlot(out);
  check(C.mlx_detail_compile_erase(cache, id), "compile");
  C.mlx_compile_cache_free(cache);
}

/** Owns MLX's cached graphs of one function: they go when it is disposed or forgotten. */
class Cached extends Handle {
  readonly id: number;
  constructor(id: number) {
    super(internal, id, 0, kind);
    this.id = id;
    keep(this);
  }
}

interface Call {
  input: Form;
  before: State;
  /** What the function returned, where it was traced in this call. */
  output: Form | null;
  /** The state's arrays to put back if the call fails. */
  backup: MxArray[];
}

class Compiler {
  readonly #fn: (...args: never[]) => unknown;
  readonly #state: unknown;
  readonly #shapeless: boolean;
  readonly #cached: Cached;
  readonly #closure: Closure;
  // One native function for each form of the arguments; its number is the constant that MLX compares.
  readonly #compiled = new Map<string, NativeHandle>();
  readonly #forms = new Map<string, Form>();
  #call: Call | null = null;
  traceCount = 0;

  constructor(fn: (...args: never[]) => unknown, state: unknown, shapeless: boolean) {
    this.#fn = fn;
    this.#state = state;
    this.#shapeless = shapeless;
    this.#cached = new Cached(++lastId);
    // Weakly: native code holds the closure, and must not keep a forgotten function alive.
    const self = new WeakRef(this);
    this.#closure = keep(new Closure((traced) => self.deref()!.#trace(traced)));
  }

  run(args: unknown[]): unknown {
    const form = signature(args);
    const input = formOf(args, "compile: the arguments");
    const before = new State(this.#state);
    const call: Call = { input, before, output: null, backup: [] };
    const outer = this.#call;
    this.#call = call;
    try {
      const handle = handleOf(this.#native(form), "compile");
      const inputs = [...input.arrays, ...before.arrays];
      const [values] = applyVectors("compile", 1, [inputs], ([out], [vector]) =>
        C.mlx_closure_apply(out!, handle, vector!),
      );
      return this.#finish(form, call, values!);
    } catch (error) {
      if (call.backup.length > 0) before.install(call.backup.splice(0));
      throw error;
    } finally {
      this.#call = outer;
    }
  }

  #native(form: string): NativeHandle {
    let compiled = this.#compiled.get(form);
    if (compiled === undefined) {
      const made = privateSlot();
      const closure = handleOf(this.#closure, "compile");
      const constants = int64Address([this.#compiled.size]);
      check(C.mlx_detail_compile(made.address, closure, this.#cached.id, this.#shapeless, constants, 1), "compile");
      compiled = keep(new NativeHandle("closure", made.read()));
      this.#compiled.set(form, compiled);
    }
    return compiled;
  }

  /** Runs the function on placeholders; its results and its new state come out. */
  #trace(traced: MxArray[]): MxArray[] {
    const call = this.#call!;
    const count = call.input.arrays.length;
    this.traceCount++;
    call.backup = call.before.backup();
    call.before.install(traced.slice(count));
    const value = this.#fn(...(call.input.rebuild(traced.slice(0, count)) as never[]));
    refusePromise(value, "compile", "its arrays are freed when it returns");
    call.output = formOf(value, "compile: the function's result");
    return [...call.output.arrays, ...new State(this.#state).arrays];
  }

  #finish(form: string, call: Call, values: MxArray[]): unknown {
    const shapes = `${form}|${call.input.arrays.map((array) => `${array.dtype}${array.shape}`).join()}`;
    if (call.output !== null) {
      this.#forms.set(shapes, call.output);
      this.#forms.set(form, call.output);
    }
    const output = (this.#forms.get(shapes) ?? this.#forms.get(form))!;
    const count = output.arrays.length;
    if (this.#state !== undefined) new State(this.#state).install(keep(values.slice(count)));
    // What the backup holds in common with the state now is the caller's, the copies are ours.
    dispose(call.backup.filter((array) => !call.before.arrays.includes(array)));
    return output.rebuild(values.slice(0, count));
  }

  dispose(): void {
    this.#cached.dispose();
    this.#closure.dispose();
    for (const compiled of this.#compiled.values()) compiled.dispose();
    this.#compiled.clear();
    this.#forms.clear();
  }
}

/**
 * A function with the results of `fn` that runs as one optimised graph. `fn` runs once for each new form of its
 * arguments — shapes, dtypes, constants, nesting — to be traced; later calls do not run it. What it reads besides its
 * arguments is frozen at that moment, unless it is given as `state`, which is read and replaced in each call.
 *
 * Shapeless compilation refuses slices, splits, pads, cumulative operations, Fourier transforms and inverses, and with
 * shapes that do not fit may give wrong values instead of an error. Python: mx.compile.
 */
export function compile<A extends unknown[], R>(fn: (...args: A) => R, options?: CompileOptions): Compiled<A, R> {
  requireFunction(fn, "compile");
  if (options !== undefined) checkOptions(options, ["state", "shapeless"], "compile");
  const shapeless = bool(options?.shapeless ?? false, "compile", "shapeless");
  const compiler = new Compiler(fn as never, options?.state, shapeless);
  const compiled = ((...args: A) => compiler.run(args)) as Compiled<A, R>;
  Object.defineProperties(compiled, {
    traceCount: { get: () => compiler.traceCount },
    dispose: { value: () => compiler.dispose() },
    [Symbol.dispose]: { value: () => compiler.dispose() },
  });
  return compiled;
}

/** Lets compiled functions run as they are written, for finding mistakes. Python: mx.disable_compile. */
export function disableCompile(): void {
  check(C.mlx_disable_compile(), "disableCompile");
}

/** Takes `disableCompile` back. Python: mx.enable_compile. */
export function enableCompile(): void {
  check(C.mlx_enable_compile(), "enableCompile");
}
