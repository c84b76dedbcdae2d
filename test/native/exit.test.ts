// Leaving the process while MLX computes on its own thread, or a Worker on its: a clean end every time, soon.
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { runProcess } from "../../scripts/gate/process.ts";

const child = join(import.meta.dir, "fixtures/leaving.ts");

const ways = [
  ["process.exit", 3],
  ["natural", 3],
  ["throw", 1],
  // exit() of the C library runs destructors, unlike Bun's own end on Linux: without the shim's guard about one run in
  // six hung, with OpenBLAS shutting down under MLX.
  ["libc", 3],
  ["with-worker", 3],
  ["with-worker-libc", 3],
] as const;

describe("leaving with work in flight", () => {
  for (const [way, code] of ways) {
    test(
      way,
      async () => {
        for (let round = 0; round < 3; round++) {
          const result = await runProcess([process.execPath, child, way], { timeout: 20 });
          expect(result.output).toStartWith("leaving\n");
          expect(result.output).not.toContain("panic");
          expect(result).toMatchObject({ code, timedOut: false });
        }
      },
      70_000,
    );
  }
});

test("an interrupt ends a long evaluation", async () => {
  const long = `
    import * as mx from ${JSON.stringify(join(import.meta.dir, "../../src/index.ts"))};
    const m = mx.full([2000, 2000], 0.001);
    let x = m;
    for (let i = 0; i < 400; i++) x = mx.exp(x.matmul(m));
    console.log("computing");
    mx.eval(x);
  `;
  const process_ = Bun.spawn([process.execPath, "-e", long], { stdout: "pipe", stderr: "pipe" });
  const reader = process_.stdout.getReader();
  await reader.read();
  await Bun.sleep(200);
  const began = performance.now();
  process_.kill("SIGINT");
  await process_.exited;
  expect(process_.signalCode).toBe("SIGINT");
  expect(performance.now() - began).toBeLessThan(5000);
}, 30_000);
