// The rules that make operations of the headers and Python's signatures: C variants merge into one function, the
// options are Python's keywords, and every C function and every Python function is accounted for.

import type { Api, CFunction } from "./ir.ts";
import { camelName } from "./op-names.ts";
import type { Body, Dispatch, HandOp, NativeArg, NativeCall, OpParam, OpPlan, OpSet, Result } from "./op-plan.ts";
import { elsewhere, internal, parts } from "./accounts.ts";
import type { Override } from "./override.ts";
import { overrides } from "./overrides.ts";
import type { PyParam, PySignature, PythonApi } from "./pyi.ts";
import { type Match, match } from "./rules-match.ts";
import { accepts, conversion, publicParam, RuleError } from "./rules-params.ts";

/** The headers whose functions are operations, by Python's module. */
export const families: Readonly<Record<string, string>> = {
  core: "ops",
  linalg: "linalg",
  fft: "fft",
  random: "random",
  fast: "fast",
};

/** What a C name adds to Python's where it is a variant of the same function. */
const variantSuffixes = ["", "_axis", "_axes", "_dtype", "_sections"];

/** The hand-kept tables: the project's own, or others in tests. */
export interface Tables {
  overrides: Readonly<Record<string, Override>>;
  /** Python functions that are no operations. */
  elsewhere: Readonly<Record<string, string>>;
  /** C functions that no operation calls. */
  internal: Readonly<Record<string, string>>;
  parts: Readonly<Record<string, string>>;
}

const ownTables: Tables = { overrides, elsewhere, internal, parts };

interface Context {
  tables: Tables;
  byName: ReadonlyMap<string, CFunction>;
  /** C functions that a variant without the axis would call, though Python's axis always has a value. */
  covered: Map<string, string>;
}

/** Makes the plans of all operations. Throws a RuleError for anything that no rule and no override explains. */
export function planOps(api: Api, python: PythonApi, tables: Tables = ownTables): OpSet {
  const { overrides, elsewhere } = tables;
  const family = new Set(Object.values(families));
  const functions = api.functions.filter((fn) => family.has(fn.family));
  const context: Context = { tables, byName: new Map(functions.map((fn) => [fn.name, fn])), covered: new Map() };
  const plans: OpPlan[] = [];
  const byHand: HandOp[] = [];
  const used = new Set<string>();
  for (const [module, { functions: declared }] of Object.entries(python.modules)) {
    // The other modules are no operations: they are written by hand, each in a folder of its own.
    if (families[module] === undefined) continue;
    const aliases = aliasesOf(python, module, overrides);
    for (const [name, signatures] of Object.entries(declared)) {
      const key = module === "core" ? name : `${module}.${name}`;
      const override = overrides[key];
      used.add(key);
      if (elsewhere[key] !== undefined || override?.alias !== undefined) continue;
      const also = (aliases.get(name) ?? []).map(camelName);
      if (override?.whole !== undefined) {
        byHand.push({
          module,
          python: key,
          name: camelName(name),
          file: override.whole,
          native: named(context, key, override.native ?? []),
          aliases: also,
        });
      } else {
        plans.push(planOne(context, module, key, name, signatures, override, also));
      }
    }
  }
  for (const key of [...Object.keys(overrides), ...Object.keys(elsewhere)]) {
    if (!used.has(key)) throw new RuleError(key, "the overrides name a function that Python does not have");
  }
  return { plans, byHand, internal: accountFor(functions, plans, byHand, context) };
}

/** Other names of a function: `acos = arccos` in the stub, and functions that the overrides call the same. */
function aliasesOf(python: PythonApi, module: string, overrides: Tables["overrides"]): Map<string, string[]> {
  const result = new Map<string, string[]>();
  const add = (target: string, name: string): void => void result.set(target, [...(result.get(target) ?? []), name]);
  for (const [name, target] of Object.entries(python.modules[module]?.aliases ?? {})) {
    if (!target.includes(".")) add(target, name);
  }
  for (const [key, { alias }] of Object.entries(overrides)) {
    if (alias !== undefined && module === "core") add(alias, key);
  }
  return result;
}

/** Aliases across modules, as `matrix_norm = linalg.norm`: the new name and where it comes from. */
export function foreignAliases(python: PythonApi): { name: string; module: string; target: string }[] {
  return Object.entries(python.modules["core"]?.aliases ?? {}).flatMap(([name, target]) => {
    const [module, inner] = target.split(".");
    if (inner === undefined || module === undefined || python.modules[module] === undefined) return [];
    return [{ name: camelName(name), module, target: camelName(inner) }];
  });
}

function named(context: Context, key: string, names: readonly string[]): readonly string[] {
  for (const name of names) {
    if (!context.byName.has(name)) throw new RuleError(key, `the overrides name ${name}, which no header declares`);
  }
  return names;
}

function planOne(
  context: Context,
  module: string,
  key: string,
  name: string,
  signatures: readonly PySignature[],
  override: Override | undefined,
  aliases: readonly string[],
): OpPlan {
  const [signature, ...more] = signatures;
  if (signature === undefined || more.length > 0)
    throw new RuleError(key, "several signatures need a hand-written part");
  const params = signature.params.filter((param) => param.name !== "stream");
  if (params.some((p) => p.kind === "varargs" || p.kind === "varkw")) {
    throw new RuleError(key, "a variable number of arguments needs a hand-written part");
  }
  const publics = new Map<PyParam, OpParam>(
    params.map((param, i) => [
      param,
      {
        ...publicParam(key, param, params.slice(0, i), override?.params?.[param.name] ?? {}),
        convert: { kind: "free" },
      },
    ]),
  );
  const plan = override?.body === undefined ? byRule(context, module, key, name, params, publics, override) : undefined;
  const native = plan?.native ?? named(context, key, override?.native ?? []);
  const result =
    plan?.result ??
    resultOf(
      key,
      native.map((fn) => context.byName.get(fn)).filter((fn) => fn !== undefined),
    );
  return {
    module,
    python: key,
    signature: signatureText(signature),
    name: camelName(name),
    params: [...publics.values()],
    stream: signature.params.some((param) => param.name === "stream"),
    body: plan?.body ?? { kind: "byHand", file: override?.body ?? "" },
    result,
    returns: override?.returns ?? { array: "MxArray", two: "[MxArray, MxArray]", list: "MxArray[]" }[result],
    checks: override?.checks ?? [],
    ...(override?.guard === undefined ? {} : { guard: override.guard }),
    native,
    aliases,
  };
}

interface Ruled {
  body: Body;
  native: readonly string[];
  result: Result;
}

function byRule(
  context: Context,
  module: string,
  key: string,
  name: string,
  params: readonly PyParam[],
  publics: ReadonlyMap<PyParam, OpParam>,
  override: Override | undefined,
): Ruled {
  const base = module === "core" ? `mlx_${name}` : `mlx_${module}_${name}`;
  const names =
    override?.c === undefined ? variantSuffixes.map((suffix) => base + suffix) : named(context, key, [override.c]);
  const variants = names.map((n) => context.byName.get(n)).filter((fn) => fn !== undefined);
  if (variants.length === 0) throw new RuleError(key, `no header declares ${base}, and no override says where it is`);
  const matches = variants.map((fn) => match(key, params, fn));
  const calls = matches.map((m) => nativeCall(key, m, publics, override));
  const result = resultOf(key, variants);
  const pair = isPair(module, calls[0]);
  const chooser = params.filter((param) => new Set(matches.map((m) => formIn(m, param))).size > 1);
  const [by, ...others] = chooser;
  if (others.length > 0)
    throw new RuleError(key, `several parameters choose the variant: ${chooser.map((p) => p.name).join()}`);
  if (by === undefined) {
    const [call, second] = calls;
    if (call === undefined || second !== undefined) throw new RuleError(key, "nothing tells its C variants apart");
    if (matches[0]!.unused.length > 0) {
      throw new RuleError(key, `${call.fn.name} does not take ${matches[0]!.unused.map((p) => p.name).join()}`);
    }
    return { body: { kind: "call", call, pair }, native: [call.fn.name], result };
  }
  const param = publics.get(by) as OpParam;
  const dispatch: Dispatch = { param };
  matches.forEach((m, i) => void (dispatch[formIn(m, by)] = calls[i] as NativeCall));
  const nothing = param.nullable || (!param.required && param.defaultText === undefined);
  if (!nothing && dispatch.absent !== undefined) {
    context.covered.set(dispatch.absent.fn.name, `${by.name} always has a value, so that its variant does it`);
    delete dispatch.absent;
  }
  if (nothing && dispatch.absent === undefined) throw new RuleError(key, `no variant goes without ${by.name}`);
  const chosen = [dispatch.absent, dispatch.number, dispatch.list, dispatch.given].filter((call) => call !== undefined);
  return { body: { kind: "dispatch", dispatch, pair }, native: chosen.map((call) => call.fn.name), result };
}

/** In which form a variant takes a parameter. */
function formIn(m: Match, param: PyParam): "absent" | "number" | "list" | "given" {
  for (const [cname, source] of m.sources) {
    if (source.param !== param) continue;
    const role = m.fn.params.find((c) => c.name === cname)?.role;
    if (!accepts(param.type).integer && role?.kind !== "array") return "given";
    return role?.kind === "array" ? "list" : "number";
  }
  return "absent";
}

function nativeCall(
  key: string,
  m: Match,
  publics: ReadonlyMap<PyParam, OpParam>,
  override: Override | undefined,
): NativeCall {
  let outs = 0;
  const args = m.fn.params.map((c): NativeArg => {
    if (c.role.kind === "outHandle") return { from: "out", index: outs++ };
    if (c.role.kind === "stream") return { from: "stream" };
    const counted = c.role.kind === "length" ? m.fn.params[c.role.array] : c;
    const source = counted === undefined ? undefined : m.sources.get(counted.name);
    const param = source === undefined ? undefined : publics.get(source.param);
    if (source === undefined || param === undefined)
      throw new RuleError(key, `${c.name} of ${m.fn.name} has no source`);
    if (c.role.kind === "length") return { from: "length", param };
    if (source.element !== undefined) {
      param.convert = { kind: "tuple", length: source.of ?? 0 };
      return { from: "element", param, index: source.element };
    }
    const convert = conversion(key, source.param, c, override?.params?.[source.param.name] ?? {});
    param.convert = convert;
    return { from: "param", param, convert };
  });
  return { fn: m.fn, args };
}

/** Two operands that promote each other, so that a scalar on either side is typed by the array on the other. */
function isPair(module: string, call: NativeCall | undefined): boolean {
  if (call === undefined || (module !== "core" && module !== "linalg")) return false;
  const operands = call.args.filter((arg) => arg.from === "param" && arg.param.place === "operand");
  const arrays = operands.filter((arg) => arg.from === "param" && arg.convert.kind === "array");
  return arrays.length === 2 && operands.indexOf(arrays[0]!) === 0 && operands.indexOf(arrays[1]!) === 1;
}

function resultOf(key: string, variants: readonly CFunction[]): Result {
  const results = new Set(
    variants.map((fn) => {
      const outs = fn.params.flatMap(({ role }) => (role.kind === "outHandle" ? [role.of] : []));
      return outs.join();
    }),
  );
  const [only, ...others] = results.size === 0 ? ["array"] : [...results];
  if (others.length === 0 && only === "array") return "array";
  if (others.length === 0 && only === "array,array") return "two";
  if (others.length === 0 && only === "vector_array") return "list";
  throw new RuleError(key, `results of the form ${[...results].join(" and ")} have no rule`);
}

/** Python's text of a signature without types and stream: `a, /, axis=None, keepdims=False`. */
export function signatureText({ params }: PySignature): string {
  const parts: string[] = [];
  const shown = params.filter((param) => param.name !== "stream");
  shown.forEach((param, i) => {
    const before = shown[i - 1]?.kind;
    if (before === "positional" && param.kind !== "positional") parts.push("/");
    if (param.kind === "keyword" && before !== "keyword" && before !== "varargs") parts.push("*");
    const star = param.kind === "varargs" ? "*" : "";
    parts.push(star + param.name + (param.default === undefined ? "" : `=${param.default}`));
  });
  if (shown.at(-1)?.kind === "positional") parts.push("/");
  return parts.join(", ");
}

/** Every C function of these headers is called by an operation or listed with a reason, and never both. */
function accountFor(
  functions: readonly CFunction[],
  plans: readonly OpPlan[],
  byHand: readonly HandOp[],
  context: Context,
): Map<string, string> {
  const called = new Set([...plans, ...byHand].flatMap((op) => op.native));
  const { internal, parts } = context.tables;
  const listed = Object.entries({ ...internal, ...parts });
  const reasons = new Map<string, string>();
  const used = new Set<string>();
  for (const { name } of functions) {
    const line = listed.find(([p]) => p === name || (p.endsWith("*") && name.startsWith(p.slice(0, -1))));
    const reason = line?.[1] ?? context.covered.get(name);
    if (line !== undefined) used.add(line[0]);
    // Hand-written parts may call what belongs to something else.
    if (called.has(name) && internal[name] !== undefined)
      throw new RuleError(name, "is called, yet listed as internal");
    if (called.has(name)) continue;
    if (reason === undefined) throw new RuleError(name, "no operation calls it, and the overrides give no reason");
    reasons.set(name, reason);
  }
  for (const [pattern] of listed) {
    if (!used.has(pattern)) throw new RuleError(pattern, "is listed as internal, but no header declares it");
  }
  return reasons;
}
