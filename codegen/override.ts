// The form of an exception to the rules: overrides.ts lists them.

/** What is said of one parameter beyond the rules. The key is Python's name. */
export interface ParamOverride {
  /** The TypeScript type, where Python's annotation says less than is true. */
  type?: string;
  /** The default as a TypeScript expression, where the stub leaves it out. */
  default?: string;
  /** Read plain integers and lists of them as an index array. */
  index?: true;
  /** null counts as left out, although the stub does not say None. */
  nullable?: boolean;
  /** Lengths of axes of which one may be -1, for what is left. */
  lengths?: true;
  place?: "operand" | "either" | "option";
}

/** What is said of one function beyond the rules. The key is Python's name, with its module unless that is mlx.core. */
export interface Override {
  reason: string;
  /** The one C function to call, where its name does not follow from Python's. */
  c?: string;
  /** The file of src/ops with the body; names and options are generated all the same. */
  body?: string;
  /** The file of src/ops with the whole function, signature included. */
  whole?: string;
  /** The same function under this other Python name of its module. */
  alias?: string;
  /** The C functions that a hand-written part calls. */
  native?: readonly string[];
  returns?: string;
  /** A function of src/ops/empty.ts that makes the result for an array without elements, and the parameters it takes. */
  guard?: { readonly call: string; readonly params: readonly string[] };
  /** Functions of src/ops/args.ts that look at a converted parameter before MLX does: [function, Python's name]. */
  checks?: readonly (readonly [check: string, param: string, other?: string])[];
  params?: Readonly<Record<string, ParamOverride>>;
}
