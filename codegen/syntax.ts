// Headers -> raw declarations: walks tree-sitter's tree, knows every shape that mlx-c uses, and refuses any other.

import { Language, type Node, Parser } from "web-tree-sitter";
import { baseType, declare, type Declared, lineOf, type RawType } from "./declarators.ts";
import { bothGuards } from "./guards.ts";
import { type CDefine, type CEnum, type Guard, type HeaderFile, HeaderError } from "./ir.ts";

/** Where a declaration stands. */
export interface Place {
  header: string;
  line: number;
  guard?: Guard;
}

/** What one header declares, before roles are known. */
export interface RawHeader {
  functions: (Place & { declared: Declared & { function: NonNullable<Declared["function"]> }; prototype: string })[];
  structs: (Place & { cname: string; fields: { name: string; ctype: RawType }[] })[];
  /** `typedef struct x_ x;`: promises that x is defined elsewhere. */
  forwards: (Place & { cname: string })[];
  enums: CEnum[];
  aliases: (Place & { cname: string; target: RawType })[];
  statics: (Place & { name: string; ctype: RawType })[];
  defines: CDefine[];
}

let parserPromise: Promise<Parser> | undefined;

async function createParser(): Promise<Parser> {
  await Parser.init();
  const wasm = Bun.fileURLToPath(import.meta.resolve("tree-sitter-c/tree-sitter-c.wasm"));
  const parser = new Parser();
  parser.setLanguage(await Language.load(wasm));
  return parser;
}

/** Text with the same lines and columns in which nothing is left but line breaks. */
function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}

/**
 * What tree-sitter cannot take is taken away first, keeping every line where it was: the C++ linkage blocks (an
 * unbalanced brace each), and the one use of `_Complex`, a keyword that the grammar lacks, joined to its base type.
 */
export function prepare(text: string): string {
  return text
    .replace(/^#ifdef __cplusplus$[\s\S]*?^#endif.*$/gm, blank)
    .replace(/\bfloat _Complex\b/g, "float_Complex ");
}

/** Parses one header. Throws HeaderError at the first thing it does not understand. */
export async function readHeader(file: HeaderFile): Promise<RawHeader> {
  parserPromise ??= createParser();
  const parser = await parserPromise;
  const tree = parser.parse(prepare(file.text));
  if (tree === null) throw new HeaderError(file.name, 1, "could not be parsed");
  const out: RawHeader = { functions: [], structs: [], forwards: [], enums: [], aliases: [], statics: [], defines: [] };
  const bad = firstError(tree.rootNode);
  if (bad !== undefined) {
    throw new HeaderError(file.name, lineOf(bad), `is not C that codegen can parse, near: ${bad.text.slice(0, 60)}`);
  }
  walk(file.name, tree.rootNode, undefined, out, true);
  refuseValues(file, out);
  tree.delete();
  return out;
}

function firstError(node: Node): Node | undefined {
  if (!node.hasError) return undefined;
  if (node.isError || node.isMissing) return node;
  for (const child of node.children) {
    const found = child === null ? undefined : firstError(child);
    if (found !== undefined) return found;
  }
  return node;
}

function place(header: string, node: Node, guard: Guard | undefined): Place {
  return { header, line: lineOf(node), ...(guard !== undefined && { guard }) };
}

function unknown(header: string, node: Node, where: string): HeaderError {
  const text = node.text.replace(/\s+/g, " ").slice(0, 80);
  return new HeaderError(header, lineOf(node), `codegen does not understand this ${where} (${node.type}): ${text}`);
}

function children(node: Node): Node[] {
  return node.namedChildren.filter((child): child is Node => child !== null);
}

function walk(header: string, parent: Node, guard: Guard | undefined, out: RawHeader, top: boolean): void {
  for (const node of children(parent)) {
    switch (node.type) {
      case "comment":
      // Every header is read by itself, so what it includes is read anyway.
      case "preproc_include":
      // A macro that takes arguments is code (mlx_error), not a declaration.
      case "preproc_function_def":
        break;
      case "preproc_def":
        readDefine(header, node, guard, out);
        break;
      case "preproc_ifdef":
      case "preproc_if":
        readConditional(header, node, guard, out, top);
        break;
      case "type_definition":
        readTypedef(header, node, guard, out);
        break;
      case "declaration":
        readDeclaration(header, node, guard, out);
        break;
      default:
        if (isConditionPart(parent, node)) break;
        throw unknown(header, node, "declaration");
    }
  }
}

/** The name or expression of a conditional, and the other branches, which readConditional walks itself. */
function isConditionPart(parent: Node, node: Node): boolean {
  return ["name", "condition", "alternative"].some((field) => parent.childForFieldName(field)?.id === node.id);
}

function readDefine(header: string, node: Node, guard: Guard | undefined, out: RawHeader): void {
  const macro = node.childForFieldName("name")?.text;
  const given = node.childForFieldName("value")?.text;
  const value = given === undefined ? undefined : Number(given);
  if (macro === undefined || (value !== undefined && !Number.isInteger(value)))
    throw unknown(header, node, "macro with a value");
  out.defines.push({ macro, ...(value !== undefined && { value }), ...place(header, node, guard) });
}

/** A macro with a value may be something that codegen should have used, unless it is known to be of no use here. */
function refuseValues({ name, constants = [] }: HeaderFile, { defines }: RawHeader): void {
  const odd = defines.find(({ macro, value }) => value !== undefined && !constants.includes(macro));
  if (odd !== undefined) throw new HeaderError(name, odd.line, `codegen does not understand the value of ${odd.macro}`);
}

function readConditional(header: string, node: Node, guard: Guard | undefined, out: RawHeader, top: boolean): void {
  const [first] = children(node).filter((child) => !isConditionPart(node, child));
  const macro = node.childForFieldName("name")?.text;
  const negative = node.child(0)?.type === "#ifndef";
  const isIncludeGuard =
    top && negative && first?.type === "preproc_def" && first.childForFieldName("name")?.text === macro;
  if (isIncludeGuard) {
    walk(header, node, guard, out, false);
    return;
  }
  let condition: Guard;
  if (node.type === "preproc_ifdef") {
    if (macro === undefined) throw unknown(header, node, "conditional");
    condition = negative ? { kind: "not", of: { kind: "defined", macro } } : { kind: "defined", macro };
  } else {
    const expression = node.childForFieldName("condition");
    if (expression === null) throw unknown(header, node, "conditional");
    condition = readCondition(header, expression);
  }
  walk(header, node, bothGuards(guard, condition), out, false);
  const other = node.childForFieldName("alternative");
  if (other === null) return;
  if (other.type !== "preproc_else") throw unknown(header, other, "branch of a conditional");
  walk(header, other, bothGuards(guard, { kind: "not", of: condition }), out, false);
}

function readCondition(header: string, node: Node): Guard {
  const [first] = children(node);
  switch (node.type) {
    case "preproc_defined":
      if (first?.type === "identifier") return { kind: "defined", macro: first.text };
      break;
    case "parenthesized_expression":
      if (first !== undefined) return readCondition(header, first);
      break;
    case "unary_expression":
      if (node.childForFieldName("operator")?.text === "!" && first !== undefined) {
        return { kind: "not", of: readCondition(header, first) };
      }
      break;
    case "binary_expression": {
      const kind = { "||": "or", "&&": "and" }[node.childForFieldName("operator")?.text ?? ""];
      const left = node.childForFieldName("left");
      const right = node.childForFieldName("right");
      if ((kind === "or" || kind === "and") && left !== null && right !== null) {
        return { kind, of: [readCondition(header, left), readCondition(header, right)] };
      }
      break;
    }
  }
  throw unknown(header, node, "condition");
}

function readTypedef(header: string, node: Node, guard: Guard | undefined, out: RawHeader): void {
  const type = node.childForFieldName("type");
  if (type === null) throw unknown(header, node, "typedef");
  const at = place(header, node, guard);
  if (type.type !== "struct_specifier" && type.type !== "enum_specifier") {
    const { name, ctype } = declare(header, node, baseType(header, node));
    out.aliases.push({ cname: name, target: ctype, ...at });
    return;
  }
  const names = node.childrenForFieldName("declarator");
  const cname = names[0]?.type === "type_identifier" ? names[0].text : undefined;
  if (names.length !== 1 || cname === undefined) throw unknown(header, node, "typedef");
  const body = type.childForFieldName("body");
  if (type.type === "enum_specifier") {
    if (body === null || guard !== undefined) throw unknown(header, node, "enum");
    out.enums.push({ cname, members: readEnum(header, body), header, line: at.line });
  } else if (body === null) {
    out.forwards.push({ cname, ...at });
  } else {
    if (guard !== undefined) throw unknown(header, node, "struct under a condition");
    const fields = children(body).filter((child) => child.type !== "comment");
    const read = fields.map((field) => {
      if (field.type !== "field_declaration") throw unknown(header, field, "field");
      return declare(header, field, baseType(header, field));
    });
    out.structs.push({ cname, fields: read.map(({ name, ctype }) => ({ name, ctype })), ...at });
  }
}

/** Members count up from the one before, as C has it; a given value must be a plain integer. */
function readEnum(header: string, body: Node): CEnum["members"] {
  const members: { name: string; value: number }[] = [];
  for (const node of children(body)) {
    if (node.type === "comment") continue;
    const name = node.childForFieldName("name")?.text;
    if (node.type !== "enumerator" || name === undefined) throw unknown(header, node, "enum member");
    const given = node.childForFieldName("value")?.text;
    const value = given === undefined ? (members.at(-1)?.value ?? -1) + 1 : Number(given);
    if (!Number.isInteger(value)) throw unknown(header, node, "enum value");
    members.push({ name, value });
  }
  return members;
}

function readDeclaration(header: string, node: Node, guard: Guard | undefined, out: RawHeader): void {
  const declared = declare(header, node, baseType(header, node, ["static"]));
  const isStatic = children(node).some((child) => child.type === "storage_class_specifier");
  const at = place(header, node, guard);
  if (declared.function !== undefined) {
    if (isStatic) throw unknown(header, node, "static function");
    const prototype = node.text
      .replace(/\/\*.*?\*\//g, "")
      .replace(/\s+/g, " ")
      .replace(/\s*([(),;])/g, "$1")
      .replace(/\(\s+/g, "(")
      .replace(/,(?=\S)/g, ", ")
      .replace(/(\w) ?\(\*/g, "$1 (*")
      .replace(/;$/, "");
    out.functions.push({ declared: { ...declared, function: declared.function }, prototype, ...at });
  } else if (isStatic && guard === undefined) {
    out.statics.push({ name: declared.name, ctype: declared.ctype, ...at });
  } else {
    throw unknown(header, node, "variable");
  }
}
