/**
 * The native calls that build operations, watched while something is recorded: only the call itself knows when it began
 * and what its operands were, since temporaries are gone when the funnel's hook runs. The functions of the native table
 * are replaced for that long, and put back: a program that records nothing runs the very code that it would run without
 * this module.
 */

import { operands } from "../../generated/operands.ts";
import type { Pointer } from "../backend/types.ts";
import { C, loadedLibrary, onLoad } from "../core/native.ts";
import { formOfHandle, formsOfVector, streamText } from "./arrays.ts";
import { now } from "./clock.ts";
import type { ArrayForm } from "./record.ts";

/** A call that has returned. */
export interface NativeCall {
  /** Without "mlx_". */
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly inputs: readonly ArrayForm[];
  readonly stream: string;
}

type Native = (...args: Pointer[]) => number;

const table = C as unknown as Record<string, Native>;
const wrappers = new Map<string, { plain: Native; watched: Native }>();
let listener: ((call: NativeCall) => void) | null = null;
let waiting = false;

/** The array operands of a call, still alive. */
function inputsOf(letters: string, args: readonly Pointer[]): ArrayForm[] {
  const forms: ArrayForm[] = [];
  for (let i = 0; i < letters.length; i++) {
    const letter = letters[i];
    const handle = args[i]!;
    // 0 stands for an operand that was left out.
    if (handle === 0) continue;
    if (letter === "a") forms.push(formOfHandle(handle));
    else if (letter === "v") forms.push(...formsOfVector(handle));
  }
  return forms;
}

function watched(name: string, letters: string, plain: Native): Native {
  const short = name.replace(/^mlx_/, "");
  const stream = letters.lastIndexOf("s");
  return (...args) => {
    const start = now();
    const status = plain(...args);
    const end = now();
    if (status === 0 && listener !== null) {
      listener({ name: short, start, end, inputs: inputsOf(letters, args), stream: streamText(args[stream]!) });
    }
    return status;
  };
}

function install(): void {
  for (const [name, letters] of Object.entries(operands)) {
    const plain = table[name];
    if (plain === undefined) continue;
    let pair = wrappers.get(name);
    // The plain function is another one where somebody has replaced it since.
    if (pair === undefined || pair.plain !== plain) {
      pair = { plain, watched: watched(name, letters, plain) };
      wrappers.set(name, pair);
    }
    table[name] = pair.watched;
  }
}

/** Tells `listen` of each call from now on. */
export function watchCalls(listen: (call: NativeCall) => void): void {
  listener = listen;
  if (loadedLibrary() !== null) {
    install();
  } else if (!waiting) {
    waiting = true;
    // Opening the library fills the table anew.
    onLoad(() => {
      if (listener !== null) install();
    });
  }
}

/** Puts the native functions back. */
export function unwatchCalls(): void {
  listener = null;
  for (const [name, { plain, watched }] of wrappers) if (table[name] === watched) table[name] = plain;
}
