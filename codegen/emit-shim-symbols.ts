// IR of the shim's header -> generated/shim-symbols.ts: the table that the backend opens the shim with.

import { banner, comment } from "./emit-common.ts";
import { exclusion, symbolEntry } from "./emit-symbols.ts";
import { type Api, HeaderError } from "./ir.ts";

const conventions = [
  "C types travel as symbols.ts says. What only the shim has: int64_t and uint64_t results are counts, sizes and",
  "addresses, all below 2^53, so they come as i64_fast and u64_fast, which make no BigInt of them.",
];

/** The text of generated/shim-symbols.ts. The shim exports all its functions on every platform: others are refused. */
export function emitShimSymbols(shim: Api): string {
  for (const fn of shim.functions) {
    const reason = fn.guard === undefined ? exclusion(fn) : "is declared under a condition";
    if (reason !== null)
      throw new HeaderError(fn.header, fn.line, `${fn.name} has no place in the table: it ${reason}`);
  }
  let text = banner(
    shim,
    "The functions of the shim as bun:ffi declares them, the C prototype above each.",
    "native/shim/mlxts.h",
  );
  text += `${conventions.map((line) => `// ${line}`).join("\n")}\n\nexport const shimSymbols = {\n`;
  text += shim.functions.map((fn) => comment(fn.prototype, "  ") + symbolEntry(fn)).join("");
  return `${text}} as const;\n`;
}
