// The threads of the matrix library.
import { expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { refusal, said, untyped } from "../helpers.ts";

test("blasName says who multiplies", () => {
  expect(mx.blasName().length).toBeGreaterThan(3);
});

test("setBlasThreads holds, and results stay the same", () => {
  const before = mx.blasThreads();
  const product = (): unknown => mx.tidy(() => mx.sum(mx.matmul(mx.ones([64, 64]), mx.ones([64, 64]))).item());
  for (const threads of [1, 2]) {
    mx.setBlasThreads(threads);
    expect(mx.blasThreads()).toBe(threads);
    expect(product()).toBe(64 ** 3);
  }
  mx.setBlasThreads(before);
});

test("setBlasThreads refuses what is no number of threads", () => {
  for (const value of [0, -1, 1.5, NaN, 1025, "2", null, undefined, 1n]) {
    expect(refusal(() => mx.setBlasThreads(untyped(value)))).toStartWith(
      "RangeError: setBlasThreads: threads must be an integer from 1 to 1024, got ",
    );
  }
});

test("MLX_TS_BLAS_THREADS sets them at the first use", async () => {
  expect(await said("mx.array(1); say(mx.blasThreads());", { env: { MLX_TS_BLAS_THREADS: "1" } })).toEqual(["1"]);
  for (const wrong of ["0", "-1", "two", "1.5", "99999"]) {
    const [line] = await said(`attempt("load", () => mx.versions());`, { env: { MLX_TS_BLAS_THREADS: wrong } });
    expect(line).toBe(`load: RangeError: MLX_TS_BLAS_THREADS is "${wrong}": give a positive number of threads.`);
  }
  const unset = await said("mx.array(1); say(mx.blasThreads() >= 1);", { env: { MLX_TS_BLAS_THREADS: "" } });
  expect(unset).toEqual(["true"]);
});
