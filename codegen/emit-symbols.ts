// IR -> generated/symbols.ts: the table that the backend opens the library with.

import { banner, comment, lineWidth, list } from "./emit-common.ts";
import { guardText, holds, platforms } from "./guards.ts";
import type { Api, CFunction } from "./ir.ts";

/** Why a function has no symbol in the table, or null when it has one. */
export function exclusion(fn: CFunction): string | null {
  if (fn.variadic) return "takes a variable number of arguments, which bun:ffi cannot pass";
  const vtable = fn.params.find((param) => param.role.kind === "vtable");
  if (vtable !== undefined) {
    return `takes ${vtable.ctype.text}, nine function pointers, by value; the shim makes readers and writers instead`;
  }
  return null;
}

/** The functions of the table. */
export function boundFunctions(api: Api): CFunction[] {
  return api.functions.filter((fn) => exclusion(fn) === null);
}

/** The platforms, by name, whose library does not export a function. */
export function missingOn(api: Api, fn: CFunction): string[] {
  return platforms.filter((platform) => !holds(fn.guard, platform, api.defines)).map((platform) => platform.name);
}

/** A function's line of the table, or lines where it is long. */
export function symbolEntry(fn: CFunction): string {
  const args = fn.params.flatMap((param) => param.ffi).map((type) => JSON.stringify(type));
  const returns = JSON.stringify(fn.returnFfi);
  const flat = `  ${fn.name}: { args: [${args.join(", ")}], returns: ${returns} },`;
  if (flat.length <= lineWidth) return `${flat}\n`;
  return `  ${fn.name}: {\n${list("    ", "args: ", args, ",")}    returns: ${returns},\n  },\n`;
}

const conventions = [
  "How C types travel, measured on Bun 1.4.5, Linux x86-64, each type in a process of its own, ns a call, minima:",
  "- A handle struct { void* ctx } by value, and any pointer: ptr, given as a number. A null result is null.",
  "- size_t and uintptr_t arguments: ptr, the same 64-bit register. A small number costs 3.3 as ptr, 6.0 as u64, 6.5 as",
  "  u64_fast, 6.8 as usize; every integer up to 2^53 arrives exactly in each. Results: u64_fast (12.6; u64 22.6 and a",
  "  BigInt).",
  "- mlx_optional_int, _float, _dtype by value: one 64-bit register, value + 2^32 when there is a value, 0 when there is",
  "  none. value is the 32 bits as an unsigned number (-1 is 2^32 - 1). As ptr 3.8, u64 9.5, u64_fast 8.7, with a BigInt",
  "  7.9; 600,000 random ints and floats, negative, tiny and huge ones included, arrived exactly in each.",
  "- uint64_t seeds: u64, which takes a number or a BigInt, exactly.",
  "- An iterator is two words: its own pointer and its map's. Its constructor returns 16 bytes, of which bun:ffi hands",
  "  over the first word; the second is the handle of the map that it was made from.",
  "- int and enums: i32; bool: bool; float: f32; double: f64: exact widths, for Apple's arm64 packs stack arguments.",
];

/** The text of generated/symbols.ts. */
export function emitSymbols(api: Api): string {
  const bound = boundFunctions(api);
  let text = banner(api, "The functions of mlx-c as bun:ffi declares them, the C prototype above each.");
  text += `${conventions.map((line) => `// ${line}`).join("\n")}\n\nexport const symbols = {\n`;
  text += bound.map((fn) => comment(fn.prototype, "  ") + symbolEntry(fn)).join("");
  text += "} as const;\n\n";

  const optional = bound.map((fn) => ({ fn, missing: missingOn(api, fn) })).filter(({ missing }) => missing.length > 0);
  text +=
    "/** Functions that the library does not export on every platform: a table for one platform leaves them out. */\n";
  text += "export const optionalSymbols = [\n";
  for (const { fn, missing } of optional) {
    const condition = fn.guard === undefined ? "" : `, declared if ${guardText(fn.guard)}`;
    text += comment(`not on ${missing.join(", ")}${condition}`, "  ");
    text += `  ${JSON.stringify(fn.name)},\n`;
  }
  return `${text}] as const;\n`;
}
