/** The exports of an array's storage, as users call them. */

import type { MxArray } from "../core/array.ts";
import {
  anyOptions,
  attempt,
  type MetalExportOptions,
  metalOptions,
  required,
  type StorageExport,
  type StorageExportOptions,
} from "./attempt.ts";
import type { StorageView } from "./view.ts";

/**
 * The very bytes that MLX computed, as a read-only view that holds them: no copy, and no evaluation unless asked for.
 *
 * The view keeps MLX from reusing the storage until it is disposed, survives the array, and is owned like one: by
 * `using`, by `tidy`, or by the ledger. Options: `waitUntilAvailable` (default false) computes a lazy array,
 * `requireRowContiguous` (default true) refuses other layouts, `host` (default false) allows a copy on CUDA.
 *
 * Throws a StorageExportError with a `status` where handing out a pointer would be wrong, a DisposedError for a disposed
 * array, and a TypeError for wrong arguments. Python's nearest relative is memoryview(a), which evaluates unasked.
 */
export function exportStorage(array: MxArray, options?: StorageExportOptions): StorageView {
  return required(attempt(array, options, anyOptions, "exportStorage"), array, "exportStorage");
}

/**
 * Like `exportStorage`, but answers `{ status, view }` instead of throwing a StorageExportError: `view` is there where
 * `status` is "success". A disposed array and wrong arguments are still errors.
 */
export function tryExportStorage(array: MxArray, options?: StorageExportOptions): StorageExport {
  return attempt(array, options, anyOptions, "tryExportStorage");
}

/**
 * `exportStorage` for Metal's storage alone: where Metal is not available, the status is "metalNotAvailable". `buffer`
 * of the view is the MTL::Buffer*. Throws as `exportStorage` does.
 */
export function exportMetalStorage(array: MxArray, options?: MetalExportOptions): StorageView {
  return required(attempt(array, options, metalOptions, "exportMetalStorage"), array, "exportMetalStorage");
}

/** Like `exportMetalStorage`, but answers `{ status, view }` as `tryExportStorage` does. */
export function tryExportMetalStorage(array: MxArray, options?: MetalExportOptions): StorageExport {
  return attempt(array, options, metalOptions, "tryExportMetalStorage");
}
