/**
 * The ledger: every native handle that JavaScript owns, with a weak reference to its owner.
 *
 * FinalizationRegistry alone does not bound memory: its callbacks are event-loop tasks, and in a synchronous loop
 * none ever runs. So allocation itself asks for a collection when the live bytes pass a limit, looks which owners
 * are gone, and frees their handles, in the same job. Disciplined code never reaches the limit and pays one entry
 * an array.
 */

import os from "node:os";
import { isMainThread } from "node:worker_threads";
import type { Pointer } from "../backend/types.ts";
import { backend, C } from "./native.ts";

/** What a kind of handle needs to be freed. */
export interface Kind {
  readonly name: string;
  free(handle: Pointer): unknown;
  /** True for handles that may be running JavaScript right now: freeing them waits until no callback is on the stack. */
  readonly reentrant?: boolean;
}

/** One owned handle. `handle` is 0 once freed. Scopes hold entries, never owners. */
export class Entry {
  handle: Pointer;
  readonly bytes: number;
  readonly kind: Kind;
  /** The owner itself while the entry is in the nursery, then null. */
  young: object | null;
  /** The owner, weakly, once the entry has left the nursery: the ledger never keeps it alive for long. */
  owner: WeakRef<object> | null = null;
  /** The scope that will free this entry; null when it left every scope. */
  scope: object | null = null;
  /** Why the value cannot be read: the words of a failed evaluation. */
  poison: string | null = null;

  constructor(owner: object, handle: Pointer, bytes: number, kind: Kind) {
    this.handle = handle;
    this.bytes = bytes;
    this.kind = kind;
    this.young = owner;
  }
}

/** Adds newborn entries to the scope in force; set by scope.ts. */
export interface Scope {
  add(entry: Entry): void;
}

const LARGEST_COUNTED = 2 ** 30;
const HANDLE_LIMIT = 1_000_000;

// Most arrays are disposed within a few operations. The newest entries wait in a ring with a plain reference to their
// owner, and only those that outlive it get a WeakRef and a place in the list: that saves a tenth of an operation.
const NURSERY = 256;
const nursery: (Entry | null)[] = new Array<Entry | null>(NURSERY).fill(null);
let newest = 0;
const entries: Entry[] = [];
let liveBytes = 0;
let liveHandles = 0;
let collections = 0;
let rescued = 0;
let budget = 0;
let byteLimit = 0;
let handleLimit = HANDLE_LIMIT;
let scope: Scope | null = null;
let nativeDepth = 0;
const deferred: Freed[] = [];
let heldFrees: Freed[] | null = null;

/** A handle whose owner is done with it. */
export interface Freed {
  readonly kind: Kind;
  readonly handle: Pointer;
}

/**
 * Collects what is freed from now on in `list`, and returns where it went before: the handles that a native call is
 * being prepared with must live until that call, whatever runs in between. With null, handles are freed at once.
 */
export function holdFrees(list: Freed[] | null): Freed[] | null {
  const before = heldFrees;
  heldFrees = list;
  return before;
}

export function currentScope(): Scope | null {
  return scope;
}

export function setScope(next: Scope | null): void {
  scope = next;
}

/** Takes ownership of a native handle for `owner`. The one way a handle enters JavaScript. */
export function adopt(owner: object, handle: Pointer, bytes: number, kind: Kind): Entry {
  // A broadcast view claims bytes that it does not have: count no more than a gibibyte.
  const counted = bytes > LARGEST_COUNTED ? LARGEST_COUNTED : bytes;
  if (liveBytes + counted > byteLimit || liveHandles >= handleLimit) makeRoom(counted);
  const entry = new Entry(owner, handle, counted, kind);
  liveBytes += counted;
  liveHandles++;
  const evicted = nursery[newest]!;
  if (evicted !== null && evicted.handle !== 0) tenure(evicted);
  nursery[newest] = entry;
  newest = (newest + 1) & (NURSERY - 1);
  if (scope !== null) scope.add(entry);
  return entry;
}

/** Frees an entry's handle. Idempotent; never throws. */
export function release(entry: Entry): void {
  const handle = entry.handle;
  if (handle === 0) return;
  entry.handle = 0;
  entry.young = null;
  liveBytes -= entry.bytes;
  liveHandles--;
  const { kind } = entry;
  if (nativeDepth > 0 && kind.reentrant === true) deferred.push({ kind, handle });
  else if (heldFrees !== null) heldFrees.push({ kind, handle });
  else kind.free(handle);
}

/** Runs a native call that can call JavaScript. Frees that must not happen meanwhile wait until it returned. */
export function enterNative<T>(call: () => T): T {
  nativeDepth++;
  try {
    return call();
  } finally {
    nativeDepth--;
    if (nativeDepth === 0 && deferred.length > 0) for (const { kind, handle } of deferred.splice(0)) kind.free(handle);
  }
}

/** Whether JavaScript runs inside of a native call: a graph is being traced, perhaps. */
export function insideNative(): boolean {
  return nativeDepth > 0;
}

function tenure(entry: Entry): void {
  entry.owner = new WeakRef(entry.young!);
  entry.young = null;
  if (entries.length > 1024 && entries.length > liveHandles * 2) compact();
  entries.push(entry);
}

/** Empties the nursery, so that no owner is held any longer. */
function tenureAll(): void {
  for (const entry of nursery) if (entry !== null && entry.handle !== 0) tenure(entry);
  nursery.fill(null);
}

function compact(): void {
  let kept = 0;
  for (const entry of entries) if (entry.handle !== 0) entries[kept++] = entry;
  entries.length = kept;
}

/** Collects what lost its owner. The nursery is emptied first: nothing in it can be collected. */
function collect(everything: boolean): void {
  tenureAll();
  if (everything) backend.collectAll();
  else backend.collectYoung();
  sweep();
}

/** Frees what lost its owner. Only between jobs or right after a collection can a weak reference be empty. */
function sweep(): number {
  let bytes = 0;
  for (const entry of entries) {
    if (entry.handle === 0 || entry.owner!.deref() !== undefined) continue;
    bytes += entry.bytes;
    rescued++;
    release(entry);
  }
  compact();
  return bytes;
}

function makeRoom(bytes: number): void {
  if (budget === 0) {
    setMemoryBudget(defaultBudget());
    armCanary();
    if (liveBytes + bytes <= byteLimit && liveHandles < handleLimit) return;
  }
  // A collection inside a callback could free what the native caller still reads: the implicit tidy works there.
  if (nativeDepth > 0) return;
  const before = { bytes: liveBytes, handles: liveHandles };
  collections++;
  collect(false);
  if (liveBytes > before.bytes / 2 || liveHandles > before.handles) {
    collections++;
    collect(true);
  }
  byteLimit = Math.max(budget, liveBytes * 2, liveBytes + bytes);
  handleLimit = Math.max(HANDLE_LIMIT, liveHandles * 2);
}

function defaultBudget(): number {
  const asked = process.env["MLX_TS_MEMORY_BUDGET"];
  if (asked !== undefined && asked !== "") return parseBudget(asked);
  const address = new DataView(new ArrayBuffer(8));
  const limit =
    C.mlx_get_memory_limit(backend.address(address.buffer as ArrayBuffer)) === 0
      ? Number(address.getBigUint64(0, true))
      : Infinity;
  return Math.min(os.totalmem() / 4, limit / 2);
}

function parseBudget(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([kmg]?)(?:i?b)?$/i.exec(text.trim());
  const scale = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 }[match?.[2]?.toLowerCase() ?? ""];
  if (match === null || scale === undefined || Number(match[1]) * scale < 1) {
    throw new RangeError(`MLX_TS_MEMORY_BUDGET is "${text}": give a positive number of bytes, or one with K, M or G.`);
  }
  return Number(match[1]) * scale;
}

/**
 * Sets how many bytes of forgotten arrays may pile up before a collection is asked for. Arrays in use do not count
 * against the program: the limit grows to twice what is really alive. Default: a quarter of the machine's memory or
 * half of MLX's memory limit, whichever is less, or the environment variable MLX_TS_MEMORY_BUDGET.
 */
export function setMemoryBudget(bytes: number): void {
  if (typeof bytes !== "number" || !(bytes >= 1)) {
    throw new RangeError(`setMemoryBudget: bytes must be a positive number, got ${String(bytes)}.`);
  }
  budget = bytes;
  byteLimit = Math.max(budget, liveBytes * 2);
  if (canary === null) armCanary();
}

// Idle time: when any collection kills the canary, its callback runs as a task of its own and sweeps.
let canary: FinalizationRegistry<undefined> | null = null;

function armCanary(): void {
  canary ??= new FinalizationRegistry(() => {
    if (nativeDepth === 0) {
      tenureAll();
      sweep();
    }
    armCanary();
  });
  canary.register({}, undefined);
}

/** A Worker ends before the process does, and its owners with it: what they still own is freed then. */
export function atThreadEnd(free: () => void): void {
  if (isMainThread) return;
  process.once("exit", () => {
    // A callback that ends the thread has a native caller, which may still read.
    if (nativeDepth === 0) free();
  });
}

atThreadEnd(() => {
  for (const entry of [...nursery, ...entries]) if (entry !== null) release(entry);
});

export interface MemoryReport {
  /** Bytes of the arrays that JavaScript owns now (an upper bound: views count in full, up to 1 GiB each). */
  liveBytes: number;
  /** Native handles that JavaScript owns now. */
  liveHandles: number;
  /** Collections that allocation asked for. Zero in disciplined code. */
  collections: number;
  /** Handles whose owner was forgotten and that the ledger freed. Zero in disciplined code. */
  rescued: number;
  /** The budget in bytes; 0 until the first array is made. */
  budget: number;
}

/** What the ledger holds and did. `rescued === 0` after a loop shows that the loop leaks nothing. */
export function memory(): MemoryReport {
  return { liveBytes, liveHandles, collections, rescued, budget };
}

/** Calls `visit` on every live entry of a kind, oldest first. */
export function forEachLive(kind: string, visit: (entry: Entry) => void): void {
  tenureAll();
  for (const entry of entries) if (entry.handle !== 0 && entry.kind.name === kind) visit(entry);
}

/** Asks for a full collection and frees what lost its owner, now. Returns the number of handles freed. */
export function collectForgotten(): number {
  const before = rescued;
  if (nativeDepth > 0) return 0;
  collect(true);
  return rescued - before;
}
