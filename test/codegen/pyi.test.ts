// The reader of Python's type stubs, on stubs of our own.
import { beforeAll, expect, test } from "bun:test";
import type { Parser } from "web-tree-sitter";
import { python } from "../../codegen/emit-all-ops.ts";
import { formatPythonApi, parseStub, type PySignature, pythonParser, readPythonApi } from "../../codegen/pyi.ts";

let parser: Parser;
beforeAll(async () => {
  parser = await pythonParser();
});

function signature(text: string): PySignature {
  const stub = parseStub(parser, "test.pyi", `def f(${text}) -> array: ...\n`);
  return stub.functions["f"]![0]!;
}

test("positional-only, either, keyword-only", () => {
  expect(signature("a: array, /, axis: int = -1, *, keepdims: bool = False").params).toEqual([
    { name: "a", kind: "positional", type: "array" },
    { name: "axis", kind: "either", type: "int", default: "-1" },
    { name: "keepdims", kind: "keyword", type: "bool", default: "False" },
  ]);
});

test("any number of arguments; what follows them is keyword-only", () => {
  expect(signature("x, *arrays: array, n=1, **rest").params).toEqual([
    { name: "x", kind: "either", type: "" },
    { name: "arrays", kind: "varargs", type: "array" },
    { name: "n", kind: "keyword", type: "", default: "1" },
    { name: "rest", kind: "varkw", type: "" },
  ]);
});

test("types lose their line breaks and the module's name", () => {
  const { params, returns } = signature("a: mlx.core.array |\n        None = None");
  expect(params[0]?.type).toBe("array | None");
  expect(returns).toBe("array");
});

test("overloads, aliases, properties, and no prose", () => {
  const stub = parseStub(
    parser,
    "test.pyi",
    `x: int = 3
acos = arccos
norm = linalg.norm
@overload
def f(a: int) -> array:
    """Some prose."""
@overload
def f(a: float) -> array: ...
def _hidden() -> None: ...
class array:
    def sum(self, axis: int = 0) -> array: ...
    @property
    def T(self) -> array: ...
    def __add__(self, other: array) -> array: ...
`,
  );
  expect(stub.functions["f"]).toHaveLength(2);
  expect(stub.aliases).toEqual({ acos: "arccos", norm: "linalg.norm" });
  expect(Object.keys(stub.functions)).toEqual(["f"]);
  expect(stub.array?.properties).toEqual(["T"]);
  expect(stub.array?.functions["sum"]?.[0]?.params).toEqual([
    { name: "axis", kind: "either", type: "int", default: "0" },
  ]);
  expect(JSON.stringify(stub)).not.toContain("prose");
});

test("a parameter or decorator that the reader does not know is an error with file and line", () => {
  expect(() => parseStub(parser, "odd.pyi", "\n@cache\ndef f() -> None: ...\n")).toThrow(
    "odd.pyi:3: a decorator of f is unknown",
  );
});

test("what is written is read back", async () => {
  const api = await readPythonApi("1.0", async (file) =>
    file === "__init__.pyi" ? "def f(a: array) -> array: ...\nclass array:\n    def g(self) -> array: ...\n" : "",
  );
  expect(JSON.parse(formatPythonApi(api))).toEqual(api);
});

test("the committed signatures are those of the pinned version", () => {
  expect(python.mlx).toBe("0.32.2");
  expect(Object.keys(python.modules["core"]!.functions).length).toBe(242);
  expect(python.modules["core"]!.aliases["matrix_norm"]).toBe("linalg.norm");
  expect(Object.keys(python.array.functions)).toContain("cumsum");
});
