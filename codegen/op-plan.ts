// What the emitters of operations work on: one plan for each public function, made by rules.ts from a Python signature,
// the C variants of the same name and the overrides.

import type { CFunction } from "./ir.ts";

/** How a value reaches the native call. Each kind is one checked conversion of src/core/call.ts. */
export type Conversion =
  | { kind: "array" } // an array, or a scalar with a dtype of its own
  | { kind: "nullableArray" } // an array or nothing
  | { kind: "indexArray" } // an array of integers; plain integers and lists of them count as such
  | { kind: "vector" } // a list of arrays
  | { kind: "int" }
  | { kind: "float" }
  | { kind: "bool" }
  | { kind: "string" }
  | { kind: "dtype" }
  | { kind: "ints" } // a list of integers
  | { kind: "lengths" } // a list of lengths, one of which may be -1
  | { kind: "shape" } // an integer or a list of integers
  | { kind: "tuple"; length: number } // an integer for all, or exactly so many
  | { kind: "key" } // a random key, or nothing for the global state
  | { kind: "optional"; value: "int" | "float" | "dtype" }
  | { kind: "free" }; // checked by a hand-written body

/** Where a parameter may stand. */
export type Place =
  | "operand" // by position only
  | "either" // by position or in the options
  | "option"; // in the options only

/** One parameter of a public function. The stream is not among them. */
export interface OpParam {
  /** The TypeScript name, also the key in the options. */
  name: string;
  python: string;
  place: Place;
  required: boolean;
  /** null means the same as leaving it out, unless a variant is chosen by it. */
  nullable: boolean;
  /** The default as a TypeScript expression; absent where leaving it out is passed on as such. */
  defaultText?: string;
  /** The TypeScript type without null. */
  type: string;
  convert: Conversion;
}

/** A native call: the arguments in C's order. */
export interface NativeCall {
  fn: CFunction;
  args: readonly NativeArg[];
}

export type NativeArg =
  | { from: "out"; index: number }
  | { from: "stream" }
  | { from: "param"; param: OpParam; convert: Conversion }
  | { from: "length"; param: OpParam }
  | { from: "element"; param: OpParam; index: number };

/** The cases by which one parameter chooses the C variant. */
export interface Dispatch {
  param: OpParam;
  /** null, or left out where there is no other default. */
  absent?: NativeCall;
  /** An integer. */
  number?: NativeCall;
  /** A list of integers. */
  list?: NativeCall;
  /** Anything given, for a parameter that is not an axis. */
  given?: NativeCall;
}

export type Body =
  | { kind: "call"; call: NativeCall; pair: boolean }
  | { kind: "dispatch"; dispatch: Dispatch; pair: boolean }
  /** A hand-written function in src/ops/<file>.ts that takes every parameter in order and the options. */
  | { kind: "byHand"; file: string };

/** What a call gives back. */
export type Result = "array" | "two" | "list";

/** One public function. */
export interface OpPlan {
  /** "core", "linalg", "fft", "random", "fast" */
  module: string;
  python: string;
  /** Python's own text of the parameters, for the documentation. */
  signature: string;
  name: string;
  params: readonly OpParam[];
  stream: boolean;
  body: Body;
  result: Result;
  /** The TypeScript type of the result. */
  returns: string;
  /** Checks of converted parameters: [function, Python's name]. */
  checks: readonly (readonly [check: string, param: string, other?: string])[];
  /** What answers for an array without elements, where MLX must not be asked. */
  guard?: { readonly call: string; readonly params: readonly string[] };
  /** The C functions that the body calls. */
  native: readonly string[];
  /** Other public names of the same function. */
  aliases: readonly string[];
}

/** A public function that is written by hand from its first to its last line. */
export interface HandOp {
  module: string;
  python: string;
  name: string;
  file: string;
  native: readonly string[];
  aliases: readonly string[];
}

/** Everything that the rules made of the headers and Python's signatures. */
export interface OpSet {
  plans: readonly OpPlan[];
  byHand: readonly HandOp[];
  /** C functions of these headers that no public operation calls, and why. */
  internal: ReadonlyMap<string, string>;
}
