// One function for each kind of case. A kind that is not here is unsupported: adding one means adding a file to
// kinds/ and a line to this table.
import type { Case } from "./format.ts";
import { runCall } from "./kinds/call.ts";
import { runDtype } from "./kinds/dtype.ts";
import { runError } from "./kinds/error.ts";
import { runIndex, runUpdate } from "./kinds/index.ts";
import { runIo } from "./kinds/io.ts";
import { runProgram } from "./kinds/program.ts";
import { runPrint } from "./kinds/print.ts";

/** Runs a case: null when it passes, otherwise what differs. Throws Unsupported for what cannot be run. */
export type KindRunner = (one: Case) => string | null;

export const kinds: Readonly<Record<string, KindRunner>> = {
  call: runCall,
  dtype: runDtype,
  error: runError,
  index: runIndex,
  io: runIo,
  program: runProgram,
  update: runUpdate,
  print: runPrint,
};
