// Fine mode: each primitive alone, the storages that it reads and writes, and the planner's simulator on top.
import { expect, test } from "bun:test";
import { tracer } from "../../src/core/hooks.ts";
import * as mx from "../../src/index.ts";
import { metalLimits, simulate, type SimulatedMarker, type SimulatedOp } from "../../src/planner/index.ts";
import * as trace from "../../src/trace/index.ts";
import { caught } from "../helpers.ts";
import { checkedTrace } from "./schema.ts";

const isPrimitive = (step: trace.RecordedStep): step is trace.RecordedPrimitive => !("marker" in step);

test("an operation is evaluated at once, each of its primitives alone", () => {
  using t = trace.record({ fine: true, summary: false });
  mx.tidy(() => {
    const x = mx.array([1, 2, 3, 4]);
    const y = mx.mean(x);
    expect(y.isAvailable).toBe(true);
    expect(y.item()).toBe(2.5);
  });
  const { traceEvents } = checkedTrace(t.toJSON());
  const primitives = traceEvents.filter(({ cat }) => cat === "primitive");
  expect(primitives.map(({ args }) => args["operation"])).toEqual(primitives.map(() => "mean"));
  expect(primitives.some(({ name }) => name === "Sum")).toBe(true);
  const { args } = traceEvents.find(({ name }) => name === "mlx-ts recording")!;
  expect(args["fine"]).toBe(true);
  expect(String(args["warning"])).toContain("evaluated alone");
});

test("storages: a result is read under the number that it was written with, views have their operand's", () => {
  using t = trace.record({ fine: true });
  mx.tidy(() => {
    const x = mx.array(new Float32Array(6)).reshape(2, 3);
    const y = x.add(x.T.T).T;
    mx.eval(y.multiply(y));
  });
  const steps = t.steps();
  const made = steps.filter(isPrimitive).filter(({ dispatches }) => dispatches === 1);
  expect(made.map(({ name }) => name)).toEqual(["Add", "Multiply"]);
  const [add, multiply] = made;
  expect(add!.reads[0]!.dataSize).toBe(6);
  expect(add!.reads[1]).toEqual(add!.reads[0]!);
  expect(add!.writes).toHaveLength(1);
  expect(add!.writes[0]!.bufferId).not.toBe(add!.reads[0]!.bufferId);
  expect(multiply!.reads.map(({ bufferId }) => bufferId)).toEqual([add!.writes[0]!.bufferId, add!.writes[0]!.bufferId]);
  expect(multiply!.writes[0]!.bufferId).not.toBe(add!.writes[0]!.bufferId);
  for (const step of steps.filter(isPrimitive)) expect([step.assumed, step.seconds > 0]).toEqual([true, true]);
  // Reshape and the transposes bind nothing.
  expect(steps.filter(isPrimitive).filter(({ dispatches }) => dispatches === 0)).toHaveLength(4);
  expect(steps.at(-1)).toEqual({ marker: "evalEnd" });
});

test("a storage view of an operand has the storage's own number", () => {
  mx.tidy(() => {
    const x = mx.ones([4, 4]);
    mx.eval(x);
    using view = mx.exportStorage(x);
    using t = trace.record({ fine: true });
    mx.matmul(x, x.T);
    const [matmul] = t
      .steps()
      .filter(isPrimitive)
      .filter(({ name }) => name === "Matmul");
    expect(matmul!.reads.map(({ storageId }) => storageId)).toEqual([view.bufferId, view.bufferId]);
    expect(matmul!.reads.map(({ dataSize }) => dataSize)).toEqual([16, 16]);
  });
});

test("storages that come and go at the same address have numbers of their own", () => {
  using t = trace.record({ fine: true });
  for (let i = 0; i < 50; i++) mx.tidy(() => void mx.ones([1000], { dtype: "float32" }).add(1));
  const writes = t
    .steps()
    .filter(isPrimitive)
    .flatMap((step) => step.writes.map(({ bufferId }) => bufferId));
  expect(writes.length).toBeGreaterThanOrEqual(50);
  expect(new Set(writes).size).toBe(writes.length);
});

test("what a transform traces is not evaluated there, and its results are", () => {
  using t = trace.record({ fine: true });
  mx.tidy(() => {
    let inside = true;
    const grad = mx.grad((x: mx.Array) => {
      const y = x.square();
      inside = y.isAvailable;
      return mx.sum(y);
    })(mx.array([1, 2, 3]));
    expect(inside).toBe(false);
    expect(grad.isAvailable).toBe(true);
    expect(grad.tolist()).toEqual([2, 4, 6]);
    using f = mx.compile((x: mx.Array) => mx.exp(x).add(1).multiply(x));
    expect(f(mx.array([0, 0])).tolist()).toEqual([0, 0]);
    expect(
      mx
        .vmap((x: mx.Array) => x.add(1))(mx.array([1, 2]))
        .tolist(),
    ).toEqual([2, 3]);
  });
  const rows = t.slowest(100).rows.map(({ name }) => name);
  expect(rows).toContain("grad: Square");
  expect(rows.some((name) => /^compile: Compiled/.test(name))).toBe(true);
  checkedTrace(t.toJSON());
});

test("derivatives of derivatives, in fine mode as without", () => {
  const cube = (x: mx.Array): mx.Array => x.multiply(x).multiply(x);
  const functions: Record<string, (x: mx.Array) => mx.Array> = {
    second: mx.grad(mx.grad(cube)),
    third: mx.grad(mx.grad(mx.grad(cube))),
    batched: (x) => mx.vmap(mx.grad(mx.grad(cube)))(mx.stack([x, x])),
    compiled: mx.compile(mx.grad(mx.grad(cube))),
    checkpointed: mx.grad((x: mx.Array) => mx.checkpoint(cube)(x)),
    forward: (x) => mx.jvp(mx.grad(cube), [x], [mx.array(1)])[1][0]!,
  };
  for (const [name, f] of Object.entries(functions)) {
    mx.tidy(() => {
      const plain = f(mx.array(2)).tolist();
      using t = trace.record({ fine: true });
      expect([name, f(mx.array(2)).tolist()]).toEqual([name, plain]);
      checkedTrace(t.toJSON());
    });
  }
});

test("an operation whose evaluation fails says so itself, and leaves nothing", () => {
  const before = mx.memory().liveHandles;
  {
    using t = trace.record({ fine: true });
    using zeros = mx.zeros([2, 2]);
    const error = caught(() => mx.linalg.inv(zeros, { stream: "cpu" }));
    expect(error).toBeInstanceOf(mx.MlxError);
    expect(error.message).toContain("linalg.inv");
    expect(tracer).not.toBeNull();
    checkedTrace(t.toJSON());
  }
  expect(mx.memory().liveHandles).toBe(before);
});

/** One step of a two-layer perceptron: the loss, its gradients, the new weights. */
function mlpStep(width: number): () => number {
  const x = mx.random.normal([32, width]);
  const weights = [mx.random.normal([width, width]), mx.random.normal([width, 1])];
  const loss = (w: mx.Array[]): mx.Array => mx.mean(mx.square(mx.matmul(mx.maximum(mx.matmul(x, w[0]!), 0), w[1]!)));
  mx.eval(x, weights);
  return () => {
    using result = mx.valueAndGrad(loss)(weights);
    const [value, grads] = result;
    const next = mx.tidy(() => weights.map((w, i) => w.subtract(grads[i]!.multiply(0.01))));
    mx.eval(value, next);
    mx.dispose(next);
    return value.item() as number;
  };
}

test("a recorded training step goes through the planner's simulator with its own buffers", () => {
  mx.random.seed(1);
  const handles = mx.memory().liveHandles;
  const step = mx.tidy(() => {
    const run = mlpStep(64);
    const plain = run();
    using t = trace.record({ fine: true });
    const fine = run();
    t.dispose();
    // The numbers are those of the lazy step.
    expect(Math.abs(fine - plain) / plain).toBeLessThan(1e-5);
    return { steps: t.steps(), json: t.toJSON() };
  });
  checkedTrace(step.json);
  const chain: readonly (SimulatedOp | SimulatedMarker)[] = step.steps;
  const primitives = step.steps.filter(isPrimitive);
  const dispatched = primitives.filter(({ dispatches }) => dispatches > 0);
  const matmuls = dispatched.filter(({ name }) => name === "Matmul");
  // Forward twice, and backward: dW of both layers and dX of the second.
  expect(matmuls).toHaveLength(5);
  expect(matmuls[0]!.reads.map(({ dataSize }) => dataSize)).toEqual([32 * 64, 64 * 64]);
  expect(matmuls[0]!.writes.map(({ dataSize }) => dataSize)).toEqual([32 * 64]);

  const limits = metalLimits("applegpu_g13s", { environment: {} });
  const whole = simulate(chain, { limits });
  expect(whole.reduce((sum, { ops }) => sum + ops, 0)).toBe(dispatched.length);
  expect(whole[0]!.reason).toBe("finalize");
  // Elements by hand: each buffer once, by its first view.
  const firstEnd = step.steps.findIndex((one) => "marker" in one);
  const seen = new Map<number, number>();
  for (const { reads, writes } of step.steps.slice(0, firstEnd).filter(isPrimitive)) {
    for (const { bufferId, dataSize } of [...reads, ...writes]) if (!seen.has(bufferId)) seen.set(bufferId, dataSize);
  }
  expect(whole[0]!.elements).toBe([...seen.values()].reduce((sum, size) => sum + size, 0));
  // The weights are read forward and backward: their buffers have one number throughout.
  const first = matmuls[0]!.reads[1]!.bufferId;
  expect(dispatched.filter(({ reads }) => reads.some(({ bufferId }) => bufferId === first)).length).toBeGreaterThan(1);

  const packed = simulate(chain, { limits: { maxOps: 4, maxMb: 40 } });
  expect(packed.filter(({ reason }) => reason === "ops").length).toBeGreaterThanOrEqual(
    Math.floor(dispatched.length / 5) - 1,
  );
  for (const { ops } of packed) expect(ops).toBeLessThanOrEqual(5);
  expect(packed.reduce((sum, { ops }) => sum + ops, 0)).toBe(dispatched.length);
  expect(mx.memory().liveHandles).toBe(handles);
});

test("in fine mode the ten slowest and the rest add up to the measured time within 5 %", () => {
  mx.random.seed(2);
  mx.tidy(() => {
    const a = mx.random.normal([600, 600]);
    mx.eval(a);
    // Another program may take the processor between two operations: the best of a few attempts counts.
    let best = Infinity;
    for (let attempt = 0; attempt < 8 && best > 0.05; attempt++) {
      mx.tidy(() => {
        using t = trace.record({ fine: true });
        const start = Bun.nanoseconds();
        let x = a;
        for (let i = 0; i < 12; i++) x = mx.softmax(mx.matmul(x, a), -1);
        const measured = (Bun.nanoseconds() - start) / 1e6;
        t.dispose();
        const { rows, rest } = t.slowest();
        const sum = rows.reduce((total, row) => total + row.totalMs, rest.totalMs);
        expect(sum).toBeLessThanOrEqual(measured);
        best = Math.min(best, 1 - sum / measured);
        expect(rows.find(({ name }) => name === "matmul")).toMatchObject({ count: 12 });
      });
    }
    expect(best).toBeLessThanOrEqual(0.05);
  });
}, 20_000);
