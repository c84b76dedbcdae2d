/**
 * The end of the program: recordings that have a file are written before it. The listeners are there only as long as
 * there is such a recording.
 */

import { isMain } from "./clock.ts";

/**
 * One for all copies of this module in a thread: `bun --hot` loads it anew, and what the copy before has recorded must
 * not be lost, nor may each take the other's listener for the program's own.
 */
interface Shared {
  /** Of recordings, so far. */
  count: number;
  readonly endings: Set<() => void>;
  readonly endAll: () => void;
  readonly onSignal: (signal: NodeJS.Signals) => void;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

function shared(): Shared {
  const endings = new Set<() => void>();
  /** The newest first: an inner recording ends before the outer one. */
  const endAll = (): void => {
    for (const end of [...endings].reverse()) end();
  };
  /** Writes, and lets the signal do what it would have done without us. */
  const onSignal = (signal: NodeJS.Signals): void => {
    // Somebody else decides what the signal does.
    if (process.listenerCount(signal) > 1) return;
    endAll();
    process.off(signal, onSignal);
    // Not at once: before it loads a program anew, `bun --watch` calls the listeners of SIGTERM without any signal.
    setImmediate(() => process.kill(process.pid, signal));
  };
  return { count: 0, endings, endAll, onSignal };
}

const key = Symbol.for("mlx-ts.trace");
const holder = globalThis as { [key]?: Shared };
const all = (holder[key] ??= shared());

/** A number for a recording, unlike any other's of the thread. */
export function nextNumber(): number {
  return ++all.count;
}

/** Calls `end` when the program ends, by itself, by process.exit, by an uncaught error or by a signal. */
export function atExit(end: () => void): void {
  all.endings.add(end);
  if (all.endings.size > 1) return;
  // Bun emits "exit" after an uncaught error too.
  process.on("exit", all.endAll);
  // In front: a listener that the program has for one time is not counted any more once it was called.
  if (isMain) for (const signal of signals) process.prependListener(signal, all.onSignal);
}

export function notAtExit(end: () => void): void {
  if (!all.endings.delete(end) || all.endings.size > 0) return;
  process.off("exit", all.endAll);
  for (const signal of signals) process.off(signal, all.onSignal);
}
