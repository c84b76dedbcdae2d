// The shim's header: read with mlx-c's types by the same parser, and written as a table of its own.

import { expect, test } from "bun:test";
import { emitShimSymbols } from "../../codegen/emit-shim-symbols.ts";
import { hashHeaders } from "../../codegen/headers.ts";
import type { Api, HeaderFile, HeaderSet } from "../../codegen/ir.ts";
import { parseShim } from "../../codegen/parse.ts";
import manifest from "../../generated/native-manifest.json";
import { fixture, functionOf, shimApi } from "./api.ts";

const set = (...files: HeaderFile[]): HeaderSet => ({ version: "0.0.0", hash: hashHeaders(files), files });
const mlxc = set(fixture("shapes.h"), fixture("functions.h"));
const parse = (text: string): Promise<Api> =>
  parseShim(set({ name: "odd.h", text: `\n${text}`, constants: ["MLXTS_ABI"] }), mlxc);

test("only the shim's own functions and macros are kept, and mlx-c's types are understood in them", async () => {
  const api = await parse("#define MLXTS_ABI 7\nvoid* mlxts_peek(mlx_box box, const uint64_t* ids, size_t count);");
  expect(api.functions.map((fn) => fn.name)).toEqual(["mlxts_peek"]);
  expect(api.defines).toEqual([{ macro: "MLXTS_ABI", value: 7, header: "odd.h", line: 2 }]);
  const peek = functionOf(api, "mlxts_peek");
  expect(peek.params.map((param) => param.role)).toEqual([
    { kind: "handle", of: "box", nullable: false },
    { kind: "array", element: { kind: "scalar", scalar: "uint64" }, length: 2, nullable: false },
    { kind: "length", array: 1 },
  ]);
  expect(peek.returns).toEqual({ kind: "pointer", element: null });
  expect(emitShimSymbols(api)).toEndWith(
    "export const shimSymbols = {\n" +
      "  // void* mlxts_peek(mlx_box box, const uint64_t* ids, size_t count)\n" +
      '  mlxts_peek: { args: ["ptr", "ptr", "ptr"], returns: "ptr" },\n' +
      "} as const;\n",
  );
});

test("64 bits come back in a form without BigInt, 32 bits as they are, and int64_t goes there exactly", async () => {
  const api = await parse(
    "int64_t mlxts_a(int64_t n);\nuint64_t mlxts_b(uint64_t n);\nsize_t mlxts_c(size_t n);\nuint32_t mlxts_d(uint32_t n);",
  );
  const types = api.functions.map((fn) => [...fn.params.flatMap((param) => param.ffi), fn.returnFfi]);
  expect(types).toEqual([
    ["i64", "i64_fast"],
    ["u64", "u64_fast"],
    ["ptr", "u64_fast"],
    ["u32", "u32"],
  ]);
});

test("what has no place in the table is an error with file and line, and so is a name of mlx-c's", async () => {
  await expect(parse("int mlx_box_free(mlx_box box);")).rejects.toThrow(
    "odd.h:2: mlx_box_free is declared again, first in ",
  );
  await expect(parse("#define MLXTS_OTHER 7")).rejects.toThrow("odd.h:2: ");
  await expect(parse('#define MLXTS_ABI "seven"')).rejects.toThrow("odd.h:2: ");
  await expect(parse("int mlxts_f(mlx_crate crate);")).rejects.toThrow("odd.h:2: parameter crate of mlxts_f");
  const emit = async (text: string): Promise<string> => emitShimSymbols(await parse(text));
  await expect(emit("#ifdef A\nint mlxts_f(void);\n#endif")).rejects.toThrow(
    "odd.h:3: mlxts_f has no place in the table: it is declared under a condition",
  );
  await expect(emit("int mlxts_f(const char* format, ...);")).rejects.toThrow("variable number of arguments");
});

test("the real header: functions of the shim alone, statuses told from values, the interface's number", async () => {
  const api = await shimApi();
  expect(api.headers).toEqual(["mlxts.h"]);
  expect(api.functions.every((fn) => fn.header === "mlxts.h" && fn.name.startsWith("mlxts_"))).toBe(true);
  expect(api.defines.find(({ macro }) => macro === "MLXTS_ABI")?.value).toBe(manifest.abi);
  const statuses = api.functions.filter((fn) => fn.returns.kind === "status").map((fn) => fn.name);
  expect(statuses.sort()).toEqual([
    "mlxts_array_input",
    "mlxts_array_output",
    "mlxts_blas_set_threads",
    "mlxts_check_depth",
    "mlxts_gather",
    "mlxts_install_error_handler",
    "mlxts_setenv",
    "mlxts_vmap",
    "mlxts_vmap_axes",
    "mlxts_watch",
    "mlxts_watch_one",
  ]);
});
