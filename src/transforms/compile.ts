/** compile: a function traced once for each form of its arguments, then run as one optimised graph. */

import type { MxArray } from "../core/array.ts";
import { shapeOf } from "../core/array.ts";
import { bool } from "../core/args.ts";
import { applyClosure, Closure } from "../core/closure.ts";
import { check, takeNativeMessage } from "../core/error.ts";
import { Handle, handleOf, internal } from "../core/handle.ts";
import { tracer } from "../core/hooks.ts";
import { NativeHandle } from "../core/kinds.ts";
import type { Kind } from "../core/ledger.ts";
import { C } from "../core/native.ts";
import { checkOptions } from "../core/options.ts";
import { keep, keepAll, refusePromise, requireFunction } from "../core/scope.ts";
import { int64Address } from "../core/scratch.ts";
import { traceShapes } from "../core/shapeless.ts";
import { privateSlot, readSlot, readSlotI32, slot } from "../core/slots.ts";
import { defaultStreamHandle } from "../core/stream.ts";
import { signature } from "./signature.ts";
import { State } from "./state.ts";
import { type Form, formOf, mapForm, sameForm } from "./trees.ts";

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
let disabled = false;

// Erasing waits while native code is on the stack: it may be the trace of this very function, which writes its entry.
const kind: Kind = { name: "Compiled", free: erase, reentrant: true };

/** Drops what MLX has cached for a function of this thread. Never throws: it frees. */
function erase(id: number): void {
  const out = slot();
  let status = C.mlx_detail_compile_cache(out);
  const cache = readSlot(out);
  if (status === 0) status = C.mlx_detail_compile_erase(cache, id);
  if (status !== 0) takeNativeMessage();
  C.mlx_compile_cache_free(cache);
}

/** Owns MLX's cached graphs of one function: they go when it is disposed or forgotten. */
class Cached extends Handle {
  constructor(id: number) {
    super(internal, id, 0, kind);
    keep(this);
  }
}

/** What is compiled for one form of the arguments, the state and the stream. */
interface Graph {
  readonly native: NativeHandle;
  /** The result of each trace, by the shapes it was traced for. */
  readonly results: Map<string, Form>;
  /** The one result of all traces; null when they differ. */
  result: Form | null;
}

/** What the last call was like: the next one mostly is so too, and then needs no text of its state. */
interface Last {
  readonly form: string;
  readonly state: State | null;
  readonly stream: number;
  readonly graph: Graph;
}

interface Call {
  readonly args: unknown[];
  readonly count: number;
  readonly before: State | null;
  /** What the function returned, where it ran in this call. */
  output: Form | null;
  /** The shapes of the inputs, where it was traced in this call. */
  shapes: string;
  /** Puts the state back if the call fails. */
  saved: ReturnType<State["save"]> | null;
}

class Compiler {
  readonly #fn: (...args: never[]) => unknown;
  readonly #state: unknown;
  readonly #shapeless: boolean;
  readonly #id: number;
  readonly #cached: Cached;
  readonly #closure: Closure;
  // The number of each form is the constant that MLX compares.
  readonly #graphs = new Map<string, Graph>();
  #lastForm = 0;
  #last: Last | null = null;
  #call: Call | null = null;
  traceCount = 0;

  constructor(fn: (...args: never[]) => unknown, state: unknown, shapeless: boolean) {
    this.#fn = fn;
    this.#state = state;
    this.#shapeless = shapeless;
    this.#id = ++lastId;
    this.#cached = new Cached(this.#id);
    // Weakly: native code holds the closure, and must not keep a forgotten function alive.
    const self = new WeakRef(this);
    this.#closure = keep(new Closure((traced) => traceShapes(shapeless, () => self.deref()!.#run(traced))));
  }

  call(args: unknown[]): unknown {
    handleOf(this.#cached, "compile");
    const inputs: MxArray[] = [];
    const form = signature(args, inputs);
    const count = inputs.length;
    const outer = this.#call;
    // Inside of its own trace the function runs as it is written: MLX's entry for it is being filled.
    const plain = disabled || outer !== null;
    const last = plain ? null : this.#last;
    const again = last !== null && last.form === form && (last.state === null || last.state.reread());
    const before = again ? last.state : this.#state === undefined ? null : new State(this.#state);
    if (before !== null) for (const array of before.arrays) inputs.push(array);
    const graph = plain ? null : this.#graph(form, before, again ? last : null);
    const handle = handleOf(graph === null ? this.#closure : graph.native, "compile");
    const call: Call = { args, count, before, output: null, shapes: "", saved: null };
    this.#call = call;
    const traced = graph !== null && graph.results.size > 0;
    const span =
      tracer === null ? null : tracer.begin("compile", this.#fn.name || "compiled", { arrays: inputs.length });
    try {
      return this.#finish(graph, call, inputs, applyClosure("compile", handle, inputs));
    } catch (error) {
      call.saved?.restore();
      // A failed trace leaves a broken entry behind.
      if (graph !== null) this.#forget();
      throw error;
    } finally {
      this.#call = outer;
      before?.clear();
      span?.end({ cache: plain ? "off" : call.output === null ? "hit" : traced ? "retrace" : "miss" });
    }
  }

  #graph(args: string, state: State | null, last: Last | null): Graph {
    const stream = streamIndex();
    if (last !== null && last.stream === stream) return last.graph;
    const form = `${args}${state?.form ?? ""}@${stream}`;
    let graph = this.#graphs.get(form);
    if (graph === undefined) {
      const made = privateSlot();
      const closure = handleOf(this.#closure, "compile");
      const constants = int64Address([this.#lastForm++]);
      check(C.mlx_detail_compile(made.address, closure, this.#id, this.#shapeless, constants, 1), "compile");
      graph = { native: keep(new NativeHandle("closure", made.read())), results: new Map(), result: null };
      this.#graphs.set(form, graph);
    }
    this.#last = { form: args, state, stream, graph };
    return graph;
  }

  /** Runs the function on what MLX gives; its results and its new state come out. */
  #run(given: MxArray[]): MxArray[] {
    const call = this.#call!;
    this.traceCount++;
    // Of the placeholders, which are like the inputs: an exchange of the state frees those.
    call.shapes = this.#shapes(given);
    if (call.before !== null) {
      call.saved = call.before.save();
      call.before.install(given.slice(call.count));
    }
    const value = this.#fn(...(mapForm(call.args, given) as never[]));
    refusePromise(value, "compile", "its arrays are freed when it returns");
    call.output = formOf(value, "compile: the function's result");
    return call.before === null ? call.output.arrays : [...call.output.arrays, ...new State(this.#state).arrays];
  }

  #finish(graph: Graph | null, call: Call, inputs: MxArray[], values: MxArray[]): unknown {
    const { before, output, saved } = call;
    const result = output ?? graph!.result ?? graph!.results.get(this.#shapes(inputs))!;
    const count = result.arrays.length;
    if (before !== null) {
      // Only a run of the function can change where the arrays are.
      const after = output === null ? before : new State(this.#state);
      const replaced = values.slice(count);
      keepAll(replaced);
      after.install(replaced);
      // What a trace has added to the state is no longer there where the same form comes again.
      if (graph !== null && after.form !== before.form) this.#forget();
    }
    saved?.drop();
    call.saved = null;
    if (graph !== null && output !== null) this.#remember(graph, output, call.shapes);
    return result.rebuild(before === null ? values : values.slice(0, count));
  }

  #remember(graph: Graph, output: Form, shapes: string): void {
    const first = graph.results.size === 0;
    graph.results.set(shapes, output);
    if (first) graph.result = output;
    else if (graph.result !== null && !sameForm(graph.result, output)) graph.result = null;
  }

  /** What MLX tells the graphs of one form apart by. */
  #shapes(inputs: readonly MxArray[]): string {
    let text = "";
    for (const array of inputs) text += `${array.dtype}${this.#shapeless ? array.ndim : shapeOf(array, "compile")};`;
    return text;
  }

  /** Everything is traced anew from here on. */
  #forget(): void {
    erase(this.#id);
    for (const graph of this.#graphs.values()) {
      graph.results.clear();
      graph.result = null;
    }
  }

  dispose(): void {
    this.#cached.dispose();
    this.#closure.dispose();
    for (const { native } of this.#graphs.values()) native.dispose();
    this.#graphs.clear();
    this.#last = null;
  }
}

/** The stream that operations go to: another one means another graph. */
function streamIndex(): number {
  const out = slot();
  check(C.mlx_stream_get_index(out, defaultStreamHandle()), "compile");
  return readSlotI32(out);
}

/**
 * A function with the results of `fn` that runs as one optimised graph. `fn` runs once for each new form of its
 * arguments — shapes, dtypes, constants, nesting — to be traced; later calls do not run it. What it reads besides its
 * arguments is frozen at that moment, unless it is given as `state`, which is read and replaced in each call. When `fn`
 * throws, the state is as before.
 *
 * Objects with the state protocol free the arrays that are replaced; those of plain lists, objects and Maps stay the
 * caller's. Inside of its own trace a compiled function runs as it is written.
 *
 * Shapeless compilation refuses slices, splits, pads, cumulative operations, Fourier transforms and inverses, and with
 * shapes that do not fit may give wrong values instead of an error. Python: mx.compile.
 */
export function compile<A extends unknown[], R>(fn: (...args: A) => R, options?: CompileOptions): Compiled<A, R> {
  requireFunction(fn, "compile");
  if (options !== undefined) checkOptions(options, ["state", "shapeless"], "compile");
  const shapeless = bool(options?.shapeless ?? false, "compile", "shapeless");
  const compiler = new Compiler(fn as never, options?.state, shapeless);
  const compiled = ((...args: A) => compiler.call(args)) as Compiled<A, R>;
  Object.defineProperties(compiled, {
    traceCount: { get: () => compiler.traceCount },
    dispose: { value: () => compiler.dispose() },
    [Symbol.dispose]: { value: () => compiler.dispose() },
  });
  return compiled;
}

/** Lets compiled functions run as they are written, in every call, for finding mistakes. Python: mx.disable_compile. */
export function disableCompile(): void {
  check(C.mlx_disable_compile(), "disableCompile");
  disabled = true;
}

/** Takes `disableCompile` back. Python: mx.enable_compile. */
export function enableCompile(): void {
  check(C.mlx_enable_compile(), "enableCompile");
  disabled = false;
}
