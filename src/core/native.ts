/**
 * The native functions. Nothing is opened at import: every function starts as a stub that loads the library and
 * then calls itself again, so a program that never computes never needs the library.
 */

import { dirname } from "node:path";
import { shimSymbols } from "../../generated/shim-symbols.ts";
import { optionalSymbols, symbols } from "../../generated/symbols.ts";
import { bun } from "../backend/bun.ts";
import { LibraryError } from "../backend/errors.ts";
import { type Located, locateLibrary, versionGuard } from "../backend/locate.ts";
import { nvidiaAdvice } from "../backend/nvidia.ts";
import { requireRuntime } from "../backend/runtime.ts";
import type { Backend, FFIName, NativeFunction, SymbolTable } from "../backend/types.ts";

export const backend: Backend = bun;

type JsType<T extends FFIName> = T extends "bool"
  ? boolean
  : T extends "void"
    ? void
    : T extends "u64" | "i64"
      ? number | bigint
      : number;

type JsArgs<T extends readonly FFIName[]> = { -readonly [K in keyof T]: JsType<T[K]> };

type Functions<T extends SymbolTable> = {
  -readonly [K in keyof T]: (...args: JsArgs<T[K]["args"]>) => JsType<T[K]["returns"]>;
};

/** The typed functions of mlx-c and of the shim. */
export type Native = Functions<typeof symbols> & Functions<typeof shimSymbols>;

type AnyFunctions = Record<string, (...args: never[]) => unknown>;

function stubs(): Native {
  const table: AnyFunctions = {};
  for (const name of [...Object.keys(symbols), ...Object.keys(shimSymbols)]) {
    table[name] = (...args: never[]): unknown => {
      loadLibrary();
      return (C as unknown as AnyFunctions)[name]!(...args);
    };
  }
  return table as unknown as Native;
}

/** The native functions; the first call of any of them loads the library. */
export const C: Native = stubs();

let located: Located | null = null;

/** Where the library was found, or null while it is not loaded. */
export function loadedLibrary(): Located | null {
  return located;
}

const loaders: ((found: Located) => void)[] = [];

/** Runs `fn` right after the library was opened. */
export function onLoad(fn: (found: Located) => void): void {
  if (located === null) loaders.push(fn);
  else fn(located);
}

/** Finds, checks and opens the library. Done once a thread; later calls return at once. */
export function loadLibrary(): Located {
  if (located !== null) return located;
  requireRuntime();
  const found = locateLibrary();
  // The shim first: it is linked against libmlxc, and its error handler replaces the one that ends the process.
  const shim = open(found.shim, shimSymbols);
  versionGuard(backend.text(shim["mlxts_versions"]!() as number), found);
  shim["mlxts_install_error_handler"]!();
  Object.assign(C, openMlxc(found.mlxc), shim);
  located = found;
  try {
    for (const fn of loaders) fn(found);
  } catch (error) {
    // Not a library to compute with, then: the next call tries again, and says the same.
    located = null;
    Object.assign(C, stubs());
    throw error;
  }
  return found;
}

function open(path: string, table: SymbolTable): Record<string, NativeFunction> {
  try {
    return backend.open(path, table);
  } catch (error) {
    const reason = (error as Error).message;
    const advice =
      nvidiaAdvice(reason, dirname(path)) ??
      `It is damaged, of another version, or made for another system. Reinstall the platform package, or rebuild with "bun native/build.ts --force".`;
    throw new LibraryError(`mlx-ts found ${path} but could not open it: ${reason}. ${advice}`);
  }
}

/** One missing symbol fails a whole table, so those that some platforms lack are opened one by one. */
function openMlxc(path: string): Record<string, NativeFunction> {
  const optional = new Set<string>(optionalSymbols);
  const table: SymbolTable = Object.fromEntries(Object.entries(symbols).filter(([name]) => !optional.has(name)));
  const functions = open(path, table);
  for (const name of optionalSymbols) functions[name] = optionalFunction(path, name);
  return functions;
}

function optionalFunction(path: string, name: (typeof optionalSymbols)[number]): NativeFunction {
  let bound: NativeFunction | null = null;
  return (...args: unknown[]): unknown => {
    bound ??= open(path, { [name]: symbols[name] })[name]!;
    return bound(...args);
  };
}
