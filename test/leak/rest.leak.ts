// Exported functions, kernels of their own, streams, groups, paths: made and dropped 10,000 times, whether they work or
// fail. Exporting writes files, so it runs less often.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { liveFunctions } from "../../src/core/callbacks.ts";
import * as mx from "../../src/index.ts";
import { type Finding, leakCases, measureLoop } from "./measure.ts";

const folder = mkdtempSync(join(tmpdir(), "mlx-ts-leak-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, "f.mlxfn");

const x = mx.keep(mx.array([1, 2]));
const y = mx.keep(mx.array([3, 4]));
mx.eval(x, y);

const often = { iterations: 10_000, warm: 2_000, growth: 20 };
const seldom = { iterations: 1_000, warm: 200, growth: 20 };

function attempt(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return;
  }
  throw new Error("nothing was thrown");
}

/** The loop, and that no JavaScript function stays behind in native code. */
function withFunctions(bounds: typeof often, step: (i: number) => void): Finding[] {
  const before = liveFunctions();
  const findings = measureLoop(bounds, step);
  const left = liveFunctions() - before;
  return [...findings, { ok: left === 0, text: `${left} functions left in native code` }];
}

await leakCases({
  "exporting, with named arrays": () =>
    withFunctions(seldom, () => {
      const fn = (a: mx.Array, { b }: { b: mx.Array }): mx.Array => a.add(b);
      mx.exportFunction(path, fn, [x], { kwargs: { b: y }, metadata: "text" });
    }),
  "exporting what throws, and what is no array": () =>
    withFunctions(seldom, () => {
      attempt(() =>
        mx.exportFunction(path, () => {
          throw new Error("on purpose");
        }, [x]),
      );
      attempt(() => mx.exportFunction(path, () => 1 as never, [x]));
    }),
  "importing and calling": () => {
    const weight = mx.keep(mx.array([5, 6]));
    mx.exportFunction(path, (a: mx.Array, { b }: { b: mx.Array }) => [a.add(b).multiply(weight), a], [x], {
      kwargs: { b: y },
    });
    return withFunctions(seldom, () => {
      using imported = mx.importFunction(path);
      for (let i = 0; i < 10; i++) for (const one of imported(x, { b: y })) one.dispose();
      attempt(() => imported(x));
      attempt(() => imported(x, { b: 1 as never }));
    });
  },
  "importing what is damaged": () => {
    const bad = join(folder, "bad.mlxfn");
    return measureLoop(often, (i) => {
      if (i % 1000 === 0) writeFileSync(bad, "not a function");
      attempt(() => mx.importFunction(bad));
    });
  },
  "graphs as text": () => {
    const z = mx.keep(mx.tidy(() => x.add(y).multiply(x)));
    return measureLoop(often, () => mx.exportToDot(() => {}, z, { x, y }));
  },
  "streams of every kind": () => {
    // One: MLX has no end for these.
    const shared = mx.keep(mx.newThreadUnsafeStream("cpu"));
    // Few: of a stream that has computed, MLX 0.32.2 leaves the thread behind, in Python as well (35 kB each).
    return measureLoop({ iterations: 200, warm: 100, growth: 40 }, (i) => {
      using own = mx.newStream("cpu");
      using local = mx.newThreadLocalStream("cpu");
      for (const stream of [own, local, shared]) {
        using sum = mx.add(x, y, { stream });
        if (i % 10 === 0) mx.eval(sum);
      }
      mx.synchronize(shared);
      mx.clearStreams();
    });
  },
  "groups and collectives": () =>
    measureLoop(often, () => {
      using group = mx.distributed.init();
      using sum = mx.distributed.allSum(x, { group });
      using all = mx.distributed.allGather(x, { group });
      mx.eval(sum, all);
      attempt(() => mx.distributed.send(x, 0, { group }));
    }),
  "paths of einsum, printing options, refused kernels": () =>
    measureLoop(often, () => {
      mx.einsumPath("i,i->", x, y);
      attempt(() => mx.einsumPath("ij,j->", x, y));
      using _ = mx.printoptions(3);
      String(x);
      attempt(() => mx.fast.metalKernel("k", ["x"], ["y"], "y[0] = x[0];"));
    }),
});
