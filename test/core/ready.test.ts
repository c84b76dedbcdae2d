// Asking whether a value is there, and waiting for it without blocking.
import { describe, expect, test } from "bun:test";
import { readyNow, whenReady } from "../../src/core/ready.ts";
import * as mx from "../../src/index.ts";
import { refusal, said, scoped } from "../helpers.ts";

describe("isAvailable", () => {
  scoped("is true for data, false for what nobody asked for, true once it is computed", () => {
    const data = mx.array([1, 2]);
    const lazy = mx.add(data, 1);
    expect([data.isAvailable, lazy.isAvailable, readyNow(lazy)]).toEqual([true, false, false]);
    mx.eval(lazy);
    expect([lazy.isAvailable, readyNow(lazy)]).toEqual([true, true]);
    lazy.dispose();
    expect(refusal(() => lazy.isAvailable)).toStartWith("DisposedError: isAvailable:");
    expect(refusal(() => readyNow(lazy, "ready"))).toStartWith("DisposedError: ready:");
  });
});

describe("ready", () => {
  test("resolves to the array itself, computed", async () => {
    using data = mx.array([1, 2]);
    using lazy = mx.add(data, 1);
    expect(await lazy.ready()).toBe(lazy);
    expect(lazy.isAvailable).toBe(true);
    expect(await data.ready()).toBe(data);
    expect(lazy.tolist()).toEqual([2, 3]);
  });

  test("many at once, also one array twice", async () => {
    const arrays = Array.from({ length: 50 }, (_, i) => mx.multiply(mx.array([i]), 2));
    await Promise.all([...arrays, ...arrays].map((array) => array.ready()));
    expect(arrays.map((array) => (array.tolist() as number[])[0])).toEqual(arrays.map((_, i) => 2 * i));
    mx.dispose(arrays);
  });

  test("rejects for a disposed array, before and during the wait", async () => {
    const gone = mx.array(1);
    gone.dispose();
    expect(gone.ready()).rejects.toThrow("asyncEval: this Array was already disposed");
    const leaving = mx.matmul(mx.zeros([600, 600]), mx.zeros([600, 600]));
    const waiting = whenReady(leaving).then(
      () => "resolved",
      (error: Error) => error.name,
    );
    leaving.dispose();
    expect(["resolved", "DisposedError"]).toContain(await waiting);
    mx.collectForgotten();
  });

  test("a signal ends the wait with its reason, before and during it; the work goes on", async () => {
    using lazy = mx.add(mx.array([1, 2]), 1);
    expect(lazy.ready({ signal: AbortSignal.abort(new Error("not today")) })).rejects.toThrow("not today");
    expect(lazy.isAvailable).toBe(false);
    expect(lazy.ready({ signal: "stop" as never })).rejects.toThrow(
      'ready: signal must be an AbortSignal, got "stop".',
    );
    expect(lazy.ready({ sginal: 1 } as never)).rejects.toThrow('unknown option "sginal". Did you mean "signal"?');
    using big = mx.tidy(() => mx.matmul(mx.ones([900, 900]), mx.ones([900, 900])));
    const controller = new AbortController();
    const waiting = big.ready({ signal: controller.signal }).then(
      () => "ready",
      (reason: unknown) => reason,
    );
    controller.abort("enough");
    expect(["ready", "enough"]).toContain((await waiting) as string);
    expect(mx.tidy(() => [big.max().item(), big.min().item()])).toEqual([900, 900]);
    expect(await lazy.ready({ signal: new AbortController().signal })).toBe(lazy);
    mx.collectForgotten();
  });

  test("lets timers run meanwhile", async () => {
    const lines = await said(
      `
      let ticks = 0;
      const timer = setInterval(() => ticks++, 1);
      let x = mx.ones([700, 700]);
      for (let i = 0; i < 12; i++) x = x.matmul(x).multiply(1e-3);
      await x.ready();
      clearInterval(timer);
      say(x.isAvailable, ticks >= 0);
    `,
      { timeout: 60 },
    );
    expect(lines).toEqual(["true true"]);
  });
});
