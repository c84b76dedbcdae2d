import { beforeAll, expect, test } from "bun:test";
import { holds, platforms } from "../../codegen/guards.ts";
import type { Api, Param } from "../../codegen/ir.ts";
import { fixture, functionOf, parseFiles } from "./api.ts";

let api: Api;

beforeAll(async () => {
  api = await parseFiles(fixture("shapes.h"), fixture("functions.h"));
});

const params = (name: string): readonly Param[] => functionOf(api, name).params;
const roles = (name: string): unknown[] => params(name).map((param) => param.role);
const at = (header: string, needle: string): number =>
  fixture(header)
    .text.split("\n")
    .findIndex((line) => line.includes(needle)) + 1;

test("handles are the structs of one void* ctx, wherever a forward typedef stands", () => {
  expect(api.handles).toEqual([
    { kind: "box", cname: "mlx_box", header: "shapes.h", line: at("shapes.h", "typedef struct mlx_box_ {") },
    { kind: "stream", cname: "mlx_stream", header: "shapes.h", line: at("shapes.h", "typedef struct mlx_stream_ {") },
    {
      kind: "vector_box",
      cname: "mlx_vector_box",
      header: "shapes.h",
      line: at("shapes.h", "typedef struct mlx_vector_box_ {"),
    },
  ]);
});

test("structs that are not handles are told apart by their fields", () => {
  expect(api.structs.map(({ cname, shape }) => [cname, shape])).toEqual([
    ["mlx_optional_int", "optional"],
    ["mlx_optional_float", "optional"],
    ["mlx_box_iterator", "iterator"],
    ["mlx_reader_vtable", "vtable"],
  ]);
  const vtable = api.structs.at(-1);
  expect(vtable?.fields.map(({ name, ctype }) => [name, ctype.text])).toEqual([
    ["good", "bool (*)(void*)"],
    ["read", "size_t (*)(void*, char*, size_t)"],
    ["label", "const char* (*)(void*)"],
  ]);
});

test("enum members count as in C: from 0, from a given value on, with comments between", () => {
  expect(api.enums.map(({ cname, members }) => [cname, members])).toEqual([
    [
      "mlx_mode",
      [
        { name: "MLX_MODE_OFF", value: 0 },
        { name: "MLX_MODE_ON", value: 4 },
        { name: "MLX_MODE_LOUD", value: 5 },
      ],
    ],
    [
      "mlx_dtype",
      [
        { name: "MLX_BOOL", value: 0 },
        { name: "MLX_INT8", value: 7 },
        { name: "MLX_INT16", value: 8 },
      ],
    ],
  ]);
});

test("typedefs, static variables and macros are read and bind nothing", () => {
  expect(api.aliases.map(({ cname, target }) => [cname, target.text])).toEqual([
    ["mlx_complex64_t", "_Fcomplex"],
    ["mlx_complex64_t", "float_Complex"],
    ["float16_t", "__fp16"],
    ["mlx_listener", "void (*)(const char*, void*)"],
  ]);
  expect(api.statics).toEqual([
    {
      name: "mlx_box_empty",
      ctype: { base: "mlx_box", isConst: false, pointers: 0, text: "mlx_box" },
      header: "shapes.h",
      line: at("shapes.h", "static mlx_box"),
    },
  ]);
  expect(api.functions.map((fn) => fn.name)).not.toContain("mlx_shout");
  expect(api.defines.map(({ macro }) => macro)).toEqual(["MLX_SHAPES_H", "HAS_TINY", "MLX_FUNCTIONS_H", "MLX_SELF"]);
});

test("parameters: handles, nullable handles, out handles, streams", () => {
  expect(roles("mlx_paint")).toEqual([
    { kind: "outHandle", of: "box" },
    { kind: "handle", of: "box", nullable: false },
    { kind: "handle", of: "box", nullable: true },
    { kind: "stream" },
  ]);
  expect(roles("mlx_split")).toEqual([
    { kind: "outHandle", of: "box" },
    { kind: "outHandle", of: "vector_box" },
    { kind: "handle", of: "box", nullable: false },
    { kind: "stream" },
  ]);
  expect(roles("mlx_box_set")).toEqual([
    { kind: "inOutHandle", of: "box" },
    { kind: "handle", of: "box", nullable: false },
  ]);
  expect(roles("mlx_box_set_complex")[0]).toEqual({ kind: "inOutHandle", of: "box" });
});

test("parameters: arrays with their lengths, by every name that a length has", () => {
  const int = { kind: "scalar", scalar: "int32" };
  expect(roles("mlx_reshape").slice(2, 4)).toEqual([
    { kind: "array", element: int, length: 3, nullable: false },
    { kind: "length", array: 2 },
  ]);
  expect(roles("mlx_gather").slice(1)).toEqual([
    { kind: "array", element: { kind: "scalar", scalar: "int64" }, length: 2, nullable: false },
    { kind: "length", array: 1 },
    { kind: "array", element: int, length: 4, nullable: true },
    { kind: "length", array: 3 },
  ]);
  expect(roles("mlx_vector_box_append_data").slice(1)).toEqual([
    { kind: "array", element: { kind: "handle", of: "box" }, length: 2, nullable: false },
    { kind: "length", array: 1 },
  ]);
  expect(roles("mlx_names")).toEqual([
    { kind: "array", element: { kind: "string" }, length: 1, nullable: false },
    { kind: "length", array: 0 },
  ]);
  expect(roles("mlx_box_new_data")).toEqual([
    { kind: "pointer" },
    { kind: "array", element: int, length: 2, nullable: false },
    { kind: "length", array: 1 },
    { kind: "enum", of: "mlx_dtype" },
  ]);
});

test("parameters: scalars, enums, optionals and strings, each with its FFI type", () => {
  expect(params("mlx_scale").map(({ name, role, ffi }) => [name, role, ffi])).toEqual([
    ["res", { kind: "outHandle", of: "box" }, ["ptr"]],
    ["by", { kind: "scalar", scalar: "float64" }, ["f64"]],
    ["bias", { kind: "scalar", scalar: "float32" }, ["f32"]],
    ["exact", { kind: "scalar", scalar: "bool" }, ["bool"]],
    ["mode", { kind: "enum", of: "mlx_mode" }, ["i32"]],
    ["seed", { kind: "scalar", scalar: "uint64" }, ["u64"]],
    ["limit", { kind: "scalar", scalar: "size" }, ["ptr"]],
    ["id", { kind: "scalar", scalar: "uintptr" }, ["ptr"]],
    ["group", { kind: "optional", value: "int" }, ["ptr"]],
    ["base", { kind: "optional", value: "float" }, ["ptr"]],
    ["how", { kind: "string", nullable: false }, ["ptr"]],
    ["backend", { kind: "string", nullable: true }, ["ptr"]],
  ]);
  expect(params("mlx_box_new_data").map((param) => param.ffi)).toEqual([["ptr"], ["ptr"], ["i32"], ["i32"]]);
});

test("parameters: callbacks carry their signatures, written out or behind a typedef", () => {
  const [fun, payload, dtor] = params("mlx_each");
  if (fun?.role.kind !== "callback" || dtor?.role.kind !== "callback") throw new Error("not read as callbacks");
  expect(fun.name).toBe("fun");
  expect(fun.role.signature.text).toBe("int (*)(mlx_vector_box*, const mlx_vector_box, const int*, size_t, void*)");
  expect(fun.role.signature.params.map((param) => param.role)).toEqual([
    { kind: "outHandle", of: "vector_box" },
    { kind: "handle", of: "vector_box", nullable: false },
    { kind: "array", element: { kind: "scalar", scalar: "int32" }, length: 3, nullable: false },
    { kind: "length", array: 2 },
    { kind: "pointer" },
  ]);
  expect(payload?.role).toEqual({ kind: "pointer" });
  expect(dtor.role.signature.text).toBe("void (*)(void*)");
  const [listener] = params("mlx_listen");
  expect(listener?.role.kind === "callback" && listener.role.signature.text).toBe("void (*)(const char*, void*)");
});

test("parameters: vtables have no FFI type, iterators have two, FILE* and void** one", () => {
  const vtable = params("mlx_reader_new")[1];
  expect([vtable?.role, vtable?.ffi]).toEqual([{ kind: "vtable", of: "mlx_reader_vtable" }, []]);
  const iterator = params("mlx_box_iterator_next")[2];
  expect([iterator?.role, iterator?.ffi]).toEqual([{ kind: "iterator", of: "mlx_box_iterator" }, ["ptr", "ptr"]]);
  expect(roles("mlx_box_iterator_next")[0]).toEqual({ kind: "outString" });
  expect(roles("mlx_reader_descriptor")).toEqual([{ kind: "outPointer" }]);
  expect(roles("mlx_print")[0]).toEqual({ kind: "file" });
});

test("out values: enums and scalars by their exact width", () => {
  expect(roles("mlx_box_mode")).toEqual([
    { kind: "outEnum", of: "mlx_mode" },
    { kind: "outScalar", scalar: "bool" },
    { kind: "outScalar", scalar: "size" },
    { kind: "outScalar", scalar: "complex64" },
    { kind: "handle", of: "box", nullable: false },
  ]);
});

test("results: status, void, handle, iterator, scalar, enum, string, pointer", () => {
  const result = (name: string): unknown[] => [functionOf(api, name).returns, functionOf(api, name).returnFfi];
  expect(result("mlx_paint")).toEqual([{ kind: "status" }, "i32"]);
  expect(result("mlx_listen")).toEqual([{ kind: "void" }, "void"]);
  expect(result("mlx_box_new_int")).toEqual([{ kind: "handle", of: "box" }, "ptr"]);
  expect(result("mlx_box_iterator_new")).toEqual([{ kind: "iterator", of: "mlx_box_iterator" }, "ptr"]);
  expect(result("mlx_box_size")).toEqual([{ kind: "scalar", scalar: "size" }, "u64_fast"]);
  expect(result("mlx_box_equal")).toEqual([{ kind: "scalar", scalar: "bool" }, "bool"]);
  expect(result("mlx_box_dtype")).toEqual([{ kind: "enum", of: "mlx_dtype" }, "i32"]);
  expect(result("mlx_box_name")).toEqual([{ kind: "string" }, "ptr"]);
  expect(result("mlx_box_bytes")).toEqual([{ kind: "pointer", element: "uint8" }, "ptr"]);
});

test("empty parameter lists, with and without void, and variadic functions", () => {
  expect(params("mlx_box_new")).toEqual([]);
  expect(params("mlx_synchronize")).toEqual([]);
  expect(params("mlx_synchronize_void")).toEqual([]);
  expect(functionOf(api, "_mlx_shout").variadic).toBe(true);
  expect(functionOf(api, "_mlx_shout").params.map((param) => param.name)).toEqual(["file", "line", "fmt"]);
  expect(functionOf(api, "mlx_paint").variadic).toBe(false);
});

test("guards decide per platform, through macros that headers define themselves", () => {
  const on = (name: string): string[] =>
    platforms.filter((platform) => holds(functionOf(api, name).guard, platform, api.defines)).map(({ name: it }) => it);
  expect(on("mlx_box_tiny")).toEqual(["linux-arm64", "darwin-arm64"]);
  expect(on("mlx_box_without_tiny")).toEqual(["linux-x64"]);
  expect(on("mlx_box_self")).toEqual(["linux-x64", "linux-arm64", "darwin-arm64"]);
  expect(on("mlx_paint")).toEqual(["linux-x64", "linux-arm64", "darwin-arm64"]);
});

test("places and prototypes: the line of the declaration, one line of C without comments", () => {
  const scale = functionOf(api, "mlx_scale");
  expect([scale.header, scale.family, scale.line]).toEqual([
    "functions.h",
    "functions",
    at("functions.h", "mlx_scale("),
  ]);
  expect(scale.prototype).toBe(
    "int mlx_scale(mlx_box* res, double by, float bias, bool exact, mlx_mode mode, uint64_t seed, size_t limit, " +
      "uintptr_t id, mlx_optional_int group, mlx_optional_float base, const char* how, const char* backend)",
  );
  expect(functionOf(api, "mlx_each").prototype).toBe(
    "int mlx_each(int (*fun)(mlx_vector_box*, const mlx_vector_box, const int*, size_t _num, void*), void* payload, " +
      "void (*dtor)(void*))",
  );
});
