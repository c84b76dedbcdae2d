// Recordings, fine ones too, with everything disposed at the end. `bun run test:asan` runs it under AddressSanitizer
// with a leak check; in an ordinary run it checks the same results.
import { afterAll, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import * as trace from "../../src/trace/index.ts";
import { collected } from "../collected.ts";
import { caught } from "../helpers.ts";
import { checkedTrace } from "../trace/schema.ts";

test.each([false, true])("a walk through operations, transforms and failures, fine: %p", (fine) => {
  for (let round = 0; round < 20; round++) {
    using t = trace.record({ fine, limit: 200 });
    trace.span("step", () =>
      mx.tidy(() => {
        const x = mx.arange(12).reshape(3, 4).astype("float32");
        const [a, b, c] = mx.split(mx.matmul(x, x.T).add(1), 3);
        const all = mx.concatenate([a!, b!, c!, mx.zeros([1, 3])]);
        expect(all.shape).toEqual([4, 3]);
        const { dtype } = mx.grad((y: mx.Array) => mx.mean(y.square()))(x);
        expect(dtype).toBe("float32");
        using f = mx.compile((y: mx.Array) => mx.exp(y).multiply(y));
        mx.eval(f(x), f(all));
        expect(caught(() => mx.matmul(x, mx.ones([3]))).message).toContain("matmul");
        expect(caught(() => trace.span("bad", () => mx.reshape(x, [5])))).toBeInstanceOf(mx.MlxError);
        const [q, r] = mx.linalg.qr(all, { stream: "cpu" });
        mx.eval(q, r);
      }),
    );
    checkedTrace(t.toJSON());
    if (fine) expect(t.steps().length).toBeGreaterThan(10);
  }
});

afterAll(async () => {
  expect(await collected()).toBe(0);
});
