import { expect, test } from "bun:test";
import { fixture, parseFiles } from "./api.ts";

// What stands before the declaration under test, so that its line is never 1.
const prelude = `typedef struct mlx_box_ {
  void* ctx;
} mlx_box;
`;
const line = prelude.split("\n").length;

async function messageOf(text: string): Promise<string> {
  try {
    await parseFiles({ name: "odd.h", text: prelude + text });
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`was understood: ${text}`);
}

// Every one is legal C, or nearly, that the headers do not contain today. None may pass unnoticed.
const shapes: Record<string, string> = {
  "an unknown type by value": "int mlx_f(mlx_crate crate);",
  "an unknown type behind a pointer": "int mlx_f(mlx_crate* crate);",
  "an unknown result": "mlx_crate mlx_f(void);",
  "a result that is a pointer to a pointer": "const char** mlx_f(void);",
  "a type of two words": "int mlx_f(unsigned int n);",
  "a long": "int mlx_f(long n);",
  "a char by value": "int mlx_f(char c);",
  "a 16-bit integer by value": "int mlx_f(int16_t n);",
  "a half float by value": "int mlx_f(float16_t x);",
  "a complex number by value": "typedef float _Complex mlx_complex64_t;\nint mlx_f(mlx_complex64_t z);",
  "a struct tag": "int mlx_f(struct mlx_box_ box);",
  "an array parameter": "int mlx_f(int shape[4]);",
  "a const array without a length": "int mlx_f(const int* shape, mlx_box box);",
  "a const handle pointer without a length": "int mlx_f(const mlx_box* boxes);",
  "a length without an array": "int mlx_f(int* shape, mlx_box box, size_t shape_num);",
  "a pointer to a pointer to a handle": "int mlx_f(mlx_box** boxes);",
  "a const pointer": "int mlx_f(char* const name);",
  "a volatile parameter": "int mlx_f(volatile int n);",
  "a parameter of function type": "int mlx_f(int fun(int));",
  "a pointer to a function pointer": "int mlx_f(int (**fun)(int));",
  "a variadic callback": "int mlx_f(int (*fun)(const char*, ...));",
  "a comment that may mean something": "int mlx_f(mlx_box box /* borrowed for ever */);",
  "null for what cannot be null": "int mlx_f(int n /* may be null */);",
  "two functions in one declaration": "int mlx_f(void), mlx_g(void);",
  "a function that returns a function pointer": "int (*mlx_f(void))(int);",
  "a function pointer variable": "int (*mlx_f)(void);",
  "an extern variable": "extern mlx_box mlx_shared;",
  "a plain variable": "mlx_box mlx_shared;",
  "a static function": "static int mlx_f(void);",
  "an inline function with a body": "inline int mlx_f(void) { return 0; }",
  "an attribute": "__attribute__((noreturn)) void mlx_f(void);",
  "a struct of mixed fields": "typedef struct mlx_pair_ {\n  int a;\n  void* b;\n} mlx_pair;",
  "a struct of one other field": "typedef struct mlx_pair_ {\n  int ctx;\n} mlx_pair;",
  "a bit field": "typedef struct mlx_pair_ {\n  int a : 3;\n} mlx_pair;",
  "a union": "typedef union mlx_either_ {\n  int a;\n  float b;\n} mlx_either;",
  "a struct without typedef": "struct mlx_open {\n  void* ctx;\n};",
  "a handle outside the mlx_ names": "typedef struct other_ {\n  void* ctx;\n} other;",
  "an optional of another type":
    "typedef struct mlx_optional_box_ {\n  mlx_box value;\n  bool has_value;\n} mlx_optional_box;",
  "an enum value that is an expression": "typedef enum mlx_flag_ { MLX_FLAG_A = 1 << 3 } mlx_flag;",
  "an enum without typedef": "enum mlx_flag { MLX_FLAG_A };",
  "an enum under a condition": "#ifdef A\ntypedef enum mlx_flag_ { MLX_FLAG_A } mlx_flag;\n#endif",
  "a struct under a condition": "#ifdef A\ntypedef struct mlx_pair_ {\n  void* ctx;\n} mlx_pair;\n#endif",
  "a forward typedef of nothing": "typedef struct mlx_ghost_ mlx_ghost;",
  "a typedef of two names": "typedef struct mlx_pair_ {\n  void* ctx;\n} mlx_pair, mlx_twin;",
  "a macro with a value": "#define MLX_LIMIT 4",
  "a condition with a comparison": "#if MLX_LIMIT > 3\nint mlx_f(void);\n#endif",
  "an elif": "#ifdef A\nint mlx_f(void);\n#elif defined(B)\nint mlx_g(void);\n#endif",
  "a pragma": "#pragma pack(1)",
  "a function declared twice": "int mlx_f(void);\nint mlx_f(void);",
  "a broken declaration": "int mlx_f(int n;",
  "text that is not C": "this is not C",
};

for (const [what, text] of Object.entries(shapes)) {
  test(`${what} is an error with file and line`, async () => {
    const match = /^odd\.h:(\d+): .{10,}/s.exec(await messageOf(text));
    expect(match).not.toBeNull();
    const at = Number(match?.[1]);
    expect(at).toBeGreaterThanOrEqual(line);
    expect(at).toBeLessThan(line + text.split("\n").length);
  });
}

test("the line is the declaration's own, in a header with blanked and joined parts before it", async () => {
  const { text } = fixture("shapes.h");
  const cut = text.replace("int mlx_box_free(mlx_box box);", "int mlx_box_free(mlx_crate box);");
  const expected = cut.split("\n").findIndex((row) => row.includes("mlx_crate")) + 1;
  await expect(parseFiles({ name: "shapes.h", text: cut })).rejects.toThrow(
    `shapes.h:${expected}: parameter box of mlx_box_free has a type that codegen does not know: mlx_crate`,
  );
});
