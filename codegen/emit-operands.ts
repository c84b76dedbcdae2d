// IR -> generated/operands.ts: where the arrays and the stream stand among the arguments of an operation. For tracing.

import { banner } from "./emit-common.ts";
import { boundFunctions } from "./emit-symbols.ts";
import type { Api, CFunction, Param } from "./ir.ts";

/** One letter for each register word of a parameter. */
function letters({ role, ffi }: Param): string {
  const letter = (): string => {
    if (role.kind === "stream") return "s";
    if (role.kind === "outHandle") return role.of === "array" ? "r" : role.of === "vector_array" ? "R" : ".";
    if (role.kind === "handle") return role.of === "array" ? "a" : role.of === "vector_array" ? "v" : ".";
    return ".";
  };
  return letter() + ".".repeat(ffi.length - 1);
}

/** Whether a function makes arrays on a stream. */
function isOperation(fn: CFunction): boolean {
  const makes = fn.params.some(({ role }) => role.kind === "outHandle" && /^(?:vector_)?array$/.test(role.of));
  return makes && fn.params.some(({ role }) => role.kind === "stream");
}

/** The text of generated/operands.ts. */
export function emitOperands(api: Api): string {
  let text = banner(api, "Where the arrays and the stream stand among the arguments of mlx-c's operations.");
  text +=
    "/**\n * A letter for each argument: a an array, v a vector of arrays, r an array that comes out, R a vector that comes\n";
  text += " * out, s the stream, . anything else.\n */\nexport const operands: Readonly<Record<string, string>> = {\n";
  for (const fn of boundFunctions(api).filter(isOperation)) {
    text += `  ${fn.name}: ${JSON.stringify(fn.params.map(letters).join(""))},\n`;
  }
  return `${text}};\n`;
}
