// The intermediate representation: what the mlx-c headers say, as data. parse.ts makes it, every emitter reads it.

/** A condition of the C preprocessor under which a declaration exists. */
export type Guard =
  | { kind: "defined"; macro: string }
  | { kind: "not"; of: Guard }
  | { kind: "or"; of: readonly Guard[] }
  | { kind: "and"; of: readonly Guard[] };

/** A type spelled in C. `const mlx_array*` is { base: "mlx_array", isConst: true, pointers: 1 }. */
export interface CType {
  /** The type's name without qualifiers: "int", "size_t", "mlx_array", "void"; "function" for a function pointer. */
  base: string;
  /** Whether the pointed-to (or by-value) base is const. */
  isConst: boolean;
  /** Levels of pointer: 0 by value. A function pointer has 0, its signature is in `signature`. */
  pointers: number;
  /** The spelling, normalised: `const mlx_array*`, `int (*)(mlx_array*, const mlx_array)`. */
  text: string;
  /** Only when base is "function". */
  signature?: Signature;
}

/** The signature of a callback: the type behind a function pointer. */
export interface Signature {
  /** The normalised spelling; two callbacks of the same text have the same signature. */
  text: string;
  returns: CType;
  params: readonly Param[];
}

/** The bun:ffi types that the generated symbols use. */
export type FfiType = "ptr" | "bool" | "i32" | "u32" | "i64_fast" | "u64_fast" | "i64" | "u64" | "f32" | "f64" | "void";

/** A C arithmetic type by its exact width, whatever its spelling. */
export type Scalar =
  | "bool"
  | "int8"
  | "int16"
  | "int32"
  | "int64"
  | "uint8"
  | "uint16"
  | "uint32"
  | "uint64"
  | "size"
  | "uintptr"
  | "float16"
  | "bfloat16"
  | "float32"
  | "float64"
  | "complex64";

/** What a parameter is for: decides how TypeScript makes its value. */
export type Role =
  /** A handle struct by value, borrowed (or consumed, in a free function). `of` is the kind: "array", "closure", ... */
  | { kind: "handle"; of: string; nullable: boolean }
  /** The stream that an operation runs on: a handle of kind "stream" in last place, outside stream.h and vector.h. */
  | { kind: "stream" }
  /** `mlx_x*` that the call fills with a handle which the caller owns. */
  | { kind: "outHandle"; of: string }
  /** `mlx_x*` whose old value is replaced: the first parameter of mlx_x_set and mlx_x_set_*. */
  | { kind: "inOutHandle"; of: string }
  /** `bool*`, `int*`, `size_t*`, ...: one element that the call writes. */
  | { kind: "outScalar"; scalar: Scalar }
  /** `mlx_device_type*`: one enum value that the call writes. `of` is the C name of the enum. */
  | { kind: "outEnum"; of: string }
  /** `const char**` or `char**` without a length: text that the callee keeps owning. */
  | { kind: "outString" }
  /** `void**`: an opaque pointer that the call writes. */
  | { kind: "outPointer" }
  /** A pointer to several elements; `length` is the index of the parameter that counts them. */
  | { kind: "array"; element: ArrayElement; length: number; nullable: boolean }
  /** How many elements the array in parameter `array` (an index) has. */
  | { kind: "length"; array: number }
  /** mlx_optional_int, _float, _dtype by value: one register, the value below, has_value at bit 32. */
  | { kind: "optional"; value: "int" | "float" | "dtype" }
  /** `const char*`, NUL-terminated. */
  | { kind: "string"; nullable: boolean }
  /** A function pointer. */
  | { kind: "callback"; signature: Signature }
  /** A struct of function pointers by value, such as mlx_io_vtable. */
  | { kind: "vtable"; of: string }
  /** An iterator struct by value: two words, { its own pointer, the map's pointer }. `of` is the C name. */
  | { kind: "iterator"; of: string }
  /** `FILE*`. */
  | { kind: "file" }
  /** `void*`, `const void*`: bytes or a payload that C never looks into. */
  | { kind: "pointer" }
  /** A number or bool by value. */
  | { kind: "scalar"; scalar: Scalar }
  /** An enum by value. `of` is the C name: "mlx_dtype". */
  | { kind: "enum"; of: string };

/** What the elements of an array parameter are. */
export type ArrayElement = { kind: "scalar"; scalar: Scalar } | { kind: "handle"; of: string } | { kind: "string" };

/** One parameter of a function or of a callback. */
export interface Param {
  /** As in the header; "" in a callback's signature that names none. */
  name: string;
  index: number;
  ctype: CType;
  role: Role;
  /** The register words it takes: one, except an iterator's two and a vtable's none (not representable). */
  ffi: readonly FfiType[];
}

/** What a function returns. */
export type Returns =
  /** 0 or an error, whose message the error handler has received. */
  | { kind: "status" }
  | { kind: "void" }
  /** A handle that the caller owns; its pointer is null when the call failed. */
  | { kind: "handle"; of: string }
  | { kind: "iterator"; of: string }
  | { kind: "scalar"; scalar: Scalar }
  | { kind: "enum"; of: string }
  /** `const char*` that the callee keeps owning. */
  | { kind: "string" }
  /** A pointer to elements that the callee keeps owning; of a `void*`, whose bytes are anybody's, element is null. */
  | { kind: "pointer"; element: Scalar | null };

/** A declared function. */
export interface CFunction {
  name: string;
  /** The header's file name, "ops.h". */
  header: string;
  /** The header without its extension, "ops". */
  family: string;
  /** Counted from 1, where the declaration begins. */
  line: number;
  /** Absent when the function is declared on every platform. */
  guard?: Guard;
  params: readonly Param[];
  variadic: boolean;
  returns: Returns;
  returnType: CType;
  returnFfi: FfiType;
  /** On one line, without comments. */
  prototype: string;
}

/** A handle: `typedef struct { void* ctx; } mlx_x`. */
export interface HandleKind {
  /** Without the mlx_ prefix: "array", "vector_array". */
  kind: string;
  /** "mlx_array" */
  cname: string;
  header: string;
  line: number;
}

/** A struct that is not a handle: an optional, an iterator, a table of functions. */
export interface CStruct {
  cname: string;
  shape: "optional" | "iterator" | "vtable";
  fields: readonly { name: string; ctype: CType }[];
  header: string;
  line: number;
}

/** `typedef enum`, with the values that C gives its members. */
export interface CEnum {
  cname: string;
  members: readonly { name: string; value: number }[];
  header: string;
  line: number;
}

/** A typedef of an existing type: of a function pointer, a half float, a complex number. */
export interface CAlias {
  cname: string;
  target: CType;
  guard?: Guard;
  header: string;
  line: number;
}

/** A static variable. They have no symbol in the library; none is bound. */
export interface CStatic {
  name: string;
  ctype: CType;
  header: string;
  line: number;
}

/** `#define NAME`, mostly under a guard: how HAS_FLOAT16 gets its meaning. */
export interface CDefine {
  macro: string;
  /** Only of a macro that HeaderFile.constants names. */
  value?: number;
  guard?: Guard;
  header: string;
  line: number;
}

/** Everything that the headers declare, in the order of the headers' names and of the lines in each. */
export interface Api {
  /** mlx-c's version, "0.7.0". */
  version: string;
  /** sha256 over all headers, in hex. */
  hash: string;
  headers: readonly string[];
  functions: readonly CFunction[];
  handles: readonly HandleKind[];
  structs: readonly CStruct[];
  enums: readonly CEnum[];
  aliases: readonly CAlias[];
  statics: readonly CStatic[];
  defines: readonly CDefine[];
}

/** One header as read from disk. */
export interface HeaderFile {
  name: string;
  text: string;
  /** Macros that may have a value, an integer. Any other macro with a value is an error. */
  constants?: readonly string[];
}

/** The headers that one run of the generator works on. */
export interface HeaderSet {
  version: string;
  hash: string;
  files: readonly HeaderFile[];
}

/** Something in a header that the generator does not understand; the message starts with file:line. */
export class HeaderError extends Error {
  constructor(header: string, line: number, what: string) {
    super(`${header}:${line}: ${what}`);
    this.name = "HeaderError";
  }
}
