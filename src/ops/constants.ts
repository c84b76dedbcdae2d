/** Numbers with a name. */

/** Euler's number. Python: mx.e. */
export const e: number = Math.E;
/** The Euler-Mascheroni constant. Python: mx.euler_gamma. */
export const eulerGamma: number = 0.5772156649015329;
/** Python: mx.inf. */
export const inf: number = Number.POSITIVE_INFINITY;
/** Python: mx.nan. */
export const nan: number = Number.NaN;
/** A new axis in an index. Python: mx.newaxis. */
export const newaxis: null = null;
/** Python: mx.pi. */
export const pi: number = Math.PI;
