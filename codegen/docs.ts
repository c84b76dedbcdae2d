// What each operation does: the text of its documentation comment, which the generator completes with the defaults and
// with Python's form. A text for a function that Python does not have, or none for one it has, is an error.

import { elementwiseDocs } from "./docs-elementwise.ts";
import { moreDocs } from "./docs-more.ts";
import { shapeDocs } from "./docs-shapes.ts";

/** By Python's name: one sentence, and then shapes, dtypes, units and errors. */
export type Docs = Readonly<Record<string, readonly [summary: string, detail: string]>>;

export const docs: Docs = { ...elementwiseDocs, ...shapeDocs, ...moreDocs };
