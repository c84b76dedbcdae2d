// Headers -> IR: reads every header's declarations, learns what the type names mean, and gives parameters their roles.

import { HeaderError } from "./ir.ts";
import type { Api, CAlias, CFunction, CStruct, HandleKind, HeaderSet } from "./ir.ts";
import { type RawHeader, readHeader } from "./syntax.ts";
import { classifyParams, classifyReturn, finishType, type Names } from "./types.ts";

type RawStruct = RawHeader["structs"][number];

/** `typedef struct { void* ctx; } mlx_x`. */
function isHandle({ fields }: RawStruct): boolean {
  return fields.length === 1 && fields[0]?.name === "ctx" && fields[0].ctype.text === "void*";
}

function structShape({ cname, fields, header, line }: RawStruct): CStruct["shape"] {
  const [first, second] = fields;
  if (fields.length === 2 && first?.name === "value" && second?.name === "has_value" && second.ctype.text === "bool") {
    return "optional";
  }
  if (fields.length === 2 && fields.every((field) => field.ctype.text === "void*")) return "iterator";
  if (fields.length > 0 && fields.every((field) => field.ctype.signature !== undefined)) return "vtable";
  throw new HeaderError(header, line, `codegen does not understand the struct ${cname}`);
}

function withoutPrefix(cname: string, header: string, line: number): string {
  if (!cname.startsWith("mlx_")) throw new HeaderError(header, line, `${cname} does not begin with mlx_`);
  return cname.slice("mlx_".length);
}

/** `mlx_optional_dtype` -> "dtype". */
function optionalValue({ cname, header, line }: RawStruct): "int" | "float" | "dtype" {
  const value = cname.replace("mlx_optional_", "");
  if (value === "int" || value === "float" || value === "dtype") return value;
  throw new HeaderError(header, line, `codegen does not know how ${cname} is passed`);
}

function collectNames(
  headers: readonly RawHeader[],
  structs: readonly CStruct[],
  handles: readonly HandleKind[],
): Names {
  const raw = new Map(headers.flatMap((header) => header.structs).map((struct) => [struct.cname, struct]));
  const optionals = structs.filter((struct) => struct.shape === "optional").map((struct) => struct.cname);
  const ofShape = (shape: CStruct["shape"]): Set<string> =>
    new Set(structs.filter((struct) => struct.shape === shape).map((struct) => struct.cname));
  const callbacks = headers
    .flatMap((header) => header.aliases)
    .flatMap(({ cname, target }) => (target.signature === undefined ? [] : [[cname, target.signature] as const]));
  return {
    handles: new Map(handles.map((handle) => [handle.cname, handle.kind])),
    optionals: new Map(optionals.map((cname) => [cname, optionalValue(raw.get(cname) as RawStruct)])),
    iterators: ofShape("iterator"),
    vtables: ofShape("vtable"),
    enums: new Set(headers.flatMap((header) => header.enums).map((item) => item.cname)),
    callbacks: new Map(callbacks),
  };
}

/** Reads a set of headers. Throws HeaderError, with file and line, at anything that it does not understand. */
export async function parseHeaders(set: HeaderSet): Promise<Api> {
  const headers: RawHeader[] = [];
  for (const file of set.files) headers.push(await readHeader(file));

  const allStructs = headers.flatMap((header) => header.structs);
  const handles: HandleKind[] = allStructs.filter(isHandle).map(({ cname, header, line }) => ({
    kind: withoutPrefix(cname, header, line),
    cname,
    header,
    line,
  }));
  const others = allStructs.filter((struct) => !isHandle(struct));
  const shapes: CStruct[] = others.map((struct) => ({
    cname: struct.cname,
    shape: structShape(struct),
    fields: [],
    header: struct.header,
    line: struct.line,
  }));
  const names = collectNames(headers, shapes, handles);
  const finish = (struct: RawStruct): CStruct["fields"] =>
    struct.fields.map(({ name, ctype }) => ({
      name,
      ctype: finishType(ctype, { ...struct, name: struct.cname }, names),
    }));

  const known = new Set(allStructs.map((struct) => struct.cname));
  for (const forward of headers.flatMap((header) => header.forwards)) {
    if (!known.has(forward.cname)) {
      throw new HeaderError(forward.header, forward.line, `${forward.cname} is declared but defined in no header`);
    }
  }

  const api: Api = {
    version: set.version,
    hash: set.hash,
    headers: set.files.map((file) => file.name),
    functions: headers.flatMap((header) => header.functions).map((raw) => finishFunction(raw, names)),
    handles,
    structs: shapes.map((shape, index) => ({ ...shape, fields: finish(others[index] as RawStruct) })),
    enums: headers.flatMap((header) => header.enums),
    aliases: headers
      .flatMap((header) => header.aliases)
      .map((alias): CAlias => {
        return { ...alias, target: finishType(alias.target, { ...alias, name: alias.cname }, names) };
      }),
    statics: headers
      .flatMap((header) => header.statics)
      .map(({ name, ctype, header, line }) => {
        return { name, ctype: finishType(ctype, { name, header, line }, names), header, line };
      }),
    defines: headers.flatMap((header) => header.defines),
  };
  refuseRepeats(api);
  return api;
}

/**
 * Reads the shim's header, whose types are mlx-c's: both are read together, and only the shim's functions and macros are
 * kept. A name that both declare is refused like any other that is declared twice.
 */
export async function parseShim(shim: HeaderSet, mlxc: HeaderSet): Promise<Api> {
  const whole = await parseHeaders({ ...shim, files: [...mlxc.files, ...shim.files] });
  const headers = shim.files.map((file) => file.name);
  const own = ({ header }: { header: string }): boolean => headers.includes(header);
  return {
    ...whole,
    headers,
    functions: whole.functions.filter(own),
    defines: whole.defines.filter(own),
  };
}

function finishFunction(raw: RawHeader["functions"][number], names: Names): CFunction {
  const { declared, prototype, header, line, guard } = raw;
  const owner = { header, line, name: declared.name };
  const { returns, ffi } = classifyReturn(declared.ctype, owner, names);
  return {
    name: declared.name,
    header,
    family: header.replace(/\.h$/, ""),
    line,
    ...(guard !== undefined && { guard }),
    params: classifyParams(declared.function.params, owner, names),
    variadic: declared.function.variadic,
    returns,
    returnType: finishType(declared.ctype, owner, names),
    returnFfi: ffi,
    prototype,
  };
}

/** A name declared twice would be counted twice and bound once. */
function refuseRepeats(api: Api): void {
  const seen = new Map<string, string>();
  for (const { name, header, line } of api.functions) {
    const before = seen.get(name);
    if (before !== undefined) throw new HeaderError(header, line, `${name} is declared again, first in ${before}`);
    seen.set(name, `${header}:${line}`);
  }
}
