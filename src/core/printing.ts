/** How arrays are printed. */

import { int } from "./args.ts";
import { C } from "./native.ts";
import { checkOptions, isOptions } from "./options.ts";

/** What can be set about printing. */
export interface PrintOptions {
  /** Digits behind the point, 0 to 200; -1, the default, lets MLX choose. */
  precision?: number | undefined;
}

// Past this a number has no digits left to show, and an array of them would fill the memory.
const most = 200;

function precisionOf(options: number | PrintOptions, op: string): number {
  if (isOptions(options)) checkOptions(options, ["precision"], op);
  const given = isOptions(options) ? (options as PrintOptions).precision : options;
  const precision = given === undefined ? -1 : int(given, op, "precision");
  if (precision >= -1 && precision <= most) return precision;
  throw new RangeError(`${op}: precision must be from 0 to ${most}, or -1 for MLX's own choice, got ${precision}.`);
}

/**
 * Sets how many digits behind the point arrays are printed with: 0 to 200, or -1 for MLX's own choice.
 *
 * One setting for the process, Workers included. Throws a RangeError for another number.
 * Python: `mx.set_printoptions(precision=-1)`.
 *
 * @example
 * mx.setPrintoptions({ precision: 3 });
 * String(mx.array([1.23456]));             // array([1.235], dtype=float32)
 */
export function setPrintoptions(options: number | PrintOptions = {}): void {
  C.mlxts_set_print_precision(precisionOf(options, "setPrintoptions"));
}

/** How arrays are printed now. Python: `mx.get_printoptions()`. */
export function getPrintoptions(): { precision: number } {
  return { precision: C.mlxts_print_precision() };
}

/**
 * Sets how arrays are printed until the end of the block.
 *
 * Takes what `setPrintoptions` takes. Python: `with mx.printoptions(precision=-1)`.
 *
 * @example
 * {
 *   using _ = mx.printoptions({ precision: 2 });
 *   console.log(x);
 * }
 */
export function printoptions(options: number | PrintOptions = {}): Disposable {
  const precision = precisionOf(options, "printoptions");
  const before = C.mlxts_print_precision();
  C.mlxts_set_print_precision(precision);
  let over = false;
  return {
    [Symbol.dispose](): void {
      if (!over) C.mlxts_set_print_precision(before);
      over = true;
    },
  };
}
