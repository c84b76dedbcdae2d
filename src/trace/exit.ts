/**
 * The end of the program: recordings that have a file are written before it. The listeners are there only as long as
 * there is such a recording.
 */

import { isMain } from "./clock.ts";

const endings = new Set<() => void>();
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The newest first: an inner recording ends before the outer one. */
function endAll(): void {
  for (const end of [...endings].reverse()) end();
}

/** Writes, and lets the signal do what it would have done without us. */
function onSignal(signal: NodeJS.Signals): void {
  // Somebody else decides what the signal does.
  if (process.listenerCount(signal) > 1) return;
  endAll();
  process.off(signal, onSignal);
  process.kill(process.pid, signal);
}

/** Calls `end` when the program ends, by itself, by process.exit, by an uncaught error or by a signal. */
export function atExit(end: () => void): void {
  endings.add(end);
  if (endings.size > 1) return;
  // Bun emits "exit" after an uncaught error too.
  process.on("exit", endAll);
  if (isMain) for (const signal of signals) process.on(signal, onSignal);
}

export function notAtExit(end: () => void): void {
  if (!endings.delete(end) || endings.size > 0) return;
  process.off("exit", endAll);
  for (const signal of signals) process.off(signal, onSignal);
}
