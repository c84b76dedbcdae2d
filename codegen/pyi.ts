// Reads the type stubs of the pinned Python wheel into python-api.json: names, order, `/` and `*`, defaults, type texts.
// No prose is kept. The generator then knows Python's signatures without needing Python or the wheel.

import { Language, type Node, Parser } from "web-tree-sitter";

/** How Python lets a parameter be given. */
export type PyParamKind = "positional" | "either" | "keyword" | "varargs" | "varkw";

/** One parameter of a Python signature. */
export interface PyParam {
  name: string;
  kind: PyParamKind;
  /** The annotation's text, with whitespace normalised; "" when there is none. */
  type: string;
  /** The default's text ("None", "1e-05"); absent when the parameter is required. */
  default?: string;
}

/** One signature; an overloaded function has several. */
export interface PySignature {
  params: readonly PyParam[];
  returns: string;
}

/** The functions of one Python module. */
export interface PyModule {
  functions: Readonly<Record<string, readonly PySignature[]>>;
  /** `acos = arccos`: the other name of a function, possibly of another module ("linalg.norm"). */
  aliases: Readonly<Record<string, string>>;
  /** Names of classes. */
  classes?: readonly string[];
  /** Names of values: constants, dtypes. */
  values?: readonly string[];
}

/** What python-api.json holds. */
export interface PythonApi {
  /** The version of the wheel. */
  mlx: string;
  modules: Readonly<Record<string, PyModule>>;
  array: PyClass;
}

/** What a class offers. */
export interface PyClass extends Pick<PyModule, "functions" | "aliases"> {
  properties: readonly string[];
}

/** The stubs that are read, by module; "core" is mlx.core itself. */
export const STUBS: Readonly<Record<string, string>> = {
  core: "__init__.pyi",
  linalg: "linalg.pyi",
  fft: "fft.pyi",
  random: "random.pyi",
  fast: "fast.pyi",
  metal: "metal.pyi",
  cuda: "cuda.pyi",
  distributed: "distributed.pyi",
};

/** A stub that the reader does not understand; the message starts with file:line. */
export class StubError extends Error {
  constructor(file: string, node: Node, what: string) {
    super(`${file}:${node.startPosition.row + 1}: ${what}`);
    this.name = "StubError";
  }
}

/** A parser for Python, from the WebAssembly grammar that the development dependencies bring. */
export async function pythonParser(): Promise<Parser> {
  await Parser.init();
  const grammar = import.meta.resolve("tree-sitter-python/tree-sitter-python.wasm");
  const parser = new Parser();
  parser.setLanguage(await Language.load(Bun.fileURLToPath(grammar)));
  return parser;
}

/** Reads every stub; `read` gives the text of a file of the wheel's mlx/core folder. */
export async function readPythonApi(version: string, read: (file: string) => Promise<string>): Promise<PythonApi> {
  const parser = await pythonParser();
  const modules: Record<string, PyModule> = {};
  let array: PythonApi["array"] | undefined;
  for (const [name, file] of Object.entries(STUBS)) {
    const stub = parseStub(parser, file, await read(file));
    const { functions, aliases, classes = [], values = [] } = stub;
    modules[name] = { functions, aliases, classes, values };
    array ??= stub.array;
  }
  if (array === undefined) throw new Error(`${STUBS["core"]}: no class "array"`);
  return { mlx: version, modules, array };
}

/** What one stub declares. */
export interface Stub extends PyModule {
  array?: PyClass;
}

/** Reads one stub. Dunder names and underscore names are left out: they are Python's own protocol. */
export function parseStub(parser: Parser, file: string, text: string): Stub {
  const tree = parser.parse(text);
  if (tree === null) throw new Error(`${file}: the parser gave no tree`);
  try {
    const { functions: own, aliases: others, classes, values } = readScope(file, tree.rootNode);
    const names = [...classes.keys()].filter((name) => !name.startsWith("_"));
    const rest: PyModule = { functions: own, aliases: others, classes: names, values };
    const array = classes.get("array");
    if (array === undefined) return rest;
    const body = array.childForFieldName("body");
    if (body === null) throw new StubError(file, array, "a class without a body");
    const { functions, aliases, properties } = readScope(file, body);
    return { ...rest, array: { functions, aliases, properties } };
  } finally {
    tree.delete();
  }
}

interface Scope {
  functions: Record<string, PySignature[]>;
  aliases: Record<string, string>;
  properties: string[];
  classes: Map<string, Node>;
  values: string[];
}

function readScope(file: string, body: Node): Scope {
  const scope: Scope = { functions: {}, aliases: {}, properties: [], classes: new Map(), values: [] };
  for (const child of body.namedChildren) {
    const decorators =
      child.type === "decorated_definition" ? child.namedChildren.filter((c) => c.type === "decorator") : [];
    const node = child.type === "decorated_definition" ? child.childForFieldName("definition") : child;
    if (node === null) throw new StubError(file, child, "a decorator without a definition");
    if (node.type === "class_definition") scope.classes.set(fieldText(file, node, "name"), node);
    else if (node.type === "function_definition") addFunction(file, node, decorators, scope);
    else if (node.type === "expression_statement") addAlias(node, scope);
  }
  return scope;
}

function addFunction(file: string, node: Node, decorators: readonly Node[], scope: Scope): void {
  const name = fieldText(file, node, "name");
  if (name.startsWith("_")) return;
  const kinds = decorators.map((d) => d.text);
  if (kinds.includes("@property")) scope.properties.push(name);
  else if (kinds.every((k) => k === "@overload")) (scope.functions[name] ??= []).push(readSignature(file, node));
  else if (!kinds.every((k) => k.endsWith(".setter")))
    throw new StubError(file, node, `a decorator of ${name} is unknown`);
}

function addAlias(statement: Node, scope: Scope): void {
  const assignment = statement.namedChildren[0];
  if (assignment?.type !== "assignment") return;
  const left = assignment.childForFieldName("left");
  if (assignment.childForFieldName("type") !== null) {
    if (left?.type === "identifier" && !left.text.startsWith("_")) scope.values.push(left.text);
    return;
  }
  const right = assignment.childForFieldName("right");
  if (left?.type === "identifier" && (right?.type === "identifier" || right?.type === "attribute")) {
    scope.aliases[left.text] = right.text;
  }
}

function readSignature(file: string, node: Node): PySignature {
  const list = node.childForFieldName("parameters");
  if (list === null) throw new StubError(file, node, "a function without a parameter list");
  const params: PyParam[] = [];
  let keywordOnly = false;
  for (const part of list.namedChildren) {
    if (part.type === "comment") continue;
    if (part.type === "positional_separator") {
      params.forEach((p) => void (p.kind = "positional"));
      continue;
    }
    if (part.type === "keyword_separator") {
      keywordOnly = true;
      continue;
    }
    const param = readParam(file, part, keywordOnly);
    if (param.kind === "varargs") keywordOnly = true;
    params.push(param);
  }
  const self = params[0]?.name === "self" ? 1 : 0;
  return { params: params.slice(self), returns: typeText(node.childForFieldName("return_type")) };
}

function readParam(file: string, part: Node, keywordOnly: boolean): PyParam {
  const kind = keywordOnly ? "keyword" : "either";
  switch (part.type) {
    case "identifier":
      return { name: part.text, kind, type: "" };
    case "default_parameter":
    case "typed_default_parameter":
      return {
        name: fieldText(file, part, "name"),
        kind,
        type: typeText(part.childForFieldName("type")),
        default: fieldText(file, part, "value"),
      };
    case "typed_parameter": {
      const inner = part.namedChildren[0];
      if (inner === undefined) throw new StubError(file, part, "an empty parameter");
      return { ...readParam(file, inner, keywordOnly), type: typeText(part.childForFieldName("type")) };
    }
    case "list_splat_pattern":
      return { name: part.text.slice(1), kind: "varargs", type: "" };
    case "dictionary_splat_pattern":
      return { name: part.text.slice(2), kind: "varkw", type: "" };
    default:
      throw new StubError(file, part, `a parameter of the form ${part.type} is unknown`);
  }
}

function fieldText(file: string, node: Node, field: string): string {
  const child = node.childForFieldName(field);
  if (child === null) throw new StubError(file, node, `${node.type} without a ${field}`);
  return child.text;
}

function typeText(node: Node | null): string {
  return node === null ? "" : node.text.replace(/\s+/g, " ").replaceAll("mlx.core.", "");
}

/** The text of python-api.json: one function a line, so that a diff of two versions shows the signatures that changed. */
export function formatPythonApi(api: PythonApi): string {
  const block = (entries: Readonly<Record<string, unknown>>, indent: string): string =>
    Object.keys(entries).length === 0
      ? "{}"
      : `{\n${Object.entries(entries)
          .map(([key, value]) => `${indent}  ${JSON.stringify(key)}: ${JSON.stringify(value)}`)
          .join(",\n")}\n${indent}}`;
  const module = (m: Pick<PyModule, "functions" | "aliases">, indent: string): string =>
    `${indent}"functions": ${block(m.functions, indent)},\n${indent}"aliases": ${block(m.aliases, indent)}`;
  const names = ({ classes = [], values = [] }: PyModule): string =>
    `      "classes": ${JSON.stringify(classes)},\n      "values": ${JSON.stringify(values)}`;
  const modules = Object.entries(api.modules)
    .map(([name, m]) => `    ${JSON.stringify(name)}: {\n${module(m, "      ")},\n${names(m)}\n    }`)
    .join(",\n");
  return `{
  "mlx": ${JSON.stringify(api.mlx)},
  "modules": {
${modules}
  },
  "array": {
${module(api.array, "    ")},
    "properties": ${JSON.stringify(api.array.properties)}
  }
}
`;
}
