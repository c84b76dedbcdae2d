// Which C parameter a Python parameter is.

import { accepts, RuleError } from "./rules-params.ts";
import type { CFunction, Param } from "./ir.ts";
import type { PyParam } from "./pyi.ts";

/** How one C variant gets its arguments. */
export interface Match {
  fn: CFunction;
  /** By C name: the Python parameter, or one element of it. */
  sources: ReadonlyMap<string, { param: PyParam; element?: number; of?: number }>;
  /** Python parameters that this variant does not take. */
  unused: readonly PyParam[];
}

/** The C parameters that carry a value of the caller's. */
export function valueParams(fn: CFunction): Param[] {
  return fn.params.filter(({ role }) => role.kind !== "outHandle" && role.kind !== "stream" && role.kind !== "length");
}

/**
 * Pairs by name, then tuples with their numbered C parameters, then what is left over on both sides in order, as far
 * as the types agree (`arr` is Python's `a`, `axes` its `axis`). A C parameter without a partner is an error.
 */
export function match(python: string, params: readonly PyParam[], fn: CFunction): Match {
  const sources = new Map<string, { param: PyParam; element?: number; of?: number }>();
  const free = new Set(params);
  const open: Param[] = [];
  for (const c of valueParams(fn)) {
    const param = params.find((p) => p.name === c.name);
    if (param === undefined) open.push(c);
    else take(sources, free, c, param);
  }
  for (const c of matchTuples(params, open, sources, free)) {
    const param = [...free].find((p) => compatible(p, c));
    if (param === undefined) throw new RuleError(python, `no parameter of Python's is ${c.name} of ${fn.name}`);
    take(sources, free, c, param);
  }
  return { fn, sources, unused: [...free] };
}

function take(sources: Map<string, { param: PyParam }>, free: Set<PyParam>, c: Param, param: PyParam): void {
  sources.set(c.name, { param });
  free.delete(param);
}

/** `stride_0, stride_1` are the elements of `stride`. Returns what is no such element. */
function matchTuples(
  params: readonly PyParam[],
  open: readonly Param[],
  sources: Map<string, { param: PyParam; element?: number; of?: number }>,
  free: Set<PyParam>,
): Param[] {
  const rest: Param[] = [];
  for (const c of open) {
    const [, stem, digit] = /^(.+)_(\d)$/.exec(c.name) ?? [];
    const param = params.find((p) => p.name === stem);
    if (param === undefined || digit === undefined) {
      rest.push(c);
      continue;
    }
    const of = open.filter((other) => other.name.replace(/_\d$/, "") === stem).length;
    sources.set(c.name, { param, element: Number(digit), of });
    free.delete(param);
  }
  return rest;
}

function compatible(param: PyParam, c: Param): boolean {
  const allowed = accepts(param.type);
  switch (c.role.kind) {
    case "handle":
      return c.role.of === "vector_array" ? allowed.arrayList : allowed.array;
    case "scalar":
      return c.role.scalar === "int32" && allowed.integer;
    case "array":
      return allowed.integerList;
    case "enum":
      return c.role.of === "mlx_dtype" && param.type.includes("Dtype");
    default:
      return false;
  }
}
