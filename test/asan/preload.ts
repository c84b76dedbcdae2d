// Loaded before a test file that runs under AddressSanitizer. It makes the sanitizer fit into Bun, and looks for
// leaks when the file is through.
import { dlopen, FFIType, ptr } from "bun:ffi";
import { afterAll } from "bun:test";
import * as mx from "../../src/index.ts";

const SS_DISABLE = 2;

// Bun's alternate signal stack is not aligned as the sanitizer demands when a C++ exception passes: do without one.
const libc = dlopen("libc.so.6", { sigaltstack: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.i32 } });
const stack = new ArrayBuffer(24);
new DataView(stack).setInt32(8, SS_DISABLE, true);
if (libc.symbols.sigaltstack(ptr(stack), null) !== 0) throw new Error("sigaltstack failed");

const runtime = process.env.MLX_TS_ASAN_RUNTIME;
if (runtime === undefined) throw new Error("MLX_TS_ASAN_RUNTIME is not set: run this through `bun run test:asan`");
const asan = dlopen(runtime, { __lsan_do_recoverable_leak_check: { args: [], returns: FFIType.i32 } });

afterAll(() => {
  Bun.gc(true);
  mx.collectForgotten();
  const { liveHandles } = mx.memory();
  // The sanitizer cannot see references in the JavaScript heap: what a file still owns would look leaked.
  if (liveHandles > 0) {
    console.log(`leak check left out: the file still owns ${liveHandles} handles`);
    return;
  }
  if (asan.symbols.__lsan_do_recoverable_leak_check() !== 0) throw new Error("the sanitizer found leaks");
  console.log("leak check: nothing leaked");
});
