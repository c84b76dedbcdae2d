/** Streams: queues of work on a device. Each thread has its own default stream. */

import type { Pointer } from "../backend/types.ts";
import { describe } from "./describe.ts";
import { Device, type DeviceType, isAvailable, requireDevice, withDevice } from "./device.ts";
import type { Dtype } from "./dtype.ts";
import { check, DisposedError, MlxError, takeNativeMessage } from "./error.ts";
import { checkWork } from "./evaluate.ts";
import { Handle, handleOf, internal } from "./handle.ts";
import { traced } from "./hooks.ts";
import { kept } from "./kept.ts";
import { kindOf } from "./kinds.ts";
import type { Kind } from "./ledger.ts";
import { C } from "./native.ts";
import { pointerAddress } from "./scratch.ts";
import { readSlot, readSlotI32, slot } from "./slots.ts";
import { nativeText } from "./string.ts";
import { keep, type NotPromise, refusePromise, requireFunction } from "./scope.ts";
import { refuse } from "./temporaries.ts";

const kind: Kind = { name: "Stream", free: (handle) => C.mlx_stream_free(handle) };

// How often `clearStreams` has run: streams of this thread that are older are gone.
let epoch = 0;

/** A queue of work on a device. Made by `newStream`. Python: mx.Stream. */
export class Stream extends Handle {
  /** @internal The value of `epoch` until which the stream exists. */
  readonly until: number;

  /** @internal */
  constructor(key: typeof internal, handle: Pointer, until: number = epoch) {
    super(key, handle, 0, kind);
    this.until = until;
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

/**
 * A stream of which each thread has its own. Made by `newThreadLocalStream`; goes wherever a Stream does.
 * Python: mx.ThreadLocalStream.
 */
export class ThreadLocalStream extends Handle {
  // This thread's stream, once it was needed.
  #here: Stream | null = null;
  readonly #until: number = epoch;

  /** @internal */
  constructor(key: typeof internal, handle: Pointer) {
    super(key, handle, 0, kindOf("stream_thread_local"));
  }

  /** @internal The handle of this thread's stream. */
  handle(operation: string): Pointer {
    const handle = handleOf(this, operation, "StreamThreadLocal");
    if (this.#until < epoch) return refuse(new MlxError(operation, cleared));
    if (this.#here === null || this.#here.disposed) {
      const out = slot();
      check(C.mlx_stream_from_thread_local(out, handle), operation);
      this.#here = keep(new Stream(internal, readSlot(out)));
    }
    return this.#here.entry.handle;
  }

  override toString(): string {
    const handle = this.handle("toString");
    return `ThreadLocal${nativeText("toString", (out) => C.mlx_stream_tostring(out, handle))}`;
  }

  override dispose(): void {
    super.dispose();
    this.#here?.dispose();
  }

  override [Symbol.dispose](): void {
    this.dispose();
  }
}

const cleared = "this stream was destroyed by clearStreams";

export type StreamOrDevice = Stream | ThreadLocalStream | Device | DeviceType;

export interface StreamOptions {
  /** Where to compute. Default: the stream in force, see `withStream` and `setDefaultDevice`. */
  stream?: StreamOrDevice | undefined;
}

// The handle of the stream in force, asked for once: two native calls an operation would double its cost.
let current: Pointer = 0;
// Default streams by device text; few, and kept for the life of the thread.
const byDevice = new Map<string, Pointer>();
// How many withStream are running.
let scopes = 0;

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
  byDevice.set(name, kept(stream));
  return stream;
}

/** The native stream of a `stream` option. */
export function streamHandle(stream: StreamOrDevice, operation: string): Pointer {
  if (stream instanceof Stream) {
    const handle = stream.entry.handle;
    if (stream.until < epoch) return refuse(new MlxError(operation, cleared));
    return handle === 0 ? refuse(new DisposedError(operation, "Stream")) : handle;
  }
  if (stream instanceof ThreadLocalStream) return stream.handle(operation);
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

/**
 * The stream on which the elements of an array are put in order for a reader on the host. Python reads a float64 array
 * also where the default device is a GPU, which has no float64.
 */
export function readingStreamHandle(dtype: Dtype): Pointer {
  return dtype === "float64" ? streamHandle("cpu", "contiguous") : defaultStreamHandle();
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
  if (stream.until < epoch) throw new MlxError("setDefaultStream", cleared);
  check(C.mlx_set_default_stream(handle), "setDefaultStream");
  using device = stream.device;
  const known = byDevice.get(String(device));
  // In place: the handle of the former default may be in force further up.
  if (known !== undefined) check(C.mlx_stream_set(pointerAddress([known]), handle), "setDefaultStream");
  current = 0;
}

/** Makes a stream of some kind on a device. */
function make(device: Device | DeviceType, operation: string, native: (device: Pointer) => Pointer): Pointer {
  return withDevice(device, operation, (handle) => {
    requireDevice(handle, operation);
    // Null when the system has no thread left for it.
    const made = native(handle);
    if (!made) throw new MlxError(operation, takeNativeMessage());
    return made;
  });
}

/** A new stream on a device, for this thread. Python: mx.new_stream. */
export function newStream(device: Device | DeviceType): Stream {
  return new Stream(
    internal,
    make(device, "newStream", (handle) => C.mlx_stream_new_device(handle)),
  );
}

/**
 * A new stream on a device that is not bound to this thread: it outlives `clearStreams`, and a lazy array made on it
 * can be evaluated by native code of any thread. MLX does not guard it: two threads must not use it at once. It lasts as
 * long as the process, so make few.
 * Python: mx.new_thread_unsafe_stream.
 */
export function newThreadUnsafeStream(device: Device | DeviceType): Stream {
  const handle = make(device, "newThreadUnsafeStream", (on) => C.mlx_stream_new_thread_unsafe(on));
  return new Stream(internal, handle, Infinity);
}

/** A new stream on a device of which each thread gets its own. Python: mx.new_thread_local_stream. */
export function newThreadLocalStream(device: Device | DeviceType): ThreadLocalStream {
  return new ThreadLocalStream(
    internal,
    make(device, "newThreadLocalStream", (handle) => C.mlx_stream_thread_local_new(handle)),
  );
}

const deviceTypes: readonly DeviceType[] = ["cpu", "gpu"];
const beforeClear: (() => void)[] = [];

/** Runs `fn` before the streams of this thread go: what is still lazy then can never be computed. It may refuse. */
export function onClearStreams(fn: () => void): void {
  beforeClear.push(fn);
}

/**
 * Destroys all streams of this thread, after their work is done. The default streams are new ones afterwards; every
 * other Stream made before throws when it is used, except those of `newThreadUnsafeStream`. Arrays that were not
 * evaluated can no longer be: call `eval` on what is needed first. Of a CPU stream that has computed, MLX 0.32.2 leaves
 * the thread behind, idle: do not call this in a loop. Throws an Error inside `withStream`, and an MlxError once a function
 * was imported, since MLX would go on using its streams.
 * Python: mx.clear_streams.
 */
export function clearStreams(): void {
  if (scopes > 0) throw new Error("clearStreams: cannot be called inside withStream, whose stream would be gone.");
  for (const fn of beforeClear) fn();
  check(C.mlx_clear_streams(), "clearStreams");
  epoch++;
  for (const handle of byDevice.values()) C.mlx_stream_free(handle);
  byDevice.clear();
  current = 0;
  // MLX goes on giving out the default streams that are gone.
  for (const type of deviceTypes.filter(isAvailable)) {
    using fresh = newStream(type);
    check(C.mlx_set_default_stream(fresh.entry.handle), "clearStreams");
  }
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
  scopes++;
  try {
    const result = fn();
    refusePromise(result, "withStream", "the stream is in force only until it returns");
    return result;
  } finally {
    scopes--;
    current = before;
    C.mlx_stream_free(handle);
  }
}

/** Waits for all work of a stream. Default: the stream in force. Python: mx.synchronize. */
export function synchronize(stream?: StreamOrDevice): void {
  if (stream instanceof ThreadLocalStream) {
    // Asks for the handle first: a stream that was cleared is refused.
    stream.handle("synchronize");
    wait(() => C.mlx_synchronize_thread_local(stream.entry.handle));
    return;
  }
  const handle = stream === undefined ? defaultStreamHandle() : streamHandle(stream, "synchronize");
  wait(() => C.mlx_synchronize(handle));
}

function wait(call: () => number): void {
  checkWork(traced("wait", "synchronize", {}, call), [], "synchronize");
}
