/** Puts `get`, `at` and iteration on Array. */

import { MxArray } from "../../core/array.ts";
import { get } from "./get.ts";
import type { IndexPart } from "./parts.ts";
import { type ArrayAt, at } from "./update.ts";

declare module "../../core/array.ts" {
  interface MxArray {
    /** The part that an index selects: `x.get(0, "1:3", "...", null, ids)`. Python: a[0, 1:3, ..., None, ids]. */
    get(...index: IndexPart[]): MxArray;
    /** The place that an index names, to be written: `x.at(0, "1:3").set(v)` gives a new array. Python: a.at[0, 1:3]. */
    at(...index: IndexPart[]): ArrayAt;
    /** The parts along the first axis, in order. The caller owns each. Python: iter(a). */
    [Symbol.iterator](): Generator<MxArray, void, undefined>;
  }
}

function* rows(this: MxArray): Generator<MxArray, void, undefined> {
  const length = this.shape[0];
  if (length === undefined) throw new TypeError("an array of no axes cannot be iterated; use item().");
  for (let i = 0; i < length; i++) yield get(this, i);
}

const methods = {
  get(this: MxArray, ...index: IndexPart[]): MxArray {
    return get(this, ...index);
  },
  at(this: MxArray, ...index: IndexPart[]): ArrayAt {
    return at(this, ...index);
  },
  [Symbol.iterator]: rows,
};

for (const key of Reflect.ownKeys(methods)) {
  Object.defineProperty(MxArray.prototype, key, {
    value: methods[key as keyof typeof methods],
    writable: true,
    configurable: true,
  });
}
