// Checked by tsc, never run: storage exports.
import * as mx from "../../src/index.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>): void => undefined;

declare const x: mx.Array;

export function accepted(): void {
  using view = x.exportStorage({ waitUntilAvailable: true, requireRowContiguous: false, host: true });
  same<typeof view, mx.StorageView>(true);
  same<typeof view.bytes, Uint8Array<ArrayBuffer>>(true);
  same<typeof view.backend, "metal" | "cpu" | "cuda">(true);
  const result = x.tryExportStorage();
  // The status says whether there is a view.
  if (result.status === "success") same<typeof result.view, mx.StorageView>(true);
  else same<typeof result.view, undefined>(true);
  same<NonNullable<typeof result.view>, mx.StorageView>(true);
  mx.exportMetalStorage(x, { waitUntilAvailable: false }).dispose();
  mx.tryExportMetalStorage(x).view?.dispose();
  mx.tryExportStorage(x, { host: undefined }).view?.dispose();
  using capsule = view.toDLPack();
  same<ReturnType<typeof capsule.take>, number>(true);
  // A view survives the tidy that it is returned from.
  same<ReturnType<typeof mx.tidy<mx.StorageView>>, mx.StorageView>(true);
}

export function refused(): void {
  // @ts-expect-error Metal's storage is never copied
  x.exportMetalStorage({ host: true });
  // @ts-expect-error no such option
  x.exportStorage({ wait: true });
  // @ts-expect-error the members do not change
  x.exportStorage().shape = [1];
  // @ts-expect-error made by exportStorage alone
  new mx.StorageView();
}
