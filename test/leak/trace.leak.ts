// Recordings, 10,000 times each: they leave no handle, no memory, no listener and no patched function behind.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { functions } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import * as trace from "../../src/trace/index.ts";
import { type Finding, leakCases, measureAsyncLoop, measureLoop } from "./measure.ts";

const bounds = { iterations: 10_000, warm: 3_000, growth: 20 };
const place = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
const folder = mkdtempSync(join(place, "mlx-ts-leak-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const x = mx.keep(mx.ones([8, 8]));
mx.eval(x);
const add = functions.mlx_add;

function work(): void {
  mx.tidy(() => {
    const [a, b] = mx.split(mx.matmul(x, x).add(1), 2);
    mx.eval(a!.add(b!));
    mx.grad((y: mx.Array) => mx.sum(y.square()))(x);
  });
}

function broken(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof mx.MlxError)) throw error;
    return;
  }
  throw new Error("nothing was thrown");
}

/** What a recording may have left beside handles. */
const outside = (): Finding => ({
  ok: functions.mlx_add === add && process.listenerCount("exit") === 1 && process.listenerCount("SIGINT") === 0,
  text: `the native functions are the plain ones, ${process.listenerCount("exit") - 1} listeners left`,
});

const loop = (run: () => void, iterations = bounds.iterations): Finding[] => [
  ...measureLoop({ ...bounds, iterations, warm: Math.min(bounds.warm, iterations) }, run),
  outside(),
];

await leakCases({
  recordings: () =>
    loop(() => {
      using _t = trace.record();
      trace.span("step", work);
    }),
  "fine recordings": () =>
    loop(() => {
      using t = trace.record({ fine: true });
      work();
      t.steps();
    }),
  "recordings of failures": () =>
    loop(() => {
      using _t = trace.record({ fine: true });
      using three = mx.ones([3]);
      broken(() => trace.span("step", () => mx.matmul(x, three)));
      broken(() => mx.grad((y: mx.Array) => mx.sum(mx.reshape(y, [5])))(x));
    }),
  "one recording of many steps": () => {
    using _t = trace.record({ limit: 500 });
    return measureLoop(bounds, work);
  },
  "one fine recording of many steps": () => {
    using _t = trace.record({ limit: 500, fine: true });
    return measureLoop(bounds, work);
  },
  "recordings with a file": () =>
    loop(() => {
      // Another file each time: recordings that share one add to it.
      const path = join(folder, "t.json");
      using t = trace.record({ path, summary: false });
      work();
      t.dispose();
      rmSync(path);
    }, 2_000),
  "spans of promises": async () => [
    ...(await measureAsyncLoop(bounds, async () => {
      using _t = trace.record();
      await trace.span("step", async () => {
        work();
        await null;
      });
    })),
    outside(),
  ],
});
