// What is known of mlx-c 0.7.0 by counting, against what the parser reads. A new mlx-c changes these on purpose.

import { beforeAll, expect, test } from "bun:test";
import { headerInfo } from "../../generated/header-info.ts";
import type { Api, Param, Role } from "../../codegen/ir.ts";
import { functionOf, realApi } from "./api.ts";

let api: Api;
let params: Param[];

beforeAll(async () => {
  api = await realApi();
  params = api.functions.flatMap((fn) => fn.params);
}, 120_000);

const of = (...kinds: Role["kind"][]): Param[] => params.filter((param) => kinds.includes(param.role.kind));

test("the headers are those that generated/ says it comes from", () => {
  expect({ mlxc: api.version, sha256: api.hash }).toEqual(headerInfo);
});

test("674 functions with 2,380 parameters, none of them without a role", () => {
  expect(api.functions.length).toBe(674);
  expect(params.length).toBe(2380);
});

test("parameters by role", () => {
  expect(of("handle", "stream").length).toBe(1097);
  expect(of("handle").filter((param) => param.role.kind === "handle" && param.role.nullable).length).toBe(57);
  expect(of("outHandle", "inOutHandle").length).toBe(435);
  expect(of("array").length).toBe(132);
  expect(of("length").length).toBe(132);
  expect(of("optional").length).toBe(22);
  expect(of("callback").length).toBe(23);
  expect(of("vtable").length).toBe(2);
  expect(of("iterator").length).toBe(4);
  expect(of("file").length).toBe(2);
  const signatures = of("callback").map((param) => param.role.kind === "callback" && param.role.signature.text);
  expect(new Set(signatures).size).toBe(15);
});

test("31 kinds of handles, 4 enums, 3 optionals, 2 iterators, 1 vtable", () => {
  expect(api.handles.length).toBe(31);
  expect(api.enums.length).toBe(4);
  expect(api.structs.map((struct) => struct.shape).sort()).toEqual([
    "iterator",
    "iterator",
    "optional",
    "optional",
    "optional",
    "vtable",
  ]);
});

test("a stream is last, and an operation has at most one", () => {
  for (const fn of api.functions) {
    const streams = fn.params.filter((param) => param.role.kind === "stream");
    expect(streams.length).toBeLessThan(2);
    if (streams[0] !== undefined) expect(streams[0].index).toBe(fn.params.length - 1);
  }
  expect(functionOf(api, "mlx_stream_free").params[0]?.role.kind).toBe("handle");
  expect(functionOf(api, "mlx_vector_stream_append_value").params[1]?.role.kind).toBe("handle");
});

test("four functions depend on the platform, all of them accessors of 16-bit floats", () => {
  expect(
    api.functions
      .filter((fn) => fn.guard !== undefined)
      .map((fn) => fn.name)
      .sort(),
  ).toEqual(["mlx_array_data_bfloat16", "mlx_array_data_float16", "mlx_array_item_bfloat16", "mlx_array_item_float16"]);
});
