// Work that runs by itself: waiting for it, failures in it, the end of the process, Workers, several streams.
import { join } from "node:path";
import { runProgram } from "../helpers.ts";
import * as mx from "../../src/index.ts";
import { cudaCases, expect, thrown } from "./cases.ts";

/** Keeps the GPU busy for the better part of a second. */
function long(products: number, size = 12288): mx.Array {
  return mx.tidy(() => {
    let x = mx.random.normal([size, size]);
    const y = mx.random.normal([size, size]);
    for (let i = 0; i < products; i++) x = x.matmul(y).multiply(1 / Math.sqrt(size));
    return x;
  });
}

const millis = (from: number): string => `${(performance.now() - from).toFixed(0)} ms`;

await cudaCases({
  "waiting leaves the event loop free": async () => {
    mx.tidy(() => mx.eval(long(1)));
    const report: string[] = [];
    for (const products of [3, 60]) {
      using x = long(products);
      const built = performance.now();
      mx.asyncEval(x);
      const started = performance.now() - built;
      const pending = !x.isAvailable;
      let ticks = 0;
      const timer = setInterval(() => ticks++, 10);
      await x.ready();
      clearInterval(timer);
      const took = performance.now() - built;
      using again = long(products);
      const start = performance.now();
      mx.eval(again);
      const text = `${products} products: asyncEval returned after ${started.toFixed(0)} ms, ready after ${took.toFixed(0)} ms with ${ticks} ticks of 10 ms, mx.eval of the same ${millis(start)}`;
      report.push(text);
      // MLX lets about ten batches be under way: asyncEval of more waits until so many are left.
      expect(pending && ticks > (took - started) / 20 && (products > 10 || started < took / 4), text);
    }
    return report.join("; ");
  },
  "a failure among work on both devices": async () => {
    const report: string[] = [];
    for (const wait of ["eval", "asyncEval"] as const) {
      const before = mx.add(mx.zeros([4, 4]), 0);
      const inverse = mx.linalg.inv(before, { stream: "cpu" });
      const after = mx.multiply(inverse, 2);
      let text = "";
      try {
        if (wait === "eval") mx.eval(after);
        else await after.ready();
        text = `no error: ${String(after.tolist())}`;
      } catch (error) {
        text = String(error);
      }
      const later = [before, inverse, after].map((one) => {
        try {
          return String(one.tolist()).slice(0, 30);
        } catch (error) {
          return (error as Error).name;
        }
      });
      report.push(`${wait}: ${text.slice(0, 160)} -> ${later.join(" | ")}`);
      const works = mx.tidy(() => mx.sum(mx.ones([10])).item());
      expect(works === 10, "arrays compute afterwards");
      expect(text.includes("MlxError") && later[2] === "MlxError", report.join("; "));
    }
    return report.join("; ");
  },
  "an operation that fails on the GPU when it runs": async () => {
    // Row lengths that MLX's kernels have no case for are found out when they run, if at all.
    const attempts: Record<string, () => unknown> = {
      "broken kernel, eval": () => mx.eval(broken()),
      "broken kernel, read": () => broken().tolist(),
      "inverse on the GPU": () => mx.linalg.inv(mx.ones([2, 2]), { stream: "gpu" }).tolist(),
    };
    const kernel = mx.fast.cudaKernel("broken2", ["x"], ["y"], "y[0] = nothing_here;");
    function broken(): mx.Array {
      const call = { inputs: [mx.ones([4])], outputShapes: [[4]], outputDtypes: ["float32" as const] };
      const [y] = kernel({ ...call, grid: [4, 1, 1], threadgroup: [4, 1, 1] });
      return mx.add(y!, 1);
    }
    const seen = Object.entries(attempts).map(([name, run]) => `${name}: ${thrown(run).split("\n")[0]!.slice(0, 90)}`);
    const lazy = broken();
    const rejected = await lazy.ready().then(
      () => "it was ready",
      (error: Error) => error.name,
    );
    expect(rejected === "MlxError", `ready: ${rejected}`);
    const again = thrown(() => lazy.tolist());
    expect(again.startsWith("MlxError"), again);
    expect(mx.tidy(() => mx.sum(mx.ones([10])).item()) === 10, "arrays compute afterwards");
    return [...seen, `again: ${again.split("\n")[0]!.slice(0, 120)}`].join("; ");
  },
  "use after dispose, with work in flight": () => {
    const x = long(20);
    const y = mx.add(x, 1);
    mx.asyncEval(y);
    x.dispose();
    const text = thrown(() => mx.add(x, 1));
    expect(text.startsWith("DisposedError"), text);
    y.dispose();
    mx.clearCache();
    const next = mx.tidy(() => mx.sum(mx.ones([1000])).item());
    expect(next === 1000, `1000, and not ${next}`);
    return text.slice(0, 80);
  },
  "the end of the process, with work in flight": async () => {
    const ends: Record<string, [code: number, body: string]> = {
      "process.exit": [7, "process.exit(7)"],
      "the end of the program": [0, ""],
      "an uncaught error": [1, `throw new Error("on purpose")`],
    };
    const seen: string[] = [];
    for (const [name, [code, body]] of Object.entries(ends)) {
      const start = performance.now();
      const result = await runProgram(
        `let x = mx.random.normal([4096, 4096]);
         for (let i = 0; i < 300; i++) x = x.matmul(x).multiply(1e-3);
         mx.asyncEval(x);
         ${body}`,
        { timeout: 60 },
      );
      seen.push(
        `${name}: code ${result.code} ${result.signal ?? ""} after ${millis(start)} ${result.output.slice(0, 200)}`,
      );
      expect(result.code === code && result.signal === null, seen.at(-1)!);
    }
    return seen.join("; ").replaceAll("\n", " ");
  },
  "Ctrl-C ends a long evaluation": async () => {
    const program = `
      import * as mx from ${JSON.stringify(join(import.meta.dir, "../../src/index.ts"))};
      let x = mx.random.normal([8192, 8192]);
      for (let i = 0; i < 3000; i++) x = x.matmul(x).multiply(1e-3);
      console.log("evaluating");
      mx.eval(x);
      console.log("evaluated");`;
    const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "pipe" });
    const reader = child.stdout.getReader();
    let output = "";
    while (!output.includes("evaluating")) output += new TextDecoder().decode((await reader.read()).value);
    await Bun.sleep(1500);
    const running = child.exitCode === null;
    const start = performance.now();
    child.kill("SIGINT");
    const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
    await child.exited;
    clearTimeout(timer);
    const text = `running ${running}, ended by ${child.signalCode ?? child.exitCode} after ${millis(start)}`;
    expect(running && (child.signalCode === "SIGINT" || child.exitCode === 130), text);
    return text;
  },
  "Workers compute beside each other": async () => {
    const source = `
      import * as mx from ${JSON.stringify(join(import.meta.dir, "../../src/index.ts"))};
      self.onmessage = ({ data }) => {
        let total = 0;
        for (let i = 0; i < 50; i++) total += mx.tidy(() => Number(mx.mean(mx.matmul(mx.full([64, 64], data), mx.ones([64, 64]))).item()));
        self.postMessage(total / 50);
      };`;
    const url = URL.createObjectURL(new Blob([source], { type: "application/typescript" }));
    mx.eval(mx.ones([1]));
    const answers = await Promise.all(
      [1, 2, 3, 4].map(
        (seed) =>
          new Promise<number>((resolve, reject) => {
            const worker = new Worker(url);
            worker.onmessage = ({ data }) => {
              worker.terminate();
              resolve(data as number);
            };
            worker.onerror = (event) => reject(new Error(event.message));
            worker.postMessage(seed);
          }),
      ),
    );
    expect(String(answers) === "64,128,192,256", String(answers));
    expect(mx.tidy(() => mx.sum(mx.ones([10])).item()) === 10, "the main thread still computes");
    return String(answers);
  },
  "several streams and both devices": () => {
    using first = mx.newStream("gpu");
    using second = mx.newStream("gpu");
    const total = mx.tidy(() => {
      const a = mx.matmul(mx.ones([512, 512]), mx.ones([512, 512]), { stream: first });
      const b = mx.add(a, 1, { stream: second });
      const c = mx.multiply(b, 2, { stream: "cpu" });
      const d = mx.add(c, a, { stream: first });
      return [mx.min(d).item(), mx.max(d).item()].join();
    });
    expect(total === "1538,1538", total);
    return total;
  },
});
