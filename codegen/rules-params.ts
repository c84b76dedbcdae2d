// From a Python parameter and a C parameter to one parameter of the public function and its conversion.

import { camelName } from "./op-names.ts";
import type { Conversion, OpParam, Place } from "./op-plan.ts";
import type { ParamOverride } from "./override.ts";
import type { Param } from "./ir.ts";
import type { PyParam } from "./pyi.ts";

/** A Python signature and the headers that do not go together; the message names the function. */
export class RuleError extends Error {
  constructor(python: string, what: string) {
    super(`codegen, ${python}: ${what}`);
    this.name = "RuleError";
  }
}

/** The members of a Python union: `None | int | Sequence[int]`. Bars inside brackets do not split. */
export function unionMembers(type: string): string[] {
  const members: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= type.length; i++) {
    const char = type[i];
    if (char === "[" || char === "(") depth++;
    else if (char === "]" || char === ")") depth--;
    else if (i === type.length || (char === "|" && depth === 0)) {
      const member = type.slice(start, i).trim();
      if (member !== "") members.push(member);
      start = i + 1;
    }
  }
  return members;
}

const integerList = /^(Sequence|list|tuple)\[int(, (int|\.\.\.))*\]$/;

/** What a Python annotation lets through. */
export interface Accepts {
  none: boolean;
  array: boolean;
  integer: boolean;
  integerList: boolean;
  arrayList: boolean;
}

export function accepts(type: string): Accepts {
  const members = unionMembers(type);
  return {
    none: members.includes("None"),
    array: members.some((m) => m === "array" || m === "scalar"),
    integer: members.includes("int"),
    integerList: members.some((m) => integerList.test(m)),
    arrayList: members.some((m) => m === "list[array]" || m === "Sequence[array]"),
  };
}

const typeNames: Readonly<Record<string, string>> = {
  array: "ArrayInput",
  scalar: "ArrayInput",
  int: "number",
  float: "number",
  bool: "boolean",
  str: "string",
  Dtype: "Dtype",
  "list[array]": "readonly ArrayInput[]",
  "Sequence[array]": "readonly ArrayInput[]",
};

/** The TypeScript type of an annotation, without null. */
export function typeText(python: string, param: PyParam): string {
  const names = unionMembers(param.type)
    .filter((member) => member !== "None")
    .map((member) => (integerList.test(member) ? "readonly number[]" : typeNames[member]));
  const known = names.filter((name) => name !== undefined);
  if (known.length === 0 || known.length !== names.length) {
    throw new RuleError(python, `the type of ${param.name}, "${param.type}", is unknown; give it in the overrides`);
  }
  return [...new Set(known)].join(" | ");
}

const dtypeNames = /^(bool_?|u?int(8|16|32|64)|b?float16|float32|float64|complex64|bfloat16)$/;

/** A Python default as a TypeScript expression; undefined for None, which is passed on as nothing given. */
export function defaultText(python: string, param: PyParam): string | undefined {
  const text = param.default;
  if (text === undefined || text === "None") return undefined;
  if (text === "True" || text === "False") return text.toLowerCase();
  if (dtypeNames.test(text)) return JSON.stringify(text.replace("_", ""));
  if (/^(['"])[^'"\\]*\1$/.test(text)) return JSON.stringify(text.slice(1, -1));
  if (/^\[(-?\d+(, -?\d+)*)?\]$/.test(text)) return text;
  if (text !== "" && Number.isFinite(Number(text))) return String(Number(text));
  throw new RuleError(python, `the default of ${param.name}, "${text}", is unknown; give it in the overrides`);
}

/** Where each parameter may stand, given those before it. */
export function placeOf(param: PyParam, before: readonly PyParam[]): Place {
  if (param.kind === "keyword") return "option";
  if (param.default !== undefined) return "either";
  if (param.kind === "positional") return "operand";
  return before.some((earlier) => earlier.kind === "positional") ? "either" : "operand";
}

/** The public parameter of a Python parameter; its conversion is set once the C side is known. */
export function publicParam(
  python: string,
  param: PyParam,
  before: readonly PyParam[],
  override: ParamOverride,
): Omit<OpParam, "convert"> {
  const text = override.default ?? defaultText(python, param);
  const optional = text !== undefined || param.default !== undefined;
  const place = override.place ?? placeOf(param, before);
  return {
    name: camelName(param.name),
    python: param.name,
    place: place === "operand" && optional ? "either" : place,
    required: !optional,
    nullable: override.nullable ?? accepts(param.type).none,
    ...(text === undefined || text === "null" ? {} : { defaultText: text }),
    type: override.type ?? (override.index ? "IndexInput" : param.name === "key" ? "MxArray" : typeText(python, param)),
  };
}

/** The conversion that brings a Python parameter to a C parameter. */
export function conversion(python: string, param: PyParam, c: Param, override: ParamOverride): Conversion {
  const { role } = c;
  const allowed = accepts(param.type);
  switch (role.kind) {
    case "handle":
      if (role.of === "vector_array") return { kind: "vector" };
      if (role.of !== "array") break;
      if (param.name === "key" && role.nullable) return { kind: "key" };
      if (override.index) return { kind: "indexArray" };
      if (!allowed.array) break;
      return { kind: role.nullable && allowed.none ? "nullableArray" : "array" };
    case "scalar":
      if (role.scalar === "int32") return { kind: "int" };
      if (role.scalar === "float32" || role.scalar === "float64") return { kind: "float" };
      if (role.scalar === "bool") return { kind: "bool" };
      break;
    case "enum":
      if (role.of === "mlx_dtype") return { kind: "dtype" };
      break;
    case "optional":
      return { kind: "optional", value: role.value };
    case "string":
      return { kind: "string" };
    case "array":
      if (role.element.kind === "scalar" && role.element.scalar === "int32") {
        if (override.lengths) return { kind: "lengths" };
        return { kind: allowed.integer && allowed.integerList ? "shape" : "ints" };
      }
      break;
  }
  throw new RuleError(python, `no rule brings ${param.name} ("${param.type}") to ${c.name} of ${c.ctype.text}`);
}
