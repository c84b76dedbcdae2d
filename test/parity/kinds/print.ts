// Kind `print`: the text of an array, under the print option `precision` where the case has one.
import type { Case } from "../format.ts";
import { decode } from "../literals.ts";
import { resolveFunction } from "../names.ts";

export function runPrint(one: Case): string | null {
  const set = resolveFunction("mx.set_printoptions");
  if (typeof one.precision === "number") set({ precision: one.precision });
  try {
    const text = String(decode(one.x, false));
    return text === one.expect ? null : `expected ${JSON.stringify(one.expect)}, got ${JSON.stringify(text)}`;
  } finally {
    set({});
  }
}
