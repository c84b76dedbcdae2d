// C declarators: from a tree-sitter node such as `int (*fun)(mlx_array*)` to a name and a type.

import type { Node } from "web-tree-sitter";
import { type CType, HeaderError } from "./ir.ts";

/** A parameter as spelled: types.ts gives it its role. */
export interface RawParam {
  name: string;
  ctype: RawType;
  /** Marked with a may-be-null comment. */
  nullable: boolean;
}

/** A type as spelled, where a function pointer still has raw parameters. */
export interface RawType extends Omit<CType, "signature"> {
  signature?: RawSignature;
}

/** A function type as spelled. */
export interface RawSignature {
  text: string;
  returns: RawType;
  params: readonly RawParam[];
  variadic: boolean;
}

/** A declared name with its type; `function` when it declares a function and not a value. */
export interface Declared {
  name: string;
  ctype: RawType;
  function?: RawSignature;
}

/** The line of a node, counted from 1. */
export function lineOf(node: Node): number {
  return node.startPosition.row + 1;
}

function namedChildren(node: Node): Node[] {
  return node.namedChildren.filter((child): child is Node => child !== null);
}

function unknown(header: string, node: Node, where: string): HeaderError {
  const text = node.text.replace(/\s+/g, " ").slice(0, 80);
  return new HeaderError(header, lineOf(node), `codegen does not understand this ${where} (${node.type}): ${text}`);
}

/** A by-value or pointer type with its spelling. */
export function makeType(base: string, isConst: boolean, pointers: number): RawType {
  return { base, isConst, pointers, text: `${isConst ? "const " : ""}${base}${"*".repeat(pointers)}` };
}

function signatureOf(returns: RawType, params: readonly RawParam[], variadic: boolean): RawSignature {
  const list = params.map((param) => param.ctype.text);
  if (variadic) list.push("...");
  return { text: `${returns.text} (*)(${list.join(", ")})`, returns, params, variadic };
}

/** The base type of a declaration: its `type` field and a const in front; any other specifier is an error. */
export function baseType(header: string, node: Node, allowed: readonly string[] = []): RawType {
  const type = node.childForFieldName("type");
  if (type === null) throw unknown(header, node, "declaration without a type");
  if (!["primitive_type", "type_identifier"].includes(type.type)) throw unknown(header, type, "type");
  let isConst = false;
  for (const child of namedChildren(node)) {
    if (child.type === "type_qualifier") {
      if (child.text !== "const") throw unknown(header, child, "qualifier");
      isConst = true;
    } else if (child.type.endsWith("_specifier") && child.id !== type.id && !allowed.includes(child.text)) {
      throw unknown(header, child, "specifier");
    }
  }
  return makeType(type.text, isConst, 0);
}

/** Reads the declarator of `node` (its `declarator` field, or none) onto a base type. */
export function declare(header: string, node: Node, base: RawType): Declared {
  const declarators = node.childrenForFieldName("declarator").filter((child) => child !== null);
  if (declarators.length > 1) throw unknown(header, node, "declaration of several names");
  const [declarator] = declarators;
  return declarator === undefined ? { name: "", ctype: base } : read(header, declarator, base);
}

function read(header: string, node: Node, base: RawType): Declared {
  switch (node.type) {
    case "identifier":
    case "field_identifier":
    case "type_identifier":
      return { name: node.text, ctype: base };
    case "pointer_declarator":
    case "abstract_pointer_declarator": {
      const extra = namedChildren(node).find(
        (child) => child.type.includes("qualifier") || child.type.startsWith("ms_"),
      );
      if (extra !== undefined) throw unknown(header, extra, "qualifier of a pointer");
      const pointer = makeType(base.base, base.isConst, base.pointers + 1);
      const inner = node.childForFieldName("declarator");
      return inner === null ? { name: "", ctype: pointer } : read(header, inner, pointer);
    }
    case "function_declarator":
    case "abstract_function_declarator":
      return readFunction(header, node, base);
    default:
      throw unknown(header, node, "declarator");
  }
}

/** `name(...)` declares a function; `(*name)(...)` and `(*)(...)` a pointer to one. */
function readFunction(header: string, node: Node, returns: RawType): Declared {
  const inner = node.childForFieldName("declarator");
  const list = node.childForFieldName("parameters");
  if (inner === null || list === null) throw unknown(header, node, "function declarator");
  const rest = namedChildren(node).find((child) => child.id !== inner.id && child.id !== list.id);
  if (rest !== undefined) throw unknown(header, rest, "attribute of a function");
  const { params, variadic } = readParams(header, list);
  const signature = signatureOf(returns, params, variadic);
  if (inner.type === "identifier") return { name: inner.text, ctype: returns, function: signature };

  const [pointer] = inner.type.endsWith("parenthesized_declarator") ? namedChildren(inner) : [];
  if (pointer === undefined || !pointer.type.endsWith("pointer_declarator")) throw unknown(header, node, "declarator");
  const name = pointer.childForFieldName("declarator");
  if (name !== null && !name.type.endsWith("identifier")) throw unknown(header, name, "function pointer");
  return {
    name: name?.text ?? "",
    ctype: { base: "function", isConst: false, pointers: 0, text: signature.text, signature },
  };
}

/** A parameter list. `(void)` and `()` are both empty; the one comment understood is the one that allows null. */
function readParams(header: string, list: Node): { params: RawParam[]; variadic: boolean } {
  const params: RawParam[] = [];
  let variadic = false;
  for (const child of namedChildren(list)) {
    if (child.type === "comment") {
      const last = params.at(-1);
      if (last === undefined || !/^\/\*\s*may be null\s*\*\/$/.test(child.text)) {
        throw unknown(header, child, "comment in a parameter list");
      }
      last.nullable = true;
    } else if (child.type === "variadic_parameter") {
      variadic = true;
    } else if (child.type === "parameter_declaration") {
      const { name, ctype, function: fn } = declare(header, child, baseType(header, child));
      if (fn !== undefined) throw unknown(header, child, "parameter of function type");
      params.push({ name, ctype, nullable: false });
    } else {
      throw unknown(header, child, "parameter");
    }
  }
  const [only] = params;
  if (params.length === 1 && only?.ctype.text === "void" && only.name === "") params.pop();
  return { params, variadic };
}
