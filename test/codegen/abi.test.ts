// How arguments arrive: every function of the generated table is called through the backend on a library that only
// records them, with values that show a wrong width, sign, register or order. conv*, sdpa, quantized and the other long
// signatures are called often enough for the JIT to compile the calls.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { boundFunctions, missingOn } from "../../codegen/emit-symbols.ts";
import { platforms } from "../../codegen/guards.ts";
import { mlxcSources } from "../../codegen/headers.ts";
import type { Api, CFunction, Param } from "../../codegen/ir.ts";
import { shimSymbols } from "../../generated/shim-symbols.ts";
import { symbols } from "../../generated/symbols.ts";
import { bun } from "../../src/backend/bun.ts";
import type { NativeFunction, SymbolTable } from "../../src/backend/types.ts";
import { realApi, root, shimApi } from "./api.ts";
import { compileStub, logSlots, results, slotBytes, type Stub } from "./stub.ts";

/** Words to pass, and the bytes that must arrive. */
interface Sample {
  words: (number | bigint | boolean)[];
  bytes: Uint8Array;
}

let stub: Stub;
let functions: CFunction[];
let native: Record<string, NativeFunction>;
let api: Api;
let log: number;

beforeAll(async () => {
  api = await realApi();
  const here = platforms.find((platform) => platform.name === `${process.platform}-${process.arch}`);
  if (here === undefined) throw new Error(`${process.platform}-${process.arch} is no platform of coverage.json`);
  const bound = boundFunctions(api).filter((fn) => !missingOn(api, fn).includes(here.name));
  functions = [...bound, ...(await shimApi()).functions];
  stub = await compileStub(functions, [await mlxcSources(), join(root, "native", "shim")]);
  const all: SymbolTable = { ...symbols, ...shimSymbols };
  const table: SymbolTable = {
    ...Object.fromEntries(functions.map((fn) => [fn.name, all[fn.name] as SymbolTable[string]])),
    stub_log: { args: [], returns: "ptr" },
    stub_count: { args: [], returns: "i32" },
    stub_called: { args: [], returns: "i32" },
  };
  native = bun.open(stub.path, table);
  log = native["stub_log"]?.() as number;
}, 120_000);

afterAll(() => stub?.remove());

// A small generator of its own, so that a failure can be seen again.
let state = 0x2545_f491;
function random(): number {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) / 2 ** 32;
}

const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
const pointer = (): number => pick([0, 8, 2 ** 31, 2 ** 32 + 16, Math.floor(random() * 2 ** 47)]);
const int = (): number => pick([0, 1, -1, -(2 ** 31), 2 ** 31 - 1, Math.floor(random() * 2 ** 32) - 2 ** 31]);
const size = (): number => pick([0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1, Math.floor(random() * 2 ** 53)]);
const float = (): number => Math.fround(pick([0, -0, 1.5, -2.25, 1e-40, 3e38, -Infinity, (random() - 0.5) * 1e6]));
const double = (): number => pick([0, -0, 0.1, -1e300, 5e-324, 2 ** 53 + 2, Infinity, (random() - 0.5) * 1e12]);

function bytesOf(write: (view: DataView) => void): Uint8Array {
  const buffer = new ArrayBuffer(slotBytes);
  write(new DataView(buffer));
  return new Uint8Array(buffer);
}

const word64 = (value: number | bigint): Sample => ({
  words: [value],
  bytes: bytesOf((view) => view.setBigUint64(0, BigInt(value), true)),
});

function optional(value: "int" | "float" | "dtype"): Sample {
  if (random() < 0.25) return { words: [0], bytes: new Uint8Array(slotBytes) };
  const bits = new DataView(new ArrayBuffer(4));
  if (value === "float") bits.setFloat32(0, float(), true);
  else bits.setInt32(0, value === "int" ? int() : Math.floor(random() * 14), true);
  const low = bits.getUint32(0, true);
  return {
    words: [2 ** 32 + low],
    bytes: bytesOf((view) => {
      view.setUint32(0, low, true);
      view.setUint8(4, 1);
    }),
  };
}

function sample({ role, ctype }: Param): Sample {
  switch (role.kind) {
    case "enum": {
      const { value } = pick(api.enums.find((item) => item.cname === role.of)?.members ?? []);
      return { words: [value], bytes: bytesOf((view) => view.setInt32(0, value, true)) };
    }
    case "optional":
      return optional(role.value);
    case "iterator": {
      const [a, b] = [pointer(), pointer()];
      return {
        words: [a, b],
        bytes: bytesOf((view) => {
          view.setBigUint64(0, BigInt(a), true);
          view.setBigUint64(8, BigInt(b), true);
        }),
      };
    }
    case "length":
    case "scalar":
      return number(ctype.base);
    default:
      return word64(pointer());
  }
}

function number(base: string): Sample {
  switch (base) {
    case "int": {
      const value = int();
      return { words: [value], bytes: bytesOf((view) => view.setInt32(0, value, true)) };
    }
    case "uint32_t": {
      const value = int() >>> 0;
      return { words: [value], bytes: bytesOf((view) => view.setUint32(0, value, true)) };
    }
    case "bool": {
      const value = random() < 0.5;
      return { words: [value], bytes: bytesOf((view) => view.setUint8(0, value ? 1 : 0)) };
    }
    case "float": {
      const value = float();
      return { words: [value], bytes: bytesOf((view) => view.setFloat32(0, value, true)) };
    }
    case "double": {
      const value = double();
      return { words: [value], bytes: bytesOf((view) => view.setFloat64(0, value, true)) };
    }
    case "int64_t":
      return word64(pick([int(), -size(), BigInt.asIntN(64, BigInt(size()) * 0x1_0001_0001n)]));
    case "uint64_t":
      return word64(random() < 0.5 ? size() : BigInt.asUintN(64, BigInt(size()) * 0x1_0001_0001n));
    case "size_t":
    case "uintptr_t":
      return word64(size());
    default:
      throw new Error(`the test has no values for ${base}`);
  }
}

function expectedResult(fn: CFunction, id: number): unknown {
  switch (fn.returns.kind) {
    case "void":
      return undefined;
    case "status":
      return results.status(id);
    case "enum":
      return results.enum(id);
    case "scalar":
      if (fn.returns.scalar === "bool") return results.bool(id);
      return /32$/.test(fn.returns.scalar) ? results.status(id) : results.scalar64(id);
    default:
      return results.handle(id);
  }
}

const wordCount = (fn: CFunction): number => fn.params.reduce((sum, param) => sum + param.ffi.length, 0);

type Words = readonly (number | bigint | boolean)[];

/**
 * A call site of the function's own, with its arguments written out: a spread call, or a site shared by all functions,
 * is never specialised.
 */
function callSite(fn: CFunction): (f: NativeFunction | undefined, words: Words) => unknown {
  const words = Array.from({ length: wordCount(fn) }, (_, index) => `w[${index}]`);
  return new Function("f", "w", `return f(${words.join(", ")});`) as ReturnType<typeof callSite>;
}

/** Calls a function once with fresh values; says what was wrong, or null. */
function callOnce(fn: CFunction, id: number, call: ReturnType<typeof callSite>): string | null {
  const samples = fn.params.map(sample);
  const words = samples.flatMap((one) => one.words);
  const returned = call(native[fn.name], words);
  const show = (): string => `${fn.name}(${words.map(String).join(", ")})`;
  if (!Object.is(returned, expectedResult(fn, id))) return `${show()} returned ${String(returned)}`;
  if (native["stub_called"]?.() !== id) return `${show()} called another function`;
  if (native["stub_count"]?.() !== samples.length) return `${show()} recorded another number of arguments`;
  // A fresh view for each call: nothing that was read before the call can be reused after it.
  const arrived = new Uint8Array(bun.view(log, slotBytes * logSlots).slice(0));
  for (const [index, { bytes }] of samples.entries()) {
    const got = arrived.subarray(index * slotBytes, (index + 1) * slotBytes);
    if (Buffer.compare(got, bytes) !== 0) {
      return `${show()}: ${fn.params[index]?.name} arrived as ${got.toHex()}, not ${bytes.toHex()}`;
    }
  }
  return null;
}

function failures(chosen: readonly CFunction[], rounds: number): string[] {
  const wrong: string[] = [];
  for (const fn of chosen) {
    const id = functions.indexOf(fn);
    const call = callSite(fn);
    for (let round = 0; round < rounds && wrong.length < 20; round++) {
      const problem = callOnce(fn, id, call);
      if (problem !== null) wrong.push(problem);
    }
  }
  return wrong;
}

test("every function: each argument and the result, with random and extreme values", () => {
  const shim = Object.keys(shimSymbols).length;
  expect(shim).toBeGreaterThan(40);
  expect(functions.length).toBe((process.arch === "x64" ? 667 : 671) + shim);
  expect(failures(functions, 50)).toEqual([]);
}, 120_000);

test("signatures of nine and more arguments, called until compiled", () => {
  const long = functions.filter((fn) => wordCount(fn) >= 9);
  const names = long.map((fn) => fn.name);
  for (const name of ["conv2d", "conv3d", "conv_general", "conv_transpose2d", "conv_transpose3d", "gather_qmm"]) {
    expect(names).toContain(`mlx_${name}`);
  }
  expect(names).toContain("mlx_fast_scaled_dot_product_attention");
  expect(Math.max(...long.map(wordCount))).toBeGreaterThanOrEqual(17);
  expect(failures(long, 10_000)).toEqual([]);
}, 120_000);

test("optionals and iterators by value, called until compiled", () => {
  const special = functions.filter((fn) =>
    fn.params.some((param) => param.role.kind === "optional" || param.role.kind === "iterator"),
  );
  expect(special.length).toBeGreaterThanOrEqual(12);
  expect(failures(special, 10_000)).toEqual([]);
}, 120_000);
