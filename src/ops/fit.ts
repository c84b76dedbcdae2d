/** Elements that native code would wrap to fit an integer dtype. */

import { refuse } from "../core/call.ts";
import { type Dtype, integerBounds } from "../core/dtype.ts";

/** Throws a RangeError unless an integer dtype holds all of the integers; other dtypes hold them in their way. */
export function requireFit(elements: readonly (number | bigint)[], dtype: Dtype, op: string): void {
  const bounds = integerBounds[dtype];
  if (bounds === undefined) return;
  const [low, high] = bounds;
  for (const element of elements) {
    // So written that NaN is refused.
    if (!(element >= low && element <= high)) {
      refuse(new RangeError(`${op}: the element ${element} does not fit ${dtype} (${low} to ${high}).`));
    }
    if (typeof element === "number" && !Number.isSafeInteger(element)) {
      refuse(new RangeError(`${op}: the number ${element} is past the safe integers: write the bounds as bigints.`));
    }
  }
}
