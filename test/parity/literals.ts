// What a Python literal becomes in a JavaScript call. JavaScript has one number type and Python two, and Python's
// dtypes follow the literal (2 is int32, 2.0 is float32), so this one place decides:
//
//   Python                        JavaScript
//   True, "text", None            true, "text", null
//   2                             2, a weak integer
//   2.5, inf, nan                 2.5, a weak float
//   2.0 for an array parameter    mx.float(2), a weak float
//   2.0 for a number parameter    2 (eps, scale, base: no dtype depends on it)
//   2**60                         a bigint
//   1.5 + 2j                      { re: 1.5, im: 2 }
//   (2, 3), [0, 1]                [2, 3], [0, 1]
//   mx.array(L), mx.asarray(L)    mx.array(L, { dtype }), with the dtype that Python's literals give:
//                                 all bool: bool; int: int32, or int64 when one does not fit; a float among them:
//                                 float32; a complex among them: complex64; no element: float32
//   mx.full(shape, 7)             mx.full(shape, mx.array(7, { dtype })), the same rule, when no dtype is given
//   mx.arange(5.0)                mx.arange(5, { dtype: float32 }), when no dtype is given
//   f(a, keepdims=True)           f(a, { keepDims: true })
import api from "../../codegen/python-api.json" with { type: "json" };
import { isArray, makeArray } from "./arrays.ts";
import { type ArrayValue, PyFloat, tagged, toNumber, Unsupported } from "./format.ts";
import { camelCase, mx, resolve, resolveFunction } from "./names.ts";
import { makeView } from "./views.ts";

interface Parameter {
  name: string;
  kind: string;
  type: string;
}

interface Signatures {
  functions: Record<string, { params: Parameter[] }[]>;
}

const modules = (api as unknown as { modules: Record<string, Signatures>; array: Signatures }).modules;
const methods = (api as unknown as { array: Signatures }).array;

function signatures(fn: string): { params: Parameter[] }[] {
  const path = fn.split(".");
  const name = path.at(-1) ?? "";
  if (path[0] === "array") return methods.functions[name] ?? [];
  return modules[path.length === 3 ? (path[1] ?? "") : "core"]?.functions[name] ?? [];
}

/** Whether Python takes an array where this argument goes; an unknown signature counts as if it did. */
function takesArray(fn: string, where: number | string): boolean {
  const found = signatures(fn).flatMap(({ params }) => {
    // A method's own array is the first argument here and is not among its parameters.
    const index = typeof where === "number" && fn.startsWith("array.") ? where - 1 : where;
    const parameter = typeof index === "number" ? params[index] : params.find(({ name }) => name === index);
    return parameter === undefined ? [] : [parameter.type];
  });
  return found.length === 0 || found.some((type) => /\b(?:array|scalar|ArrayLike)\b/.test(type));
}

/** A literal or tagged value; `weak` says whether an integral float must stay a float. */
export function decode(value: unknown, weak: boolean): unknown {
  if (isArray(value)) return value;
  if (value instanceof PyFloat) return weak ? resolveFunction("mx.float")(value.value) : value.value;
  if (Array.isArray(value)) return value.map((item) => decode(item, weak));
  const tag = tagged(value);
  if (tag !== undefined) return decodeTagged(tag.tag, tag.body, weak);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, decode(item, weak)]));
  }
  return value;
}

function decodeTagged(tag: string, body: unknown, weak: boolean): unknown {
  switch (tag) {
    case "$array":
      return makeArray(body as ArrayValue);
    case "$view": {
      const { of, ops } = body as { of: unknown; ops: unknown[][] };
      return makeView(decode(of, weak), ops);
    }
    case "$dtype":
      return resolve(`mx.${body as string}`);
    case "$category":
      return resolve(`mx.${body as string}`);
    case "$key":
      return resolveFunction("mx.random.key")(decode(body, false));
    case "$float": {
      const number = toNumber(body);
      return weak && Number.isInteger(number) ? resolveFunction("mx.float")(number) : number;
    }
    case "$int":
      return BigInt(body as string);
    case "$complex": {
      const [re, im] = body as [unknown, unknown];
      return { re: toNumber(re), im: toNumber(im) };
    }
    case "$list":
      return body;
    case "$fn":
      return resolveFunction(body as string);
    default:
      throw new Unsupported(`value ${tag}`);
  }
}

type Literal = "bool" | "int32" | "int64" | "float32" | "complex64";
const rank: readonly Literal[] = ["bool", "int32", "int64", "float32", "complex64"];

/** The dtype that Python MLX gives to a literal, or undefined when arrays or other objects are in it. */
export function literalDtype(value: unknown): Literal | undefined {
  if (typeof value === "boolean") return "bool";
  if (value instanceof PyFloat) return "float32";
  if (typeof value === "number") {
    if (!Number.isInteger(value)) return "float32";
    return value >= -(2 ** 31) && value < 2 ** 31 ? "int32" : "int64";
  }
  const tag = tagged(value)?.tag;
  if (tag !== undefined) {
    const known: Record<string, Literal> = { $int: "int64", $float: "float32", $complex: "complex64" };
    return known[tag];
  }
  if (!Array.isArray(value)) return undefined;
  if (value.length === 0) return "float32";
  const types = value.map(literalDtype);
  if (types.includes(undefined)) return undefined;
  return rank[Math.max(...types.map((type) => rank.indexOf(type as Literal)))];
}

/** The JavaScript arguments of a Python call: positional ones in order, keywords in one options object at the end. */
export function decodeCall(fn: string, args: unknown[], kwargs: Record<string, unknown>): unknown[] {
  const creates = fn === "mx.array" || fn === "mx.asarray";
  const positional = args.map((arg, index) => {
    const weak = !(creates && index === 0) && takesArray(fn, index);
    return decode(arg, weak);
  });
  const options: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(kwargs)) options[camelCase(key)] = decode(value, takesArray(fn, key));

  if (creates && options.dtype === undefined) {
    const dtype = literalDtype(args[0]);
    if (dtype !== undefined) options.dtype = dtype;
  }
  if (fn === "mx.full" && options.dtype === undefined && args.length === 2 && !isArray(positional[1])) {
    const dtype = literalDtype(args[1]);
    if (dtype !== undefined) positional[1] = resolveFunction("mx.array")(decode(args[1], false), { dtype });
  }
  if (fn === "mx.arange" && options.dtype === undefined && args.some((arg) => literalDtype(arg) === "float32")) {
    options.dtype = (mx() as { float32: unknown }).float32;
  }
  if (Object.keys(options).length > 0) positional.push(options);
  return positional;
}
