// The rules that make operations: on small headers and signatures of our own, and on the real ones.
import { beforeAll, expect, test } from "bun:test";
import { docs } from "../../codegen/docs.ts";
import { emitOpFiles, opPaths, python } from "../../codegen/emit-all-ops.ts";
import { breakLong } from "../../codegen/emit-ops-body.ts";
import { opModules } from "../../codegen/emit-ops.ts";
import { overloads } from "../../codegen/emit-ops-signature.ts";
import type { Api } from "../../codegen/ir.ts";
import { camelName, declaredName } from "../../codegen/op-names.ts";
import type { OpPlan, OpSet } from "../../codegen/op-plan.ts";
import { overrides } from "../../codegen/overrides.ts";
import type { PyParam, PySignature, PythonApi } from "../../codegen/pyi.ts";
import { defaultText, typeText, unionMembers } from "../../codegen/rules-params.ts";
import { families, planOps, signatureText, type Tables } from "../../codegen/rules.ts";
import { parseFiles, realApi } from "./api.ts";

const prelude = `typedef struct mlx_array_ { void* ctx; } mlx_array;
typedef struct mlx_stream_ { void* ctx; } mlx_stream;
typedef struct mlx_vector_array_ { void* ctx; } mlx_vector_array;
typedef enum mlx_dtype_ { MLX_BOOL, MLX_FLOAT32 } mlx_dtype;
`;

const none: Tables = { overrides: {}, elsewhere: {}, internal: {}, parts: {} };

const param = (name: string, kind: PyParam["kind"], type: string, text?: string): PyParam =>
  text === undefined ? { name, kind, type } : { name, kind, type, default: text };

const a = param("a", "positional", "array");
const on = param("stream", "keyword", "StreamOrDevice", "None");

function pythonOf(functions: Record<string, PyParam[]>, aliases: Record<string, string> = {}): PythonApi {
  const signatures = Object.entries(functions).map(([name, params]): [string, PySignature[]] => [
    name,
    [{ params, returns: "array" }],
  ]);
  const empty = { functions: {}, aliases: {} };
  return {
    mlx: "0",
    modules: { core: { functions: Object.fromEntries(signatures), aliases } },
    array: { ...empty, properties: [] },
  };
}

async function plan(
  header: string,
  functions: Record<string, PyParam[]>,
  tables: Partial<Tables> = {},
): Promise<OpSet> {
  const api = await parseFiles({ name: "ops.h", text: prelude + header });
  return planOps(api, pythonOf(functions), { ...none, ...tables });
}

async function problem(...args: Parameters<typeof plan>): Promise<string> {
  try {
    await plan(...args);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("the rules accepted it");
}

const unary = "int mlx_foo(mlx_array* res, const mlx_array a, const mlx_stream s);\n";

test("a unary function: one operand, a stream, an array", async () => {
  const [foo] = (await plan(unary, { foo: [a, on] })).plans as [OpPlan];
  expect(foo).toMatchObject({ name: "foo", stream: true, result: "array", returns: "MxArray", native: ["mlx_foo"] });
  expect(foo.params).toMatchObject([{ name: "a", place: "operand", required: true, convert: { kind: "array" } }]);
  expect(overloads(foo, "StreamOptions", false)).toEqual(["(a: ArrayInput, options?: StreamOptions): MxArray"]);
});

test("a parameter of another name is found by its place and type", async () => {
  const header = "int mlx_foo(mlx_array* res, const mlx_array arr, int k, const mlx_stream s);";
  const [foo] = (await plan(header, { foo: [a, param("k", "either", "int", "0"), on] })).plans as [OpPlan];
  expect(foo.params.map(({ name, convert }) => [name, convert.kind])).toEqual([
    ["a", "array"],
    ["k", "int"],
  ]);
});

const reduction = `int mlx_foo_axes(mlx_array* res, const mlx_array a, const int* axes, size_t axes_num, bool keepdims, const mlx_stream s);
int mlx_foo_axis(mlx_array* res, const mlx_array a, int axis, bool keepdims, const mlx_stream s);
int mlx_foo(mlx_array* res, const mlx_array a, bool keepdims, const mlx_stream s);
`;
const axis = param("axis", "either", "None | int | Sequence[int]", "None");
const keepdims = param("keepdims", "either", "bool", "False");

test("the variants of a reduction merge into one function", async () => {
  const [foo] = (await plan(reduction, { foo: [a, axis, keepdims, on] })).plans as [OpPlan];
  expect(foo.body).toMatchObject({
    kind: "dispatch",
    dispatch: {
      param: { name: "axis", nullable: true, required: false },
      absent: { fn: { name: "mlx_foo" } },
      number: { fn: { name: "mlx_foo_axis" } },
      list: { fn: { name: "mlx_foo_axes" } },
    },
  });
  expect(foo.params[2]).toMatchObject({ name: "keepDims", defaultText: "false" });
  expect(overloads(foo, "FooOptions", false)).toEqual([
    "(a: ArrayInput, options?: FooOptions): MxArray",
    '(a: ArrayInput, axis: number | readonly number[] | null | undefined, options?: Omit<FooOptions, "axis">): MxArray',
    "(a: ArrayInput, axis: number | readonly number[] | null | undefined, keepDims: boolean | undefined, options?: StreamOptions): MxArray",
  ]);
});

test("a default that is no None keeps null for the variant without the axis", () => {
  const lines = (emitOpFiles(api).get("generated/ops.ts") ?? "")
    .split("\n")
    .filter((line) => line.includes("C.mlx_sort"));
  expect(lines.map((line) => line.trim())).toEqual([
    "? C.mlx_sort(out, a$, on)",
    ': C.mlx_sort_axis(out, a$, axis === undefined ? -1 : $int(axis, "sort", "axis"), on);',
  ]);
});

test("an axis that always has a value makes the variant without it superfluous, with that reason", async () => {
  const header = `int mlx_foo_axis(mlx_array* res, const mlx_array a, int axis, const mlx_stream s);\n${unary}`;
  const set = await plan(header, { foo: [a, param("axis", "keyword", "int", "0"), on] });
  expect(set.plans[0]?.native).toEqual(["mlx_foo_axis"]);
  expect(set.internal.get("mlx_foo")).toContain("axis always has a value");
});

test("numbered C parameters are a tuple of Python's", async () => {
  const header = "int mlx_foo(mlx_array* res, const mlx_array a, int stride_0, int stride_1, const mlx_stream s);";
  const [foo] = (await plan(header, { foo: [a, param("stride", "either", "int | tuple[int, int]", "1"), on] }))
    .plans as [OpPlan];
  expect(foo.params[1]?.convert).toEqual({ kind: "tuple", length: 2 });
});

test("results: two out handles, a vector", async () => {
  const header = `int mlx_foo(mlx_array* res_0, mlx_array* res_1, const mlx_array a, const mlx_stream s);
int mlx_bar(mlx_vector_array* res, const mlx_array a, const mlx_stream s);`;
  const set = await plan(header, { foo: [a, on], bar: [a, on] });
  expect(set.plans.map(({ result, returns }) => [result, returns])).toEqual([
    ["two", "[MxArray, MxArray]"],
    ["list", "MxArray[]"],
  ]);
});

test("places: positional-only, either, keyword-only; required ones behind a slash may be options", async () => {
  const header = `int mlx_foo(mlx_array* res, const mlx_array a, int k, int n, int m, const mlx_stream s);`;
  const params = [a, param("k", "either", "int"), param("n", "either", "int", "1"), param("m", "keyword", "int"), on];
  const [foo] = (await plan(header, { foo: params })).plans as [OpPlan];
  expect(foo.params.map(({ place, required }) => [place, required])).toEqual([
    ["operand", true],
    ["either", true],
    ["either", false],
    ["option", true],
  ]);
  expect(overloads(foo, "FooOptions", true)).toEqual([
    "(options: FooOptions): MxArray",
    '(k: number, options: Omit<FooOptions, "k">): MxArray',
    '(k: number, n: number | undefined, options: Omit<FooOptions, "k" | "n">): MxArray',
  ]);
});

test("what no rule explains is an error that names the function", async () => {
  expect(await problem(unary, { bar: [a, on] })).toBe(
    "codegen, bar: no header declares mlx_bar, and no override says where it is",
  );
  expect(await problem(unary, { foo: [a, param("k", "either", "int", "0"), on] })).toBe(
    "codegen, foo: mlx_foo does not take k",
  );
  const extra = "int mlx_foo(mlx_array* res, const mlx_array a, int k, const mlx_stream s);";
  expect(await problem(extra, { foo: [a, on] })).toBe("codegen, foo: no parameter of Python's is k of mlx_foo");
  const odd = param("k", "either", "Callable", "None");
  expect(await problem(extra, { foo: [a, odd, on] })).toContain('the type of k, "Callable", is unknown');
  expect(await problem(unary, { foo: [a, param("rest", "varargs", ""), on] })).toContain(
    "a variable number of arguments",
  );
  const wide = "int mlx_foo(mlx_array* res, const mlx_array a, uint64_t k, const mlx_stream s);";
  expect(await problem(wide, { foo: [a, param("k", "either", "int", "0"), on] })).toContain("no rule brings k");
});

test("every C function is called or has a reason, and no reason is stale", async () => {
  const header = `${unary}int mlx_bar(mlx_array* res, const mlx_array a, const mlx_stream s);`;
  expect(await problem(header, { foo: [a, on] })).toBe(
    "codegen, mlx_bar: no operation calls it, and the overrides give no reason",
  );
  const set = await plan(header, { foo: [a, on] }, { internal: { "mlx_ba*": "for a test" } });
  expect([...set.internal]).toEqual([["mlx_bar", "for a test"]]);
  expect(await problem(unary, { foo: [a, on] }, { internal: { mlx_foo: "no" } })).toContain("yet listed as internal");
  expect(await problem(unary, { foo: [a, on] }, { internal: { mlx_gone: "no" } })).toContain("no header declares it");
});

test("an override for what Python does not have is an error", async () => {
  const overrides = { gone: { reason: "stale" } };
  expect(await problem(unary, { foo: [a, on] }, { overrides })).toContain("a function that Python does not have");
  const body = { foo: { reason: "by hand", body: "foo.ts", native: ["mlx_gone"] } };
  expect(await problem(unary, { foo: [a, on] }, { overrides: body })).toContain("which no header declares");
});

test("names", () => {
  expect(camelName("take_along_axis")).toBe("takeAlongAxis");
  expect(camelName("conv_transpose1d")).toBe("convTranspose1d");
  expect(camelName("keepdims")).toBe("keepDims");
  expect(camelName("from_")).toBe("from");
  expect(camelName("atleast_1d")).toBe("atleast1d");
  expect(declaredName("var")).toBe("variance");
  expect(declaredName("sum")).toBe("sum");
});

test("Python's types and defaults in TypeScript", () => {
  expect(unionMembers("None | tuple[int, int] | dict[str, int | float]")).toEqual([
    "None",
    "tuple[int, int]",
    "dict[str, int | float]",
  ]);
  expect(typeText("f", param("x", "either", "None | int | Sequence[int]"))).toBe("number | readonly number[]");
  expect(typeText("f", param("x", "either", "scalar | array"))).toBe("ArrayInput");
  const text = (value: string): string | undefined => defaultText("f", param("x", "either", "int", value));
  expect(["None", "True", "1e-05", "'full'", '"full"', "float32", "[-2, -1]"].map(text)).toEqual([
    undefined,
    "true",
    "0.00001",
    '"full"',
    '"full"',
    '"float32"',
    "[-2, -1]",
  ]);
  expect(() => text("object()")).toThrow('the default of x, "object()", is unknown');
});

test("Python's form of a signature, for the documentation", () => {
  expect(signatureText({ params: [a, axis, param("p", "keyword", "bool", "False"), on], returns: "" })).toBe(
    "a, /, axis=None, *, p=False",
  );
  expect(signatureText({ params: [a, on], returns: "" })).toBe("a, /");
});

test("long lines break at the arguments of the outermost call", () => {
  const line = `const x = f(${"aaaaaaaaaaaaaaaaaaaa, ".repeat(6)}g(b, c));`;
  expect(breakLong(line).slice(-2)).toEqual(["  g(b, c),", ");"]);
  expect(breakLong("f(a, b);")).toEqual(["f(a, b);"]);
});

let api: Api;
let real: OpSet;
beforeAll(async () => {
  api = await realApi();
  real = planOps(api, python);
});

test("all functions of the operations' headers are accounted for", () => {
  const headers = new Set(Object.values(families));
  const declared = api.functions.filter((fn) => headers.has(fn.family)).map((fn) => fn.name);
  const called = new Set([...real.plans, ...real.byHand].flatMap((op) => op.native));
  expect(declared.length).toBe(353);
  expect(declared.filter((name) => !called.has(name) && !real.internal.has(name))).toEqual([]);
  expect(declared.filter((name) => called.has(name)).length).toBeGreaterThan(290);
});

test("every operation is described in our own words, and nothing else is", () => {
  expect(Object.keys(docs).sort()).toEqual(real.plans.map((op) => op.python).sort());
});

test("every override has a reason", () => {
  for (const { reason } of Object.values(overrides)) expect(reason.length).toBeGreaterThan(10);
});

test("the generated files are those that are listed", () => {
  expect([...emitOpFiles(api).keys()].sort()).toEqual([...opPaths].sort());
  const modules = opModules(real).map(({ path }) => path);
  expect(modules.every((path) => opPaths.includes(path))).toBe(true);
});
