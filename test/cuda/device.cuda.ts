// The GPU is found, computes what the CPU computes, and compiles kernels.
import * as mx from "../../src/index.ts";
import { cudaCases, difference, expect, thrown } from "./cases.ts";

/** Work that each device does by itself from the same numbers, and how far results may lie apart. */
const works: Record<string, [tolerance: number, (a: mx.Array, b: mx.Array) => mx.Array]> = {
  "matrix product": [2e-3, (a, b) => mx.matmul(a, b)],
  "matrix product, float16": [5e-3, (a, b) => mx.matmul(a.astype("float16"), b.astype("float16"))],
  softmax: [1e-4, (a) => mx.softmax(a, { axis: -1 })],
  sum: [1e-4, (a) => mx.sum(a, { axis: 0 })],
  sort: [0, (a) => mx.sort(a)],
  "rows by index": [0, (a) => mx.take(a, mx.array([5, 3, 0], { dtype: "int32" }), { axis: 0 })],
  fft: [1e-4, (a) => mx.abs(mx.fft.fft(a))],
  convolution: [
    2e-3,
    (a, b) => mx.conv2d(a.reshape([1, 64, 64, 1]), mx.take(b, mx.arange(9, { dtype: "int32" })).reshape([1, 3, 3, 1])),
  ],
  attention: [
    5e-3,
    (a, b) => {
      const [q, k] = [a, b].map((one) => one.reshape([1, 4, 16, 64])) as [mx.Array, mx.Array];
      return mx.fast.scaledDotProductAttention(q, k, k, { scale: 0.125 });
    },
  ],
  gradient: [1e-3, (a) => mx.grad((x: mx.Array) => mx.sum(mx.tanh(mx.multiply(x, x))))(a) as mx.Array],
};

await cudaCases({
  "it is found": () => {
    using device = mx.defaultDevice();
    expect(String(device) === "Device(gpu, 0)", `the default device is the GPU, and not ${device}`);
    expect(mx.deviceCount("gpu") >= 1, "a GPU is counted");
    return JSON.stringify(mx.deviceInfo());
  },
  "the CPU's results": () => {
    using a = mx.random.normal([64, 64]);
    using b = mx.random.normal([4096]);
    using square = b.reshape([64, 64]);
    const far = Object.entries(works).map(([name, [tolerance, work]]) => {
      const [there, here] = (["gpu", "cpu"] as const).map((on) =>
        mx.withStream(on, () => mx.tidy(() => work(a, name === "convolution" ? b : square))),
      ) as [mx.Array, mx.Array];
      const gap = difference(there, here);
      mx.dispose([there, here]);
      return { name, gap, ok: gap <= tolerance };
    });
    const text = far.map(({ name, gap }) => `${name} ${gap.toExponential(1)}`).join(", ");
    expect(
      far.every(({ ok }) => ok),
      text,
    );
    return `relative differences: ${text}`;
  },
  "a compiled function": () => {
    using compiled = mx.compile((x: mx.Array) => mx.tanh(mx.add(mx.multiply(x, x), 1)));
    using x = mx.random.normal([1000]);
    using fast = compiled(x);
    using plain = mx.tidy(() => mx.tanh(mx.add(mx.multiply(x, x), 1)));
    const gap = difference(fast, plain);
    expect(gap < 1e-5, `it differs by ${gap}`);
    return `difference ${gap.toExponential(1)}`;
  },
  "a kernel of one's own": () => {
    const source = "auto i = cooperative_groups::this_grid().thread_rank(); if (i < N) y[i] = T(2) * x[i] + offset[0];";
    using kernel = mx.fast.cudaKernel("twice", ["x", "offset"], ["y"], source);
    const run = (size: number, dtype: "float32" | "int32"): mx.Array =>
      mx.tidy(
        () =>
          kernel({
            inputs: [mx.arange(size, { dtype }), mx.array(1, { dtype })],
            outputShapes: [[size]],
            outputDtypes: [dtype],
            grid: [size, 1, 1],
            threadgroup: [Math.min(size, 256), 1, 1],
            template: [
              ["T", dtype],
              ["N", size],
            ],
          })[0]!,
      );
    using floats = run(1000, "float32");
    using ints = run(5, "int32");
    expect(floats.get(999).item() === 1999, "float32");
    expect(String(ints.tolist()) === "1,3,5,7,9", String(ints));
    using broken = mx.fast.cudaKernel("broken", ["x"], ["y"], "y[0] = no_such_name;");
    const text = thrown(() =>
      mx.tidy(() =>
        mx.eval(
          broken({
            inputs: [mx.zeros([1])],
            outputShapes: [[1]],
            outputDtypes: ["float32"],
            grid: [1, 1, 1],
            threadgroup: [1, 1, 1],
          }),
        ),
      ),
    );
    expect(text.startsWith("MlxError: ") && text.includes("no_such_name"), text);
    using after = mx.tidy(() => mx.add(mx.ones([2]), 1));
    expect(String(after.tolist()) === "2,2", "arrays compute after a kernel that does not compile");
    return text.split("\n").slice(0, 3).join(" / ");
  },
  "float64, on the CPU alone": () => {
    using wide = mx.array([0.1, 0.2, 0.3, 0.4], { dtype: "float64", shape: [2, 2] });
    const text = thrown(() => mx.tidy(() => mx.add(wide, 1)));
    expect(text.includes("float64 is not supported on the GPU"), text);
    using turned = mx.transpose(wide, { stream: "cpu" });
    expect(String(turned.tolist()) === "0.1,0.3,0.2,0.4", String(turned.tolist()));
    expect(String(turned.toTypedArray()) === "0.1,0.3,0.2,0.4", "a typed array");
    return text;
  },
  "what MLX has on the CPU alone": () => {
    using a = mx.tidy(() => mx.add(mx.random.normal([8, 8]), mx.multiply(mx.eye(8), 8)));
    using s = mx.tidy(() => mx.add(a, a.T));
    const both: Record<string, (on: "cpu" | "gpu") => unknown> = {
      inv: (stream) => mx.linalg.inv(a, { stream }),
      qr: (stream) => mx.linalg.qr(a, { stream }),
      svd: (stream) => mx.linalg.svd(a, { stream }),
      eigh: (stream) => mx.linalg.eigh(s, { stream }),
      eig: (stream) => mx.linalg.eig(a, { stream }),
      cholesky: (stream) => mx.linalg.cholesky(s, { stream }),
      lu: (stream) => mx.linalg.lu(a, { stream }),
      solve: (stream) => mx.linalg.solve(a, s, { stream }),
    };
    const seen = Object.entries(both).map(([name, run]) => {
      mx.tidy(() => mx.eval(run("cpu")));
      const text = thrown(() => mx.tidy(() => mx.eval(run("gpu"))));
      expect(text.startsWith("MlxError: "), `${name}: ${text}`);
      return `${name}: ${text.slice(10, 150)}`;
    });
    using after = mx.tidy(() => mx.matmul(a, mx.linalg.inv(a, { stream: "cpu" })));
    const gap = difference(after, mx.eye(8));
    expect(gap < 1e-3, `a @ inv(a) differs from the identity by ${gap}`);
    return seen.join("; ");
  },
  "speed of a matrix product": () => {
    const n = 8192;
    return (["float32", "bfloat16"] as const)
      .map((dtype) => {
        using a = mx.tidy(() => mx.random.normal([n, n]).astype(dtype));
        using b = mx.tidy(() => mx.random.normal([n, n]).astype(dtype));
        mx.eval(a, b);
        const time = (count: number): number => {
          const start = performance.now();
          mx.tidy(() => mx.eval(Array.from({ length: count }, () => mx.matmul(a, b))));
          return (performance.now() - start) / 1000;
        };
        time(3);
        const seconds = Math.min(time(10), time(10), time(10)) / 10;
        return `${dtype} ${n}: ${((2 * n ** 3) / seconds / 1e12).toFixed(1)} TFLOP/s`;
      })
      .join(", ");
  },
});
