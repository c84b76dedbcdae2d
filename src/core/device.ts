/** Devices: where a stream computes. */

import type { Pointer } from "../backend/types.ts";
import { describe } from "./describe.ts";
import { check, MlxError } from "./error.ts";
import { Handle, handleOf, internal } from "./handle.ts";
import type { Kind } from "./ledger.ts";
import { backend, C } from "./native.ts";
import { constantAddress } from "./scratch.ts";
import { readSlot, readSlotI32, slot } from "./slots.ts";
import { nativeText } from "./string.ts";
import { takeStrings } from "./vector.ts";

export type DeviceType = "cpu" | "gpu";

/** The CPU. Python: mx.cpu. */
export const cpu = "cpu";
/** The GPU: Metal on a Mac, CUDA on Linux. Python: mx.gpu. */
export const gpu = "gpu";

const kind: Kind = { name: "Device", free: (handle) => C.mlx_device_free(handle) };

/** A device of a type and an index. Python: mx.Device. */
export class Device extends Handle {
  /** `new Device("gpu", 0)`. The index defaults to 0; whether the device exists is `isAvailable`. */
  constructor(type: DeviceType, index?: number);
  /** @internal */
  constructor(key: typeof internal, handle: Pointer);
  constructor(type: DeviceType | typeof internal, index: number = 0) {
    super(internal, type === internal ? index : newDevice(type, index), 0, kind);
  }

  get type(): DeviceType {
    const out = slot();
    check(C.mlx_device_get_type(out, handleOf(this, "type", "Device")), "type");
    return readSlotI32(out) === 0 ? "cpu" : "gpu";
  }

  get index(): number {
    const out = slot();
    check(C.mlx_device_get_index(out, handleOf(this, "index", "Device")), "index");
    return readSlotI32(out);
  }

  equals(other: Device): boolean {
    return C.mlx_device_equal(handleOf(this, "equals", "Device"), handleOf(other, "equals", "Device"));
  }

  override toString(): string {
    const handle = handleOf(this, "toString", "Device");
    return nativeText("toString", (out) => C.mlx_device_tostring(out, handle));
  }
}

function typeCode(type: unknown, operation: string): number {
  if (type === "cpu") return 0;
  if (type === "gpu") return 1;
  throw new TypeError(`${operation}: a device is "cpu", "gpu" or a Device, got ${describe(type)}.`);
}

function newDevice(type: DeviceType, index: number): Pointer {
  if (!Number.isInteger(index) || index < 0 || index > 1024) {
    throw new RangeError(`Device: index must be a small non-negative integer, got ${describe(index)}.`);
  }
  if (type !== "cpu" && type !== "gpu")
    throw new TypeError(`Device: type must be "cpu" or "gpu", got ${describe(type)}.`);
  return C.mlx_device_new_type(typeCode(type, "Device"), index);
}

/** Runs `use` with the native device of `device`, made for the call where a name was given. */
export function withDevice<T>(device: Device | DeviceType, operation: string, use: (handle: Pointer) => T): T {
  if (device instanceof Device) return use(handleOf(device, operation, "Device"));
  const handle = C.mlx_device_new_type(typeCode(device, operation), 0);
  try {
    return use(handle);
  } finally {
    C.mlx_device_free(handle);
  }
}

/** Refuses a device that this library or machine does not have, before native code does so less kindly. */
export function requireDevice(handle: Pointer, operation: string): void {
  const out = slot();
  check(C.mlx_device_is_available(out, handle), operation);
  if ((readSlot(out) & 1) === 1) return;
  const name = nativeText(operation, (text) => C.mlx_device_tostring(text, handle));
  throw new MlxError(operation, `${name} is not available: this build of MLX or this machine has no such device`);
}

/** Whether operations can run on a device. Python: mx.is_available. */
export function isAvailable(device: Device | DeviceType): boolean {
  return withDevice(device, "isAvailable", (handle) => {
    const out = slot();
    check(C.mlx_device_is_available(out, handle), "isAvailable");
    return (readSlot(out) & 1) === 1;
  });
}

/** The device that operations use where nothing else is said. The caller owns it. Python: mx.default_device. */
export function defaultDevice(): Device {
  const out = slot();
  check(C.mlx_get_default_device(out), "defaultDevice");
  return new Device(internal, readSlot(out));
}

/** How many devices of a type there are. Python: mx.device_count. */
export function deviceCount(type: DeviceType): number {
  if (type !== "cpu" && type !== "gpu") {
    throw new TypeError(`deviceCount: type must be "cpu" or "gpu", got ${describe(type)}.`);
  }
  const out = slot();
  check(C.mlx_device_count(out, typeCode(type, "deviceCount")), "deviceCount");
  return readSlotI32(out);
}

/** What MLX knows of a device: names and sizes in bytes. Default: the default device. Python: mx.device_info. */
export function deviceInfo(device?: Device | DeviceType): Record<string, string | number> {
  if (device === undefined) {
    using current = defaultDevice();
    return deviceInfo(current);
  }
  return withDevice(device, "deviceInfo", (handle) => {
    requireDevice(handle, "deviceInfo");
    const out = slot();
    check(C.mlx_device_info_get(out, handle), "deviceInfo");
    const held = readSlot(out);
    try {
      return readInfo(held);
    } finally {
      C.mlx_device_info_free(held);
    }
  });
}

function readInfo(info: Pointer): Record<string, string | number> {
  const result: Record<string, string | number> = {};
  const list = slot();
  check(C.mlx_device_info_get_keys(list, info), "deviceInfo");
  for (const key of takeStrings(readSlot(list))) {
    const address = constantAddress(key);
    const flag = slot();
    check(C.mlx_device_info_is_string(flag, info, address), "deviceInfo");
    const value = slot();
    if ((readSlot(flag) & 1) === 1) {
      check(C.mlx_device_info_get_string(value, info, address), "deviceInfo");
      result[key] = backend.text(readSlot(value));
    } else {
      check(C.mlx_device_info_get_size(value, info, address), "deviceInfo");
      result[key] = readSlot(value);
    }
  }
  return result;
}
