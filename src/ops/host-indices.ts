/** Plain indices, which are checked here; index-checks.ts looks at those in an Array. */

import { refuse } from "../core/call.ts";
import { DEEPEST, tooDeep } from "../core/literal.ts";

/** Calls `visit` on every element of nested lists, or on a value that is no list, with its path. */
export function forEachIndex(indices: unknown, path: string, visit: (index: unknown, path: string) => void): void {
  const walk = (item: unknown, at: string, depth: number): void => {
    if (!Array.isArray(item)) return visit(item, at);
    if (depth === DEEPEST) refuse(new TypeError(`${path}: ${tooDeep}`));
    // Not forEach, which leaves holes out.
    for (let i = 0; i < item.length; i++) walk(item[i], `${at}[${i}]`, depth + 1);
  };
  walk(indices, path, 0);
}
