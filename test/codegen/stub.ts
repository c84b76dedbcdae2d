// A C library with every function of the headers under its own prototype, that does nothing but write down what it was
// given. The compiler checks the prototypes against the headers; the test checks what arrived.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { guardText } from "../../codegen/guards.ts";
import type { CFunction, Param } from "../../codegen/ir.ts";
import { run } from "../../native/tools.ts";

/** Bytes that the log keeps for one argument. */
export const slotBytes = 16;

/** How many arguments the log has room for. */
export const logSlots = 64;

/** What the stub returns from the function with a number: each kind of result has its own pattern. */
export const results = {
  status: (id: number): number => 1_000_000 + id,
  handle: (id: number): number => 0x7000_0000_0000 + id * 16,
  scalar64: (id: number): number => 2 ** 41 + id,
  enum: (id: number): number => id % 14,
  bool: (id: number): boolean => id % 2 === 1,
} as const;

function record({ name, role }: Param): string {
  // The padding of an optional is anybody's: its two fields are what counts.
  if (role.kind === "optional") return `put(&${name}.value, 4); log_[count - 1][4] = ${name}.has_value ? 1 : 0;`;
  return `put(&${name}, sizeof ${name});`;
}

function result(fn: CFunction, id: number): string {
  const type = fn.returnType.text;
  switch (fn.returns.kind) {
    case "void":
      return "";
    case "status":
      return `return ${results.status(id)};`;
    case "handle":
      return `return (${type}){(void*)${results.handle(id)}ll};`;
    case "iterator":
      return `return (${type}){(void*)${results.handle(id)}ll, (void*)1};`;
    case "string":
    case "pointer":
      return `return (${type})${results.handle(id)}ll;`;
    case "enum":
      return `return (${type})${results.enum(id)};`;
    case "scalar":
      if (fn.returns.scalar === "bool") return `return ${results.bool(id)};`;
      return /32$/.test(fn.returns.scalar) ? `return ${results.status(id)};` : `return ${results.scalar64(id)}ll;`;
  }
}

/** The C source of the stub; a function's place in the list is its number. */
export function stubSource(functions: readonly CFunction[]): string {
  const bodies = functions.map((fn, id) => {
    const puts = fn.params.map((param) => `  ${record(param)}\n`).join("");
    const text = `${fn.prototype} {\n  begin(${id});\n${puts}  ${result(fn, id)}\n}\n`;
    return fn.guard === undefined ? text : `#if ${guardText(fn.guard)}\n${text}#endif\n`;
  });
  return `#include <string.h>
#include "mlx/c/mlx.h"
#include "mlxts.h"
#undef mlx_error
static unsigned char log_[${logSlots}][${slotBytes}];
static int count, called;
static void begin(int id) {
  memset(log_, 0, sizeof log_);
  count = 0;
  called = id;
}
static void put(const void* value, size_t size) {
  memcpy(log_[count++], value, size);
}
void* stub_log(void) { return log_; }
int stub_count(void) { return count; }
int stub_called(void) { return called; }
${bodies.join("\n")}`;
}

/** A compiled stub; remove() deletes it. */
export interface Stub {
  path: string;
  remove(): void;
}

/** Compiles the stub with CC, or else the machine's C compiler, against the headers in some folders. */
export async function compileStub(functions: readonly CFunction[], folders: readonly string[]): Promise<Stub> {
  const names = process.env["CC"] === undefined ? ["cc", "gcc", "clang"] : [process.env["CC"]];
  const compiler = names.find((name) => Bun.which(name) !== null);
  if (compiler === undefined)
    throw new Error(`a C compiler is needed to test how arguments arrive: ${names.join(", ")}`);
  const folder = mkdtempSync(join(tmpdir(), "mlx-ts-abi-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const source = join(folder, "stub.c");
    const path = join(folder, "stub.so");
    writeFileSync(source, stubSource(functions));
    const flags = ["-std=c11", "-O1", "-Wall", "-Werror", "-Wno-unused-variable", "-shared", "-fPIC"];
    const include = folders.flatMap((folder) => ["-I", folder]);
    await run("Compiling the stub library", [compiler, ...flags, ...include, "-o", path, source]);
    return { path, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
