// Kind `error`: a case of another kind that must raise, when called or when its result is evaluated.
import { type Case, Unsupported } from "../format.ts";
import { type Callable, resolveFunction } from "../names.ts";
import { prepareCall } from "./call.ts";
import { prepareIndex, prepareUpdate } from "./index.ts";
import { prepareProgram } from "./program.ts";

/** What each form has to offer: everything before the error is prepared, so that a mistake there is not a pass. */
const forms: Readonly<Record<string, (one: Case) => () => unknown>> = {
  call: prepareCall,
  index: prepareIndex,
  program: prepareProgram,
  update: prepareUpdate,
};

/** An error of the JavaScript engine, not of the library: a bug that happens to throw. */
const engineError = /is not a function|is not an object|is not iterable|evaluating '|is not defined|out of memory/;

/** An option that the function does not know: the feature is missing, which is not the error that Python raises. */
const unknownOption = /unknown option|has no option|no such option/i;

/** Null when the thrown value is an error of the library; otherwise why it does not count. */
export function rejectError(error: unknown, expected: string): string | null {
  if (!(error instanceof Error)) return `it threw ${Bun.inspect(error)}, which is not an Error`;
  if (error instanceof Unsupported) throw error;
  if (engineError.test(error.message)) return `an error of the engine, not of the library: ${error.message}`;
  if (expected !== "TypeError" && unknownOption.test(error.message)) throw new Unsupported(error.message);
  return null;
}

/** Calls, evaluates the result, and expects one of the two to raise. */
export function mustRaise(call: () => unknown, expected: string): string | null {
  const evaluate: Callable = resolveFunction("mx.eval");
  try {
    evaluate(call());
  } catch (error) {
    return rejectError(error, expected);
  }
  return `nothing was raised; Python raises ${expected}`;
}

export function runError(one: Case): string | null {
  const prepare = forms[one.form ?? ""];
  if (prepare === undefined) throw new Unsupported(`an error of the form ${one.form}`);
  const { error } = one.expect as { error: string };
  return mustRaise(prepare(one), error);
}
