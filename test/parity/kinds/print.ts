// Kind `print`: the text of an array.
import { type Case, Unsupported } from "../format.ts";
import { decode } from "../literals.ts";

export function runPrint(one: Case): string | null {
  if (one.precision !== undefined && one.precision !== null) throw new Unsupported("the print option precision");
  const text = String(decode(one.x, false));
  return text === one.expect ? null : `expected ${JSON.stringify(one.expect)}, got ${JSON.stringify(text)}`;
}
