/** The threads of the matrix library under MLX's CPU backend. */

import { describe } from "./describe.ts";
import { check } from "./error.ts";
import { backend, C, onLoad } from "./native.ts";

/** How many threads the BLAS under MLX's CPU backend uses. Other operations of MLX use one thread a stream. */
export function blasThreads(): number {
  return C.mlxts_blas_get_threads();
}

/**
 * Sets how many threads the BLAS uses: matrix products and factorisations on the CPU. Default: one a core. The
 * environment variable MLX_TS_BLAS_THREADS sets it at start. `process.env.OPENBLAS_NUM_THREADS = ...` inside a
 * program comes too late for the native side; set that one before the program starts. Throws a RangeError when
 * `threads` is not a positive integer, an MlxError when the BLAS has no such setting.
 */
export function setBlasThreads(threads: number): void {
  if (!Number.isInteger(threads) || threads < 1 || threads > 1024) {
    throw new RangeError(`setBlasThreads: threads must be an integer from 1 to 1024, got ${describe(threads)}.`);
  }
  check(C.mlxts_blas_set_threads(threads), "setBlasThreads");
}

/** What the BLAS calls itself. */
export function blasName(): string {
  return backend.text(C.mlxts_blas_name());
}

onLoad(() => {
  const asked = process.env["MLX_TS_BLAS_THREADS"];
  if (asked === undefined || asked === "") return;
  if (!/^[1-9]\d{0,3}$/.test(asked)) {
    throw new RangeError(`MLX_TS_BLAS_THREADS is "${asked}": give a positive number of threads.`);
  }
  setBlasThreads(Number(asked));
});
