// What the tests of transforms share: every test leaves the native handles and the functions as it found them.
import { afterEach, beforeEach, expect, setDefaultTimeout } from "bun:test";
import { liveFunctions } from "../../src/core/callbacks.ts";
import { functions } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";

/** Watches the tests of a file. Call it once, at the top. */
export function watchHandles(): void {
  // On the CPU, MLX has the system's C++ compiler build each new fused kernel: a second or two.
  setDefaultTimeout(120_000);
  // The default stream, the closure that gradients share and the random key are made once and kept.
  mx.tidy(() => void mx.grad((a: mx.Array) => mx.add(a, 1))(mx.random.uniform({ shape: [] })));
  let start = 0;
  beforeEach(() => {
    start = functions.mlxts_live_handles();
  });
  afterEach(() => {
    expect(functions.mlxts_live_handles()).toBe(start);
    expect(liveFunctions()).toBe(0);
  });
}
