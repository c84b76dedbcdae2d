/** An attempt to export an array's storage: its options, its questions to native code, and its refusals. */

import { bool } from "../core/args.ts";
import type { MxArray } from "../core/array.ts";
import { MlxError } from "../core/error.ts";
import { handleOf } from "../core/handle.ts";
import { checkOptions } from "../core/options.ts";
import type { Pointer } from "../backend/types.ts";
import {
  decide,
  type StorageBackend,
  type StorageLayout,
  type StorageProbe,
  type StorageRequest,
  type StorageStatus,
  type StorageVerdict,
} from "./layout.ts";
import { shim as native, type StorageShim } from "./shim.ts";
import { StorageView, viewOf } from "./view.ts";

export interface MetalExportOptions {
  /** Computes an array that is lazy, and waits for one that is being computed, instead of refusing it. Default false. */
  waitUntilAvailable?: boolean | undefined;
  /** Refuses an array whose elements are not in row-major order without gaps. Default true. */
  requireRowContiguous?: boolean | undefined;
}

export interface StorageExportOptions extends MetalExportOptions {
  /**
   * On CUDA, where storage cannot be read by the host, gives a view whose `bytes` are a copy, made when they are first
   * asked for. Elsewhere it changes nothing. Default false.
   */
  host?: boolean | undefined;
}

/** What `tryExportStorage` gives: the view where the status is "success". */
export type StorageExport =
  | { readonly status: "success"; readonly view: StorageView }
  | { readonly status: Exclude<StorageStatus, "success">; readonly view?: undefined };

/** Storage was not exported: `status` says why, as `tryExportStorage` would. */
export class StorageExportError extends MlxError {
  override name = "StorageExportError";
  readonly status: Exclude<StorageStatus, "success">;

  constructor(operation: string, status: Exclude<StorageStatus, "success">, reason: string) {
    super(operation, reason);
    this.status = status;
  }
}

const reasons: Record<Exclude<StorageStatus, "success">, string> = {
  executionFailed: "the array has no value, its evaluation failed",
  metalNotAvailable:
    "Metal is not available: this build of MLX or this machine has none; exportStorage exports the storage of any backend",
  unsupportedBackend: "the storage is not readable by the host; { host: true } gives a copy where that helps",
  arrayNotAvailable:
    "the array has no value yet: evaluate it, or pass { waitUntilAvailable: true }; inside of a transform it may never have one",
  noStorage: "the array has no buffer: an empty one has none on Metal, and there is nothing to read",
  unsupportedLayout:
    "the elements are not in row-major order without gaps: take mx.contiguous(a), or pass { requireRowContiguous: false } and mind the strides",
  invalidOffset: "the array's strides leave its buffer: correct the shape, strides and offset that asStrided was given",
};

/** The questions of an export, put to native code. */
class NativeProbe implements StorageProbe {
  readonly #array: MxArray;
  readonly #operation: string;
  readonly #shim: StorageShim;

  constructor(array: MxArray, operation: string, shim: StorageShim) {
    this.#array = array;
    this.#operation = operation;
    this.#shim = shim;
  }

  get #handle(): Pointer {
    return handleOf(this.#array, this.#operation, "Array");
  }

  failed(): boolean {
    return this.#array.entry.poison !== null;
  }

  metalAvailable(): boolean {
    return this.#shim.metalAvailable();
  }

  backend(): StorageBackend {
    if (this.#shim.metalAvailable()) return "metal";
    return this.#shim.cudaAvailable() ? "cuda" : "cpu";
  }

  available(): boolean {
    const status = this.#shim.status(this.#handle);
    if (status !== 1) return status === 2;
    return this.#tolerating(() => this.#shim.isReady(this.#array, this.#operation));
  }

  evaluate(): void {
    this.#tolerating(() => {
      this.#shim.evaluate(this.#array, this.#operation);
      return true;
    });
  }

  layout(): StorageLayout | null {
    const handle = this.#handle;
    const shim = this.#shim;
    if (shim.buffer(handle) === 0) return null;
    const flags = shim.flags(handle);
    return {
      shape: [...this.#array.readShape(this.#operation)],
      strides: shim.strides(handle),
      itemsize: this.#array.itemsize,
      dataSize: shim.dataSize(handle),
      byteOffset: shim.offset(handle),
      bufferBytes: shim.bufferBytes(handle),
      flags: { contiguous: (flags & 1) !== 0, rowContiguous: (flags & 2) !== 0, colContiguous: (flags & 4) !== 0 },
    };
  }

  /** MLX's refusal is an answer here: either the array is marked as failed by it, or it stays without a value. */
  #tolerating(call: () => boolean): boolean {
    try {
      return call();
    } catch (error) {
      if (error instanceof MlxError) return false;
      throw error;
    }
  }
}

function requestOf(options: unknown, allowed: readonly string[], operation: string): StorageRequest {
  const given = (options ?? {}) as Record<string, unknown>;
  if (options !== undefined) checkOptions(options, allowed, operation);
  const flag = (name: string, absent: boolean): boolean => {
    const value = given[name];
    return value === undefined ? absent : bool(value, operation, name);
  };
  return {
    metalOnly: !allowed.includes("host"),
    waitUntilAvailable: flag("waitUntilAvailable", false),
    requireRowContiguous: flag("requireRowContiguous", true),
    host: flag("host", false),
  };
}

export const metalOptions: readonly string[] = ["waitUntilAvailable", "requireRowContiguous"];
export const anyOptions: readonly string[] = [...metalOptions, "host"];

/** One attempt. `allowed` are the options that `operation` has; without "host", only Metal's storage will do. */
export function attempt(
  array: MxArray,
  options: unknown,
  allowed: readonly string[],
  operation: string,
  shim: StorageShim = native,
): StorageExport {
  const request = requestOf(options, allowed, operation);
  handleOf(array, operation, "Array");
  const probe = new NativeProbe(array, operation, shim);
  const verdict: StorageVerdict = decide(probe, request);
  if (verdict.status !== "success") return { status: verdict.status };
  return { status: "success", view: viewOf(array, probe.backend(), verdict, operation, shim) };
}

/** The view of an attempt that succeeded, or its error. */
export function required(result: StorageExport, array: MxArray, operation: string): StorageView {
  if (result.status === "success") return result.view;
  const { poison } = array.entry;
  const reason = reasons[result.status];
  throw new StorageExportError(operation, result.status, poison === null ? reason : `${reason}: ${poison}`);
}
