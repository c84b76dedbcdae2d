/** How many bytes a tensor of a file has, with sizes that no file could have told apart from real ones. */

import { type Dtype, dtypeSize } from "../core/dtype.ts";

/** MLX counts along an axis in 32-bit integers. */
export const LONGEST_AXIS: number = 2 ** 31 - 1;

/**
 * Bytes of a tensor. An empty axis makes it 0 however long the others are; a product that is too large for exact
 * counting is larger than every file, which is all that is asked of it.
 */
export function tensorBytes(shape: readonly number[], dtype: Dtype): number {
  if (shape.includes(0)) return 0;
  return shape.reduce((product, length) => product * length, dtypeSize(dtype));
}
