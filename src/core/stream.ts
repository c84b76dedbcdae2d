/** Streams: queues of work on a device. Each thread has its own default stream. */

import type { Pointer } from "../backend/types.ts";
import { describe } from "./describe.ts";
import { Device, type DeviceType, requireDevice, withDevice } from "./device.ts";
import { check, DisposedError, MlxError, takeNativeMessage } from "./error.ts";
import { checkWork } from "./evaluate.ts";
import { Handle, handleOf, internal } from "./handle.ts";
import type { Kind } from "./ledger.ts";
import { C } from "./native.ts";
import { pointerAddress } from "./scratch.ts";
import { readSlot, readSlotI32, slot } from "./slots.ts";
import { nativeText } from "./string.ts";
import { type NotPromise, refusePromise, requireFunction } from "./scope.ts";
import { refuse } from "./temporaries.ts";

const kind: Kind = { name: "Stream", free: (handle) => C.mlx_stream_free(handle) };

/** A queue of work on a device. Made by `newStream`. Python: mx.Stream. */
export class Stream extends Handle {
  /** @internal */
  constructor(key: typeof internal, handle: Pointer) {
    super(key, handle, 0, kind);
  }

  /** The device that the stream computes on. The caller owns it. */
  get device(): Device {
    const out = slot();
    check(C.mlx_stream_get_device(out, handleOf(this, "device", "Stream")), "device");
    return new Device(internal, readSlot(out));
  }

  get index(): number {
    const out = slot();
    check(C.mlx_stream_get_index(out, handleOf(this, "index", "Stream")), "index");
    return readSlotI32(out);
  }

  equals(other: Stream): boolean {
    return C.mlx_stream_equal(handleOf(this, "equals", "Stream"), handleOf(other, "equals", "Stream"));
  }

  override toString(): string {
    const handle = handleOf(this, "toString", "Stream");
    return nativeText("toString", (out) => C.mlx_stream_tostring(out, handle));
  }
}

export type StreamOrDevice = Stream | Device | DeviceType;

export interface StreamOptions {
  /** Where to compute. Default: the stream in force, see `withStream` and `setDefaultDevice`. */
  stream?: StreamOrDevice | undefined;
}

// The handle of the stream in force, asked for once: two native calls an operation would double its cost.
let current: Pointer = 0;
// Default streams by device text; few, and kept for the life of the thread.
const byDevice = new Map<string, Pointer>();

/** The handle of the stream in force. */
export function defaultStreamHandle(): Pointer {
  if (current === 0) current = ofDefaultDevice();
  return current;
}

function ofDefaultDevice(): Pointer {
  const out = slot();
  check(C.mlx_get_default_device(out), "defaultStream");
  const device = readSlot(out);
  try {
    return streamOfDevice(device, "defaultStream");
  } finally {
    C.mlx_device_free(device);
  }
}

function streamOfDevice(device: Pointer, operation: string): Pointer {
  const name = nativeText(operation, (out) => C.mlx_device_tostring(out, device));
  const known = byDevice.get(name);
  if (known !== undefined) return known;
  requireDevice(device, operation);
  const out = slot();
  check(C.mlx_get_default_stream(out, device), operation);
  const stream = readSlot(out);
  byDevice.set(name, stream);
  return stream;
}

/** The native stream of a `stream` option. */
export function streamHandle(stream: StreamOrDevice, operation: string): Pointer {
  if (stream instanceof Stream) {
    const handle = stream.entry.handle;
    return handle === 0 ? refuse(new DisposedError(operation, "Stream")) : handle;
  }
  if (!(stream instanceof Device) && stream !== "cpu" && stream !== "gpu") {
    return refuse(
      new TypeError(`${operation}: stream must be a Stream, a Device, "cpu" or "gpu", got ${describe(stream)}.`),
    );
  }
  return withDevice(stream, operation, (device) => streamOfDevice(device, operation));
}

/** A new native handle of the same stream. */
function copy(handle: Pointer): Pointer {
  const out = slot();
  check(C.mlx_stream_set(out, handle), "stream");
  return readSlot(out);
}

/** Sets the default device of this thread. Throws where the device is not available. Python: mx.set_default_device. */
export function setDefaultDevice(device: Device | DeviceType): void {
  withDevice(device, "setDefaultDevice", (handle) => {
    requireDevice(handle, "setDefaultDevice");
    check(C.mlx_set_default_device(handle), "setDefaultDevice");
  });
  current = 0;
}

/** The default stream of a device. The caller owns the handle, not the stream. Python: mx.default_stream. */
export function defaultStream(device: Device | DeviceType): Stream {
  return new Stream(internal, copy(streamHandle(device, "defaultStream")));
}

/** Makes a stream the default of its device, in this thread. Python: mx.set_default_stream. */
export function setDefaultStream(stream: Stream): void {
  if (!(stream instanceof Stream)) throw new TypeError(`setDefaultStream: expected a Stream, got ${describe(stream)}.`);
  const handle = handleOf(stream, "setDefaultStream", "Stream");
  check(C.mlx_set_default_stream(handle), "setDefaultStream");
  using device = stream.device;
  const known = byDevice.get(String(device));
  // In place: the handle of the former default may be in force further up.
  if (known !== undefined) check(C.mlx_stream_set(pointerAddress([known]), handle), "setDefaultStream");
  current = 0;
}

/** A new stream on a device. Python: mx.new_stream. */
export function newStream(device: Device | DeviceType): Stream {
  return withDevice(device, "newStream", (handle) => {
    requireDevice(handle, "newStream");
    // Null when the system has no thread left for it.
    const made = C.mlx_stream_new_device(handle);
    if (!made) throw new MlxError("newStream", takeNativeMessage());
    return new Stream(internal, made);
  });
}

/**
 * Runs `fn` with `stream` as the default of everything inside. `fn` must be synchronous: a promise is a type error, and
 * throws a TypeError. Python: with mx.stream(s).
 */
export function withStream<T>(stream: StreamOrDevice, fn: () => NotPromise<T>): NotPromise<T> {
  requireFunction(fn, "withStream");
  // A handle of its own: `fn` may dispose the Stream object.
  const handle = copy(streamHandle(stream, "withStream"));
  const before = defaultStreamHandle();
  current = handle;
  try {
    const result = fn();
    refusePromise(result, "withStream", "the stream is in force only until it returns");
    return result;
  } finally {
    current = before;
    C.mlx_stream_free(handle);
  }
}

/** Waits for all work of a stream. Default: the stream in force. Python: mx.synchronize. */
export function synchronize(stream?: StreamOrDevice): void {
  const handle = stream === undefined ? defaultStreamHandle() : streamHandle(stream, "synchronize");
  checkWork(C.mlx_synchronize(handle), [], "synchronize");
}
