// C types -> roles and FFI types: which parameter is an out handle, an array with its length, an optional, a stream.

import type { RawParam, RawSignature, RawType } from "./declarators.ts";
import { HeaderError } from "./ir.ts";
import type { ArrayElement, CType, FfiType, Param, Returns, Role, Scalar, Signature } from "./ir.ts";

/** C spellings of arithmetic types. */
const scalars: Readonly<Record<string, Scalar>> = {
  bool: "bool",
  int: "int32",
  int8_t: "int8",
  int16_t: "int16",
  int32_t: "int32",
  int64_t: "int64",
  uint8_t: "uint8",
  uint16_t: "uint16",
  uint32_t: "uint32",
  uint64_t: "uint64",
  size_t: "size",
  uintptr_t: "uintptr",
  float: "float32",
  double: "float64",
  float16_t: "float16",
  bfloat16_t: "bfloat16",
  mlx_complex64_t: "complex64",
};

/**
 * How a scalar travels by value. Widths are exact and never widened: Apple's arm64 packs stack arguments. size_t is the
 * 64-bit register that a pointer is, and costs half as much declared as one (the figures are in emit-symbols.ts).
 * The 16-bit floats and complex64 occur behind pointers only, so they have no row.
 */
const scalarFfi: Partial<Record<Scalar, FfiType>> = {
  bool: "bool",
  int32: "i32",
  uint32: "u32",
  int64: "i64",
  uint64: "u64",
  size: "ptr",
  uintptr: "ptr",
  float32: "f32",
  float64: "f64",
};

/**
 * As return values: the fast form of 64 bits makes no BigInt of what fits a number, and every 64-bit result does (sizes,
 * counts and addresses are below 2^53).
 */
const returnFfi: Partial<Record<Scalar, FfiType>> = {
  ...scalarFfi,
  int64: "i64_fast",
  uint64: "u64_fast",
  size: "u64_fast",
};

/** Functions whose int result is a value and not a status code. Nothing in the declaration tells the two apart. */
const intResults: Readonly<Record<string, string>> = {
  mlx_array_dim: "the extent of an axis",
  mlx_distributed_group_rank: "the rank of this process",
  mlx_distributed_group_size: "how many processes there are",
  mlxts_array_status: "how far the evaluation is",
  mlxts_array_flags: "bits of contiguity",
  mlxts_array_is_tracer: "an answer, yes or no",
  mlxts_array_is_spoiled: "an answer, yes or no",
  mlxts_indices_outside: "an answer: no, yes, or not known",
  mlxts_print_precision: "how many digits are printed",
  mlxts_blas_get_threads: "how many threads there are",
};

/** The names that a header uses for the count of the array before it, `<array>_num` aside. */
const lengthNames: readonly string[] = ["size", "dim", "_num", "count", "capacity"];

/** What the type names of all headers mean. */
export interface Names {
  /** C name -> kind. */
  handles: ReadonlyMap<string, string>;
  optionals: ReadonlyMap<string, "int" | "float" | "dtype">;
  iterators: ReadonlySet<string>;
  vtables: ReadonlySet<string>;
  enums: ReadonlySet<string>;
  /** Typedefs of function pointers. */
  callbacks: ReadonlyMap<string, RawSignature>;
}

/** Where the parameters stand: for errors, and for the rules that look at the whole function. */
export interface Owner {
  header: string;
  line: number;
  /** The function's name; "" inside a callback. */
  name: string;
}

/** Gives every parameter its role. */
export function classifyParams(raw: readonly RawParam[], owner: Owner, names: Names): Param[] {
  const roles = raw.map((param, index) => roleOf(param, index, raw, owner, names));
  return raw.map((param, index) => {
    const before = roles[index - 1];
    const role: Role = before?.kind === "array" ? { kind: "length", array: index - 1 } : (roles[index] as Role);
    if (role.kind === "scalar" && param.name.endsWith("_num")) {
      throw new HeaderError(
        owner.header,
        owner.line,
        `parameter ${param.name} of ${owner.name} counts no array before it`,
      );
    }
    return {
      name: param.name,
      index,
      ctype: finishType(param.ctype, owner, names),
      role,
      ffi: ffiOf(role, param.ctype),
    };
  });
}

/** A raw type with the roles of its callback's parameters filled in. */
export function finishType(raw: RawType, owner: Owner, names: Names): CType {
  const { signature, ...rest } = raw;
  return signature === undefined ? rest : { ...rest, signature: finishSignature(signature, owner, names) };
}

function finishSignature(raw: RawSignature, owner: Owner, names: Names): Signature {
  if (raw.variadic) throw new HeaderError(owner.header, owner.line, `a variadic callback: ${raw.text}`);
  const params = classifyParams(raw.params, { ...owner, name: "" }, names);
  return { text: raw.text, returns: finishType(raw.returns, owner, names), params };
}

function roleOf(param: RawParam, index: number, all: readonly RawParam[], owner: Owner, names: Names): Role {
  const role = plainRole(param, index, all, owner, names);
  if (role === undefined) {
    const what = `parameter ${param.name || index} of ${owner.name || "a callback"}`;
    throw new HeaderError(
      owner.header,
      owner.line,
      `${what} has a type that codegen does not know: ${param.ctype.text}`,
    );
  }
  if (param.nullable && !("nullable" in role)) {
    throw new HeaderError(
      owner.header,
      owner.line,
      `parameter ${param.name} of ${owner.name} cannot be null: ${role.kind}`,
    );
  }
  return role;
}

function plainRole(
  { name, ctype, nullable }: RawParam,
  index: number,
  all: readonly RawParam[],
  owner: Owner,
  names: Names,
): Role | undefined {
  const alias = ctype.pointers === 0 ? names.callbacks.get(ctype.base) : undefined;
  const signature = ctype.signature ?? alias;
  if (signature !== undefined) return { kind: "callback", signature: finishSignature(signature, owner, names) };
  if (ctype.pointers === 0) return valueRole(ctype, index === all.length - 1, nullable, owner, names);

  const next = all[index + 1];
  if (next !== undefined && countsArray(next, name, ctype)) {
    const element = elementOf(ctype, names);
    if (element !== undefined) return { kind: "array", element, length: index + 1, nullable };
  }
  return pointerRole(ctype, index, nullable, owner, names);
}

function valueRole(ctype: RawType, isLast: boolean, nullable: boolean, owner: Owner, names: Names): Role | undefined {
  const { base } = ctype;
  const handle = names.handles.get(base);
  if (handle !== undefined) {
    const isStream =
      handle === "stream" && isLast && !["", "stream.h", "vector.h"].includes(owner.name && owner.header);
    return isStream ? { kind: "stream" } : { kind: "handle", of: handle, nullable };
  }
  const optional = names.optionals.get(base);
  if (optional !== undefined) return { kind: "optional", value: optional };
  if (names.iterators.has(base)) return { kind: "iterator", of: base };
  if (names.vtables.has(base)) return { kind: "vtable", of: base };
  if (names.enums.has(base)) return { kind: "enum", of: base };
  const scalar = scalars[base];
  return scalar !== undefined && scalarFfi[scalar] !== undefined ? { kind: "scalar", scalar } : undefined;
}

function pointerRole(ctype: RawType, index: number, nullable: boolean, owner: Owner, names: Names): Role | undefined {
  const { base, isConst, pointers } = ctype;
  if (base === "char") {
    if (pointers === 2) return { kind: "outString" };
    // In a vtable a `char*` is a buffer to fill; text is always const.
    return isConst ? { kind: "string", nullable } : { kind: "pointer" };
  }
  if (base === "void") return pointers === 1 ? { kind: "pointer" } : { kind: "outPointer" };
  if (base === "FILE" && pointers === 1) return { kind: "file" };
  if (pointers !== 1 || isConst) return undefined;
  const handle = names.handles.get(base);
  if (handle !== undefined) {
    const replaces = index === 0 && (owner.name === `${base}_set` || owner.name.startsWith(`${base}_set_`));
    return { kind: replaces ? "inOutHandle" : "outHandle", of: handle };
  }
  if (names.enums.has(base)) return { kind: "outEnum", of: base };
  const scalar = scalars[base];
  return scalar === undefined ? undefined : { kind: "outScalar", scalar };
}

/** Whether `next` is the length of the array called `name`: an integer called as the headers call lengths. */
function countsArray(next: RawParam, name: string, array: RawType): boolean {
  if (!["size_t", "int"].includes(next.ctype.text)) return false;
  // mlx_fast_*_new's `shape, size` and array.h's `shape, dim` come without the array's name in theirs.
  if (next.name !== `${name}_num` && !lengthNames.includes(next.name)) return false;
  return array.base !== "void" && !(array.base === "char" && array.pointers === 1);
}

function elementOf(ctype: RawType, names: Names): ArrayElement | undefined {
  if (ctype.base === "char" && ctype.pointers === 2) return { kind: "string" };
  if (ctype.pointers !== 1) return undefined;
  const handle = names.handles.get(ctype.base);
  if (handle !== undefined) return { kind: "handle", of: handle };
  const scalar = scalars[ctype.base];
  return scalar === undefined ? undefined : { kind: "scalar", scalar };
}

function ffiOf(role: Role, ctype: RawType): readonly FfiType[] {
  switch (role.kind) {
    case "scalar":
      return [scalarFfi[role.scalar] as FfiType];
    case "length":
      return [scalarFfi[scalars[ctype.base] as Scalar] as FfiType];
    case "enum":
      return ["i32"];
    case "iterator":
      return ["ptr", "ptr"];
    case "vtable":
      return [];
    default:
      return ["ptr"];
  }
}

/** What a function returns, and as which FFI type. */
export function classifyReturn(ctype: RawType, owner: Owner, names: Names): { returns: Returns; ffi: FfiType } {
  const { base, pointers, isConst } = ctype;
  if (pointers === 1) {
    if (base === "char" && isConst) return { returns: { kind: "string" }, ffi: "ptr" };
    const element = base === "void" ? null : scalars[base];
    if (element !== undefined) return { returns: { kind: "pointer", element }, ffi: "ptr" };
  }
  if (pointers === 0 && ctype.signature === undefined) {
    if (base === "void") return { returns: { kind: "void" }, ffi: "void" };
    const handle = names.handles.get(base);
    if (handle !== undefined) return { returns: { kind: "handle", of: handle }, ffi: "ptr" };
    // Sixteen bytes come back in two registers, and bun:ffi reads the first: the iterator's own pointer. The second
    // is the map's, which the caller has.
    if (names.iterators.has(base)) return { returns: { kind: "iterator", of: base }, ffi: "ptr" };
    if (names.enums.has(base)) return { returns: { kind: "enum", of: base }, ffi: "i32" };
    const scalar = scalars[base];
    if (scalar === "int32" && intResults[owner.name] === undefined) return { returns: { kind: "status" }, ffi: "i32" };
    const ffi = scalar === undefined ? undefined : returnFfi[scalar];
    if (scalar !== undefined && ffi !== undefined) return { returns: { kind: "scalar", scalar }, ffi };
  }
  throw new HeaderError(
    owner.header,
    owner.line,
    `${owner.name} returns a type that codegen does not know: ${ctype.text}`,
  );
}
