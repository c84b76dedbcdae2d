// Loaded before a test file that runs under AddressSanitizer: looks for leaks when the file is through.
import { dlopen, FFIType } from "bun:ffi";
import { afterAll } from "bun:test";
import { keptRegion } from "../../src/core/kept.ts";
import * as mx from "../../src/index.ts";
import { collected } from "../collected.ts";

const runtime = process.env.MLX_TS_ASAN_RUNTIME;
if (runtime === undefined) throw new Error("MLX_TS_ASAN_RUNTIME is not set: run this through `bun run test:asan`");
const asan = dlopen(runtime, {
  __lsan_do_recoverable_leak_check: { args: [], returns: FFIType.i32 },
  __lsan_register_root_region: { args: [FFIType.ptr, FFIType.u64_fast], returns: FFIType.void },
});
// What is made once and kept is referenced from there.
const { address, bytes } = keptRegion();
asan.symbols.__lsan_register_root_region(address as never, bytes);

afterAll(async () => {
  // The global random state keeps a key; a later use would make a new one.
  mx.dispose(mx.random.state);
  const owned = await collected();
  // The sanitizer cannot see references in the JavaScript heap: what a file still owns would look leaked.
  if (owned > 0) {
    console.log(`leak check left out: the file still owns ${owned} handles`);
    return;
  }
  if (asan.symbols.__lsan_do_recoverable_leak_check() !== 0) throw new Error("the sanitizer found leaks");
  console.log("leak check: nothing leaked");
});
