// Kind `program`: a function of a few steps, under a transform, called with one or several sets of inputs.
import { isArray } from "../arrays.ts";
import { compare } from "../compare.ts";
import { type Case, Unsupported } from "../format.ts";
import { decode, decodeCall } from "../literals.ts";
import { type Callable, camelCase, resolveFunction } from "../names.ts";
import { callOf, part } from "./calls.ts";

interface Step {
  out: string | string[];
  fn: string;
  args: unknown[];
  kwargs: Record<string, unknown>;
}

type Variables = Map<string, unknown>;

/** "%name" at any depth becomes the variable. */
function substitute(value: unknown, variables: Variables): unknown {
  if (typeof value === "string" && value.startsWith("%")) return variables.get(value.slice(1));
  if (Array.isArray(value)) return value.map((item) => substitute(item, variables));
  if (typeof value !== "object" || value === null || isArray(value)) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, substitute(item, variables)]));
}

/** The functions that only programs have. */
const special: Record<string, (args: unknown[]) => unknown> = {
  getitem: ([array, index]) => callOf(array, "get", indexParts(index)),
  at_add: ([array, index, value]) => callOf(callOf(array, "at", indexParts(index)), "add", [decode(value, true)]),
  attr: ([object, name]) => (decode(object, false) as Record<string, unknown>)[camelCase(name as string)],
};

function indexParts(index: unknown): unknown[] {
  return (index as { $index: unknown[] }).$index.map(part);
}

function runStep(step: Step, variables: Variables): unknown {
  const args = substitute(step.args, variables) as unknown[];
  const kwargs = substitute(step.kwargs, variables) as Record<string, unknown>;
  const own = special[step.fn];
  if (own !== undefined) return own(args);
  const decoded = decodeCall(step.fn, args, kwargs);
  if (!step.fn.startsWith("array.")) return resolveFunction(step.fn)(...decoded);
  const [self, ...rest] = decoded;
  return callOf(self, camelCase(step.fn.slice("array.".length)), rest);
}

/** The function that the steps describe. */
function programOf(one: Case, ran: () => void): Callable {
  const names = one.inputs as string[];
  const result = one.result as string | string[];
  return (...inputs) => {
    ran();
    const variables: Variables = new Map(names.map((name, i) => [name, inputs[i]]));
    for (const step of one.steps as Step[]) {
      const value = runStep(step, variables);
      if (!Array.isArray(step.out)) variables.set(step.out, value);
      else for (const [i, name] of step.out.entries()) variables.set(name, (value as unknown[])[i]);
    }
    return Array.isArray(result) ? result.map((name) => variables.get(name)) : variables.get(result);
  };
}

/** The outputs one after the other; a list without arrays is one output, as einsum_path's. */
const flat = (value: unknown): unknown[] =>
  isArray(value) || !Array.isArray(value) ? [value] : value.flatMap((x) => (hasArray(x) ? flat(x) : [x]));
const hasArray = (value: unknown): boolean => isArray(value) || (Array.isArray(value) && value.some(hasArray));
const mxFn = (name: string): Callable => resolveFunction(`mx.${name}`);
const sumOf = (value: unknown): unknown => mxFn("sum")(value);

/** The transformed function: a set of inputs to flattened outputs. */
const transforms: Record<string, (fn: Callable, one: Case) => (inputs: unknown[]) => unknown> = {
  none: (fn) => (inputs) => fn(...inputs),
  compile: (fn) => once(compiled(fn)),
  compile_shapeless: (fn) => once(compiled(fn, { shapeless: true })),
  grad: (fn, { argnums }) => once(mxFn("grad")(fn, { argnums })),
  value_and_grad: (fn, { argnums }) => once(mxFn("value_and_grad")(fn, { argnums })),
  checkpoint: (fn, { argnums }) => once(mxFn("value_and_grad")(mxFn("checkpoint")(fn), { argnums })),
  vjp: (fn, one) => (inputs) => mxFn("vjp")(fn, inputs, decode(one.cotangents, false)),
  jvp: (fn, one) => (inputs) => mxFn("jvp")(fn, inputs, decode(one.tangents, false)),
  vmap: (fn, one) => once(vmapped(fn, one)),
  vmap_of_grad: (fn, one) => once(vmapped(mxFn("grad")(fn, { argnums: one.argnums }) as Callable, one)),
  grad_of_vmap: (fn, one) => {
    const mapped = vmapped(fn, one);
    return once(mxFn("grad")((...args: unknown[]) => sumOf(mapped(...args)), { argnums: one.argnums }));
  },
  grad_of_grad: (fn, one) => {
    const [inner, outer] = one.argnums as [number, number];
    const first = mxFn("grad")(fn, { argnums: inner }) as Callable;
    return once(mxFn("grad")((...args: unknown[]) => sumOf(first(...args)), { argnums: outer }));
  },
  compile_of_grad: (fn, { argnums }) => once(compiled(mxFn("grad")(fn, { argnums }))),
};

// What the transforms of one case own.
const owned: Disposable[] = [];

function compiled(...args: unknown[]): unknown {
  const fn = mxFn("compile")(...args) as Disposable;
  owned.push(fn);
  return fn;
}

function once(fn: unknown): (inputs: unknown[]) => unknown {
  return (inputs) => (fn as Callable)(...inputs);
}

function vmapped(fn: Callable, one: Case): Callable {
  return mxFn("vmap")(fn, { inAxes: one.in_axes, outAxes: one.out_axes }) as Callable;
}

/** What a program gives for each set of inputs, and how often its function ran. */
function execute(one: Case): { sets: unknown[][]; traces: number } {
  const transform = transforms[one.transform as string];
  if (transform === undefined) throw new Unsupported(`the transform ${one.transform}`);
  let traces = 0;
  const run = transform(
    programOf(one, () => void traces++),
    one,
  );
  const sets = (one.inputs_values as unknown[][]).map((inputs) => {
    const outputs = flat(run(inputs.map((input) => decode(input, false))));
    mxFn("eval")(outputs);
    return outputs;
  });
  for (const fn of owned.splice(0)) fn[Symbol.dispose]();
  return { sets, traces };
}

export function prepareProgram(one: Case): () => unknown {
  return () => execute(one).sets;
}

export function runProgram(one: Case): string | null {
  const { sets, traces } = execute(one);
  const differs = compare(one.expect, sets, { rtol: one.rtol ?? 0, atol: one.atol ?? 0 });
  if (differs !== null) return differs;
  const expected = one.traces as number | undefined;
  return expected === undefined || expected === traces
    ? null
    : `the function ran ${traces} times, Python's ${expected}`;
}
