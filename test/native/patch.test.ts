// The edits to the copy of mlx-c: each is counted, and nothing that they were for may be left.
import { describe, expect, test } from "bun:test";
import { edits, patchSources } from "../../native/patch.ts";
import { BuildError } from "../../native/tools.ts";

/** Sources in which every edit finds exactly what it expects. */
function sources(): Map<string, string> {
  const errors = "mlx_error(e.what());\n".repeat(652);
  const equal = (kind: string): string =>
    `bool mlx_${kind}_equal(a lhs, a rhs) {\n  return mlx_${kind}_get_(lhs) == mlx_${kind}_get_(rhs);\n}\n`;
  const iterator = (kind: string): string =>
    `it mlx_map_string_to_${kind}_iterator_new(m map) {\n  auto& cpp_map = mlx_map_string_to_${kind}_get_(map);\n  try {\n    return cpp_map;\n`;
  const deletes = "delete static_cast<std::string*>(d.ctx);\n".repeat(36);
  return new Map([
    ["ops.cpp", errors],
    ["device.cpp", equal("device")],
    ["stream.cpp", equal("stream")],
    ["map.cpp", iterator("array") + iterator("string")],
    ["private/io.h", 'std::format("{}", 1);\n'.repeat(5)],
    ["private/array.h", `${"new mlx::core::array(s);\n".repeat(4)}delete static_cast<mlx::core::array*>(d.ctx);\n`],
    ["private/string.h", "new std::string(s);\n".repeat(100) + deletes],
  ]);
}

/** What a build would say of these sources: "patched", or the reason why it stops. */
function outcome(changed: Map<string, string>): string {
  try {
    patchSources(changed);
    return "patched";
  } catch (error) {
    expect(error).toBeInstanceOf(BuildError);
    return (error as Error).message;
  }
}

test("every call of mlx_error gets a literal format", () => {
  const text = patchSources(sources()).get("ops.cpp") ?? "";
  expect(text.match(/mlx_error\("%s", e\.what\(\)\);/g)?.length).toBe(652);
  expect(text).not.toContain("mlx_error(e.what())");
});

test("lookups that throw move into a try", () => {
  const patched = patchSources(sources());
  for (const name of ["device.cpp", "stream.cpp", "map.cpp"]) {
    const text = patched.get(name) ?? "";
    expect(text.indexOf("try {")).toBeGreaterThan(0);
    expect(text.indexOf("try {")).toBeLessThan(text.indexOf("_get_("));
  }
});

test("handles are counted, arrays by themselves", () => {
  const patched = patchSources(sources());
  const arrays = patched.get("private/array.h") ?? "";
  expect(arrays.match(/new \(mlxts_live_array\) mlx::core::array\(/g)?.length).toBe(4);
  expect(arrays).toContain("mlxts_gone_array(), delete static_cast<mlx::core::array*>");
  const others = patched.get("private/string.h") ?? "";
  expect(others.match(/new \(mlxts_live_handle\) std::string/g)?.length).toBe(100);
  expect(others.match(/mlxts_gone_handle\(\), delete /g)?.length).toBe(36);
});

describe("an mlx-c that differs stops the build", () => {
  test("one call too many or too few, for every edit", () => {
    let checked = 0;
    for (const edit of edits) {
      for (const [name, text] of sources()) {
        edit.find.lastIndex = 0;
        const match = edit.find.exec(text);
        if (match === null || (edit.file !== undefined && edit.file !== name)) continue;
        const end = match.index + match[0].length;
        const lines = text.slice(text.lastIndexOf("\n", match.index) + 1, text.indexOf("\n", end) + 1);
        const fewer = sources().set(name, text.slice(0, match.index) + text.slice(end));
        const more = sources().set(name, text + lines);
        expect(outcome(fewer), `${edit.why}, one fewer in ${name}`).toContain(`expected ${edit.count}`);
        expect(outcome(more), `${edit.why}, one more in ${name}`).toContain(`found ${edit.count + 1} times`);
        checked++;
      }
    }
    expect(checked).toBeGreaterThanOrEqual(edits.length);
  });

  test("a call in a form that no edit knows", () => {
    const cases = [
      ["mlx_error(message.c_str());", "a call of mlx_error whose format is not a literal"],
      ["  mlx_error(\n      text);", "a call of mlx_error whose format is not a literal"],
      ["auto f = std::format;", "std::format"],
      ["auto* p = new Thing(1);", "an uncounted new"],
      ["delete thing;", "an uncounted delete"],
    ] as const;
    for (const [line, what] of cases) {
      const strange = sources().set("new.cpp", `// first line\n${line}\n`);
      expect(outcome(strange)).toContain(`mlx/c/new.cpp:2 still has ${what}`);
    }
  });
});
