// Storage exports that are disposed, refused, handed on, forgotten: nothing stays, and nothing stale is read.
import { functions as C } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { countWrong, type Finding, leakCases, measureLoop, nativeHandles, rss, settle } from "./measure.ts";

const MB = 1024 * 1024;
const loop = { iterations: 100_000, warm: 5_000, growth: 12 };
const x = mx.arange(1024, { dtype: "float32" });
const turned = mx.arange(1024, { dtype: "float32" }).reshape([32, 32]).T;
mx.eval(x, turned);

/** 1 MB of one number, computed. */
function megabyte(value: number): mx.Array {
  const array = mx.full([256, 1024], value);
  mx.eval(array);
  return array;
}

await leakCases({
  "export and dispose": () => measureLoop(loop, () => x.exportStorage().dispose()),
  "bytes, elements and copies": () =>
    measureLoop(loop, (i) => {
      using view = x.exportStorage();
      if (view.bytes.length !== 4096 || view.typed()[i % 1024] !== i % 1024) throw new Error(`stale at ${i}`);
      if (i % 16 === 0) view.copy();
    }),
  "a megabyte each, exported and dropped": () =>
    measureLoop({ iterations: 10_000, warm: 200, growth: 60 }, (i) => {
      mx.tidy(() => {
        const { bytes } = megabyte(i).exportStorage();
        if (new Float32Array(bytes.buffer)[200_000] !== i) throw new Error(`stale at ${i}`);
      });
    }),
  "other layouts, refusals and errors": () =>
    measureLoop(loop, (i) => {
      using view = turned.exportStorage({ requireRowContiguous: false });
      if (i % 16 === 0) view.copy();
      if (turned.tryExportStorage().status !== "unsupportedLayout") throw new Error("not refused");
      try {
        turned.exportStorage();
      } catch (error) {
        if (!(error instanceof mx.StorageExportError)) throw error;
      }
    }),
  "capsules, disposed and taken": () =>
    measureLoop(loop, (i) => {
      using view = x.exportStorage();
      using capsule = view.toDLPack();
      if (i % 2 === 0) C.mlxts_dlpack_free(capsule.take());
    }),
  "1,000 views at once, a hundred times": () => {
    const round = (): void => {
      mx.tidy(() => {
        const views = Array.from({ length: 1000 }, (_, i) => mx.full([64], i));
        mx.eval(views);
        const held = views.map((array) => array.exportStorage());
        const bytes = held.map((view) => new Float32Array(view.bytes.buffer));
        mx.dispose(views);
        bytes.forEach((values, i) => {
          if (values[63] !== i) throw new Error(`stale at ${i}`);
        });
      });
    };
    return measureLoop({ iterations: 100, warm: 10, growth: 40 }, round);
  },
  "no stale byte while MLX reuses memory around 200 views": (): Finding[] => {
    const views = Array.from({ length: 200 }, (_, i) => mx.tidy(() => megabyte(i).exportStorage()));
    const bytes = views.map((view) => new Float32Array(view.bytes.buffer));
    const findings = countWrong(20_000, (i) => {
      if (i % 4 === 0) mx.tidy(() => megabyte(-1 - i));
      return bytes[i % 200]![(i * 7919) % 262_144] === i % 200;
    });
    mx.dispose(views);
    return [...findings, ...countWrong(200, (i) => bytes[i]!.length === 0)];
  },
  "3,000 forgotten megabytes under a budget of 100 MB": (): Finding[] => {
    mx.setMemoryBudget(100 * MB);
    settle();
    const [handles, before] = [nativeHandles(), rss()];
    let peak = 0;
    for (let i = 0; i < 3000; i++) {
      using array = megabyte(i);
      const { bytes } = array.exportStorage();
      if (bytes.length !== MB) throw new Error(`stale at ${i}`);
      if (i % 16 === 0) peak = Math.max(peak, (rss() - before) / MB);
    }
    const { rescued } = mx.memory();
    settle();
    const left = nativeHandles() - handles;
    return [
      { ok: peak <= 200, text: `peak ${peak.toFixed(1)} MB over the baseline (limit 200)` },
      { ok: rescued > 1500, text: `${rescued} views rescued` },
      { ok: left <= 4, text: `${left} native handles left after a last collection` },
    ];
  },
});
