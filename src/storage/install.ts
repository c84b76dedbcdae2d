/** Puts the exports of storage on Array. */

import { MxArray } from "../core/array.ts";
import type { MetalExportOptions, StorageExport, StorageExportOptions } from "./attempt.ts";
import { exportMetalStorage, exportStorage, tryExportMetalStorage, tryExportStorage } from "./export.ts";
import type { StorageView } from "./view.ts";

declare module "../core/array.ts" {
  interface MxArray {
    /**
     * The bytes that MLX computed, without a copy, as a view that holds them. Throws a StorageExportError with a `status`
     * where there are none to hand out. Python: memoryview(a), roughly.
     */
    exportStorage(options?: StorageExportOptions): StorageView;
    /** The same, but answers `{ status, view }` instead of throwing a StorageExportError. */
    tryExportStorage(options?: StorageExportOptions): StorageExport;
    /** `exportStorage` for Metal's storage alone. */
    exportMetalStorage(options?: MetalExportOptions): StorageView;
    /** `tryExportStorage` for Metal's storage alone. */
    tryExportMetalStorage(options?: MetalExportOptions): StorageExport;
  }
}

const methods = {
  exportStorage(this: MxArray, options?: StorageExportOptions): StorageView {
    return exportStorage(this, options);
  },
  tryExportStorage(this: MxArray, options?: StorageExportOptions): StorageExport {
    return tryExportStorage(this, options);
  },
  exportMetalStorage(this: MxArray, options?: MetalExportOptions): StorageView {
    return exportMetalStorage(this, options);
  },
  tryExportMetalStorage(this: MxArray, options?: MetalExportOptions): StorageExport {
    return tryExportMetalStorage(this, options);
  },
};

for (const [name, value] of Object.entries(methods)) {
  Object.defineProperty(MxArray.prototype, name, { value, writable: true, configurable: true });
}
