// Types compared with an independent reading: libclang works out every argument's registers from canonical C types,
// codegen from names and rules. They have to agree on every function of every platform.

import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { exclusion, missingOn } from "../../codegen/emit-symbols.ts";
import { platforms } from "../../codegen/guards.ts";
import { mlxcSources } from "../../codegen/headers.ts";
import type { Api } from "../../codegen/ir.ts";
import { type ClangReading, readWithLibclang } from "../../codegen/libclang/read.ts";
import { shimSymbols } from "../../generated/shim-symbols.ts";
import { symbols } from "../../generated/symbols.ts";
import { realApi, root, shimApi } from "./api.ts";

let api: Api;
let readings: Record<string, ClangReading>;

beforeAll(async () => {
  const [mlxc, shim] = [await realApi(), await shimApi()];
  api = { ...mlxc, functions: [...mlxc.functions, ...shim.functions] };
  readings = await readWithLibclang(await mlxcSources(), join(root, "native", "shim"));
}, 120_000);

/** The FFI types that a set of registers may be declared as. */
const allowed: Record<string, readonly string[]> = {
  pointer: ["ptr"],
  word: ["ptr"],
  bool: ["bool"],
  signed32: ["i32"],
  enum32: ["i32"],
  unsigned32: ["u32"],
  signed64: ["i64", "i64_fast"],
  unsigned64: ["ptr", "u64", "u64_fast"],
  float: ["f32"],
  double: ["f64"],
  void: ["void"],
};

/** C spelled one way: no space before a star, `bool` for clang's `_Bool`. */
const spelled = (type: string): string =>
  type
    .replace(/_Bool/g, "bool")
    .replace(/ \*/g, "*")
    .replace(/\*\(\*/g, "* (*");

test("clang has read the platforms of coverage.json", () => {
  expect(Object.keys(readings)).toEqual(platforms.map((platform) => platform.name));
});

for (const { name: platform } of platforms) {
  const reading = (): ClangReading => {
    const found = readings[platform];
    if (found === undefined) throw new Error(`no reading of ${platform}`);
    return found;
  };

  test(`${platform}: the same functions, at the same places, with the same spelled types`, () => {
    const declared = api.functions.filter((fn) => !missingOn(api, fn).includes(platform));
    expect(Object.keys(reading().functions).sort()).toEqual(declared.map((fn) => fn.name).sort());
    const ours = declared.map((fn) => ({
      name: fn.name,
      header: fn.header,
      line: fn.line,
      variadic: fn.variadic,
      names: fn.params.map((param) => param.name),
      types: fn.params.map((param) => param.ctype.text),
      returns: fn.returnType.text,
    }));
    const clangs = declared.map(({ name }) => {
      const fn = reading().functions[name];
      return {
        name,
        header: fn?.header,
        line: fn?.line,
        variadic: fn?.variadic,
        names: fn?.names,
        types: fn?.types.map(spelled),
        returns: spelled(fn?.returns ?? ""),
      };
    });
    expect(ours as unknown[]).toEqual(clangs);
  });

  test(`${platform}: every FFI type of the table fits the registers that the ABI uses`, () => {
    const wrong: string[] = [];
    const table: Record<string, { args: readonly string[]; returns: string }> = {
      ...symbols,
      ...shimSymbols,
    };
    let checked = 0;
    for (const [name, fn] of Object.entries(reading().functions)) {
      const entry = table[name];
      const registers = fn.registers.flat();
      const needsNoTable = fn.variadic || registers.includes("memory");
      if ((entry === undefined) !== needsNoTable) wrong.push(`${name}: in the table: ${entry !== undefined}`);
      if (entry === undefined) continue;
      const fits =
        registers.length === entry.args.length &&
        registers.every((register, index) => allowed[register]?.includes(entry.args[index] as string));
      if (!fits) wrong.push(`${name}: ${entry.args.join(",")} for ${registers.join(",")}`);
      // Of a result in two registers bun:ffi returns the first word.
      if (!allowed[fn.returnRegisters[0] as string]?.includes(entry.returns)) {
        wrong.push(`${name} returns ${entry.returns} for ${fn.returnRegisters.join(",")}`);
      }
      checked += registers.length;
    }
    expect(wrong).toEqual([]);
    expect(checked).toBeGreaterThan(2000);
    const excluded = api.functions.filter((fn) => exclusion(fn) !== null).map((fn) => fn.name);
    expect(excluded.sort()).toEqual(
      Object.keys(reading().functions)
        .filter((name) => table[name] === undefined)
        .sort(),
    );
  });

  test(`${platform}: the same enum values, and structs laid out as handles and optionals are passed`, () => {
    const ours = api.enums.map(({ cname, members }) => [
      cname,
      Object.fromEntries(members.map((m) => [m.name, m.value])),
    ]);
    expect(Object.fromEntries(ours)).toEqual(reading().enums);

    const { structs } = reading();
    const all = [...api.handles, ...api.structs].map((item) => item.cname).sort();
    expect(Object.keys(structs).sort()).toEqual(all);
    for (const { cname } of api.handles) expect(structs[cname]).toEqual({ size: 8, fields: [["ctx", "void *", 0]] });
    for (const { cname, shape } of api.structs) {
      const fields = structs[cname]?.fields.map(([name, , offset]) => [name, offset]);
      if (shape === "optional")
        expect(fields).toEqual([
          ["value", 0],
          ["has_value", 32],
        ]);
      if (shape === "iterator")
        expect(fields).toEqual([
          ["ctx", 0],
          [fields?.[1]?.[0] as string, 64],
        ]);
    }
  });
}
