// einsumPath: Python's path and report, errors, and nothing left behind.
import { expect } from "bun:test";
import { functions } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { refusal, scoped, untyped } from "../helpers.ts";

scoped("gives Python's path and report", () => {
  const [path, report] = mx.einsumPath("ij,jk,kl->il", mx.ones([2, 3]), mx.ones([3, 4]), mx.ones([4, 5]));
  expect(path).toEqual([
    [1, 2],
    [0, 1],
  ]);
  // As Python MLX 0.32.2 prints it.
  expect(report).toBe(
    "  Complete contraction:  ij,jk,kl->il\n         Naive scaling:  4\n     Optimized scaling:  3\n" +
      "      Naive FLOP count:  360\n  Optimized FLOP count:  180\n",
  );
});

scoped("says what does not fit, with the shapes", () => {
  const wrong = (): unknown => mx.einsumPath("ij,jk", mx.ones([2, 3]), mx.ones([2, 4]));
  expect(refusal(wrong)).toStartWith("MlxError: einsumPath: [einsum_path] ");
  expect(refusal(wrong)).toEndWith("(operands: float32[2, 3], float32[2, 4])");
  expect(refusal(() => mx.einsumPath(untyped(3), mx.ones([2])))).toBe(
    "TypeError: einsumPath: subscripts must be a string, got 3.",
  );
});

scoped("leaves no handle, whether it succeeds or not", () => {
  const [a, b] = [mx.ones([2, 3]), mx.ones([3, 4])];
  mx.einsumPath("ij,jk", a, b);
  const before = functions.mlxts_live_handles();
  for (let i = 0; i < 1000; i++) {
    mx.einsumPath("ij,jk", a, b);
    refusal(() => mx.einsumPath("ij,ik", a, b));
  }
  expect(functions.mlxts_live_handles()).toBe(before);
});
