// Every nesting of up to three transforms, with the values of Python MLX (data/nesting.py wrote them).
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { liveFunctions } from "../../src/core/callbacks.ts";
import { functions } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { compileModeCodes } from "../../generated/enums.ts";
import expected from "./data/nesting.json";

// On the CPU, MLX has the system's C++ compiler build each new fused kernel: a second or two. The largest set does
// without fusing, and is traced, simplified and replayed all the same.
setDefaultTimeout(300_000);

type Fn = (x: mx.Array) => mx.Array;

const base: Fn = (x) => mx.add(mx.multiply(mx.multiply(x, x), x), mx.sin(x));
const total =
  (h: Fn): Fn =>
  (x) =>
    mx.sum(h(x));
const owned: Disposable[] = [];

const transforms: Record<string, (h: Fn) => Fn> = {
  grad: (h) => mx.grad(total(h)),
  valueAndGrad: (h) => (x) => {
    const [value, gradient] = mx.valueAndGrad(total(h))(x);
    return mx.add(mx.multiply(gradient, 2), value);
  },
  vjp: (h) => (x) => mx.vjp(h, [x], [mx.full(x.shape, 3)])[1][0]!,
  jvp: (h) => (x) => mx.jvp(h, [x], [mx.full(x.shape, 2)])[1][0]!,
  vmap: (h) => mx.vmap(h),
  vmapInner: (h) => mx.vmap(h, { inAxes: -1, outAxes: -1 }),
  compile: (h) => {
    const compiled = mx.compile(h);
    owned.push(compiled);
    return compiled;
  },
  checkpoint: (h) => mx.checkpoint(h),
  // The rules are no derivatives: what comes out shows which of them ran.
  customFunction: (h) =>
    mx.customFunction(h, {
      vjp: (x, cotangent, output) => mx.add(mx.multiply(mx.multiply(cotangent, 3), x), output),
      jvp: (x, tangent) => mx.multiply(mx.multiply(tangent, 5), x),
      vmap: (x, axis) => [mx.add(h(x), mx.multiply(x, 7)), axis as number | null],
    }),
};

let start = 0;
const x = (): mx.Array =>
  mx.array([
    [0.5, -1, 2],
    [0.25, 1.5, -0.75],
  ]);

beforeAll(() => {
  // The handles of the default stream and of the closure that gradients share are made once and kept.
  mx.tidy(() => void mx.grad(total(base))(x()));
  start = functions.mlxts_live_handles();
});

afterAll(() => {
  expect(functions.mlxts_live_handles()).toBe(start);
  expect(liveFunctions()).toBe(0);
});

const byDepth = Map.groupBy(Object.entries(expected), ([names]) => names.split(" ").length);

for (const [depth, cases] of byDepth) {
  test(`${cases.length} nestings of ${depth}`, () => {
    expect(cases.length).toBe(Object.keys(transforms).length ** depth);
    const wrong: string[] = [];
    if (depth === 3) functions.mlx_set_compile_mode(compileModeCodes.noFuse);
    for (const [names, values] of cases) {
      const nested = names.split(" ").reduceRight<Fn>((h, name) => transforms[name]!(h), base);
      // Twice: a compiled function does not run the second time.
      for (let call = 0; call < 2; call++) {
        const got = mx.tidy(() => outcome(() => nested(x()).reshape([-1]).tolist() as number[]));
        if (!same(got, values)) wrong.push(`${names}: ${JSON.stringify(got)} instead of ${JSON.stringify(values)}`);
      }
      for (const one of owned.splice(0)) one[Symbol.dispose]();
    }
    functions.mlx_set_compile_mode(compileModeCodes.enabled);
    expect(wrong).toEqual([]);
  });
}

function outcome<T>(run: () => T): T | string {
  try {
    return run();
  } catch (error) {
    if (error instanceof mx.MlxError) return error.reason;
    // What MLX refuses in its own words, we do before it is asked.
    const axis = /^vmap: inAxes has (-?\d+), out of range for an array of 0 axes\.$/.exec(
      (error as Error).message,
    )?.[1];
    if (axis === undefined) throw error;
    return `[vmap] Invalid vectorization axis ${axis} for array with shape ()`;
  }
}

function same(got: number[] | string, want: number[] | string): boolean {
  if (typeof got === "string" || typeof want === "string") return got === want;
  const close = (a: number, b: number): boolean => Math.abs(a - b) <= 2e-5 * Math.max(1, Math.abs(b));
  return got.length === want.length && got.every((value, i) => close(value, want[i]!));
}
