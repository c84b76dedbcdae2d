// Exports of storage that is not the CPU's: Metal's rows and CUDA's, through a fake of the native answers.
import { describe, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { anyOptions, attempt, metalOptions, required, type StorageExport } from "../../src/storage/attempt.ts";
import { shim, type StorageShim } from "../../src/storage/shim.ts";
import { refusal, scoped } from "../helpers.ts";
import { computed, numbers } from "./numbers.ts";

/** Native answers with some replaced. */
const faking = (answers: Partial<StorageShim>): StorageShim => ({ ...shim, ...answers });
const onMetal: Partial<StorageShim> = { metalAvailable: () => true, cudaAvailable: () => false };

function tryMetal(array: mx.Array, answers: Partial<StorageShim>, options?: mx.MetalExportOptions): StorageExport {
  return attempt(array, options, metalOptions, "tryExportMetalStorage", faking({ ...onMetal, ...answers }));
}

describe("Metal's rows, through a fake of the native answers", () => {
  scoped("success, with MTL::Buffer and its device", () => {
    const x = numbers(2, 3);
    const devices: number[] = [];
    const device = (buffer: number): number => {
      devices.push(buffer);
      return 0x7770;
    };
    const { view } = tryMetal(x, { buffer: () => 0x7fff_1230, bufferId: () => 9, device });
    expect(view).toMatchObject({ backend: "metal", buffer: 0x7fff_1230, device: 0x7770, bufferId: 9, byteOffset: 0 });
    expect(devices).toEqual([0x7fff_1230]);
    expect([...view!.typed()]).toEqual([0, 1, 2, 3, 4, 5]);
    // An export that names no backend finds Metal too.
    expect(attempt(x, {}, anyOptions, "tryExportStorage", faking(onMetal)).view!.backend).toBe("metal");
  });

  scoped("an empty array has a null buffer: noStorage, in every column", () => {
    const empty = computed(mx.zeros([0]));
    for (const options of [{}, { waitUntilAvailable: true }, { requireRowContiguous: false }]) {
      expect(tryMetal(empty, { buffer: () => 0 }, options).status).toBe("noStorage");
    }
  });

  scoped("lazy, being computed, wrong layout, wrong offset", () => {
    expect(tryMetal(mx.add(numbers(2), 1), {}).status).toBe("arrayNotAvailable");
    expect(tryMetal(mx.add(numbers(2), 1), {}, { waitUntilAvailable: true }).status).toBe("success");
    const ready = { status: () => 1, isReady: () => false };
    expect(tryMetal(numbers(2), ready).status).toBe("arrayNotAvailable");
    expect(tryMetal(numbers(2), { ...ready, isReady: () => true }).status).toBe("success");
    expect(tryMetal(numbers(2), { flags: () => 1 }).status).toBe("unsupportedLayout");
    expect(tryMetal(numbers(2), { flags: () => 1 }, { requireRowContiguous: false }).status).toBe("success");
    expect(tryMetal(numbers(2), { bufferBytes: () => 7 }).status).toBe("invalidOffset");
    for (const offset of [-4, 2 ** 40])
      expect(tryMetal(numbers(2), { offset: () => offset }).status).toBe("invalidOffset");
  });

  scoped("a view that cannot be read throws, and loses nothing", () => {
    const { view } = tryMetal(numbers(2), { hostAddress: () => 0 });
    expect(refusal(() => view!.bytes)).toStartWith(
      "MlxError: bytes: the host cannot read the storage: take toTypedArray()",
    );
    expect(refusal(() => view!.copy())).toStartWith("MlxError: copy:");
  });

  scoped("no buffer is asked about before the value is there", () => {
    const never = (): never => {
      throw new Error("the buffer was looked at");
    };
    const buffer = { buffer: never, bufferId: never, bufferBytes: never, device: never, hostAddress: never };
    const shimOf = { ...buffer, offset: never, dataSize: never, flags: never, strides: never };
    expect(tryMetal(mx.add(numbers(2), 1), shimOf).status).toBe("arrayNotAvailable");
    expect(tryMetal(numbers(2), { ...shimOf, status: () => 1, isReady: () => false }).status).toBe("arrayNotAvailable");
    expect(attempt(numbers(2), {}, metalOptions, "x", faking({ ...shimOf, metalAvailable: () => false })).status).toBe(
      "metalNotAvailable",
    );
  });
});

describe("CUDA, through a fake", () => {
  const onCuda = faking({ metalAvailable: () => false, cudaAvailable: () => true });
  const tryCuda = (array: mx.Array, options?: mx.StorageExportOptions): StorageExport =>
    attempt(array, options, anyOptions, "exportStorage", onCuda);

  scoped("is refused by default, lazy or not", () => {
    for (const options of [{}, { waitUntilAvailable: true }, { requireRowContiguous: false }]) {
      expect(tryCuda(numbers(2), options).status).toBe("unsupportedBackend");
    }
    expect(tryCuda(mx.add(numbers(2), 1)).status).toBe("unsupportedBackend");
    const x = numbers(2);
    expect(refusal(() => required(tryCuda(x), x, "exportStorage"))).toContain("{ host: true } gives a copy");
  });

  scoped("with { host: true }, a copy that is called one, made once, when it is asked for", () => {
    const x = numbers(2, 3);
    let migrations = 0;
    const counting = faking({
      ...onCuda,
      hostAddress: (handle) => {
        migrations++;
        return shim.hostAddress(handle);
      },
    });
    const view = attempt(x, { host: true }, anyOptions, "exportStorage", counting).view!;
    expect([view.backend, view.hostCopy, migrations]).toEqual(["cuda", true, 0]);
    const bytes = view.bytes;
    bytes.fill(0);
    expect([...view.typed(), migrations]).toEqual([0, 0, 0, 0, 0, 0, 1]);
    expect([...x.exportStorage().typed()]).toEqual([0, 1, 2, 3, 4, 5]);
    expect(refusal(() => view.toDLPack())).toStartWith("MlxError: toDLPack: the storage is not readable by the host");
    view.dispose();
    expect(bytes.length).toBe(0);
  });
});
