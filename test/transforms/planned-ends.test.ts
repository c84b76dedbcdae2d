// runPlanned that ends early, in packed mode, inside of transforms, and with arguments that make no sense.
import { beforeEach, describe, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import type { Plan } from "../../src/planner/index.ts";
import { caught, inverse, refusal, untyped } from "../helpers.ts";
import { explicit, packed, rejection, rowsOf } from "./plans.ts";
import { watchHandles } from "./watch.ts";

watchHandles();

let start = 0;
beforeEach(() => {
  start = mx.memory().liveHandles;
});
const live = (): number => mx.memory().liveHandles - start;

describe("the end before the end", () => {
  const forever = (r0: number): mx.Array => mx.add(mx.ones([4]), r0);

  test("a signal that has fired starts nothing", async () => {
    const reason = new Error("no");
    let calls = 0;
    const run = mx.runPlanned(explicit(), (r0) => (calls++, forever(r0)), { signal: AbortSignal.abort(reason) });
    expect(await rejection(run)).toBe(reason);
    expect(calls).toBe(0);
  });

  test("a signal ends the run between ranges, and nothing is left", async () => {
    const before = live();
    for (const window of [1, 3]) {
      const controller = new AbortController();
      let calls = 0;
      const step = (r0: number): mx.Array => {
        if (++calls === 4) setTimeout(() => controller.abort(), 0);
        Bun.sleepSync(5);
        return forever(r0);
      };
      const run = mx.runPlanned(explicit(100, 1, window), step, { signal: controller.signal });
      const error = await rejection(run);
      expect(error).toBe(controller.signal.reason);
      expect((error as Error).name).toBe("AbortError");
      expect(calls).toBeLessThan(100);
      expect(live()).toBe(before);
    }
  });

  test("a signal that fires in the last range ends the run, one that fires after it does not", async () => {
    const reason = new Error("late");
    for (const combine of [undefined, (total: mx.Array, part: mx.Array) => total.add(part)]) {
      const controller = new AbortController();
      const options = { signal: controller.signal, ...(combine === undefined ? {} : { combine }) };
      const run = mx.runPlanned(
        explicit(),
        (r0, r1) => {
          if (r1 === 10) controller.abort(reason);
          return forever(r0);
        },
        options,
      );
      expect(await rejection(run)).toBe(reason);
    }
    const controller = new AbortController();
    const parts = await mx.runPlanned(explicit(), forever, {
      signal: controller.signal,
      progress: ({ done, total }) => {
        if (done === total) controller.abort(reason);
      },
    });
    expect(parts.length).toBe(4);
    mx.dispose(parts);
    expect(live()).toBe(0);
  });

  test("any reason comes out as it is", async () => {
    for (const reason of ["text", 0, null]) {
      const controller = new AbortController();
      const run = mx.runPlanned(explicit(), (r0) => (controller.abort(reason), forever(r0)), {
        signal: controller.signal,
        combine: (total, part) => total.add(part),
      });
      expect(await rejection(run)).toBe(reason);
    }
    expect(live()).toBe(0);
  });

  test.each(["step", "combine", "progress"])("what %s throws comes out as the same object", async (where) => {
    const mine = new Error("mine");
    using initial = mx.zeros([4]);
    for (const at of [0, 2]) {
      const fail = (name: string, i: number): void => {
        mx.ones([3]);
        if (name === where && i === at) throw mine;
      };
      const run = mx.runPlanned(
        explicit(),
        (r0, _, i) => {
          fail("step", i);
          return forever(r0);
        },
        {
          initial,
          combine: (total, part, _r0, _r1, i) => {
            fail("combine", i);
            return total.add(part);
          },
          progress: ({ done }) => {
            if (where === "progress" && done - 1 === at) throw mine;
          },
        },
      );
      expect(await rejection(run)).toBe(mine);
      expect(live()).toBe(1);
      expect(initial.tolist()).toEqual([0, 0, 0, 0]);
    }
  });

  test("undefined can be thrown too", async () => {
    let failed = false;
    const step = (): mx.Array => {
      throw undefined;
    };
    await mx.runPlanned(explicit(), step).then(undefined, (error: unknown) => {
      failed = error === undefined;
    });
    expect(failed).toBe(true);
  });

  test("a failed evaluation is MLX's own error", async () => {
    for (const window of [1, 4]) {
      const run = mx.runPlanned(explicit(6, 1, window), (r0) =>
        r0 === 1 ? inverse(mx.zeros([2, 2])) : mx.ones([2, 2]),
      );
      const error = await rejection(run);
      expect(error).toBeInstanceOf(mx.MlxError);
      expect((error as Error).message).toMatch(/inverse|singular|inv/i);
    }
    expect(live()).toBe(0);
  });

  test("a promise, or nothing to compute, is no result", async () => {
    const noArray = await rejection(mx.runPlanned(explicit(), (): unknown => 3));
    expect(String(noArray)).toBe("TypeError: runPlanned: step must return an Array or a tree of them, got 3.");
    const late = untyped<() => mx.Array>(async () => mx.array(1));
    expect(String(await rejection(mx.runPlanned(explicit(), late)))).toStartWith(
      "TypeError: runPlanned: the function returned a promise, but step is done when it returns",
    );
    const lateSum = mx.runPlanned(explicit(), forever, {
      combine: untyped<() => mx.Array>(async () => mx.array(1)),
    });
    expect(String(await rejection(lateSum))).toContain("combine is done when it returns");
    mx.collectForgotten();
  });
});

describe("packed mode", () => {
  test("gives the result at once, as a graph, to the scope that it is called in", () => {
    using x = mx.arange(10);
    const before = live();
    const told: number[][] = [];
    const parts = mx.runPlanned(packed(), (r0, r1) => mx.multiply(rowsOf(x, r0, r1), 2), {
      progress: ({ done, total, inFlight }) => told.push([done, total, inFlight]),
    });
    expect(parts.some((part) => part.isAvailable)).toBe(false);
    expect(parts.flatMap((part) => part.tolist())).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
    expect(told).toEqual([
      [1, 4, 0],
      [2, 4, 0],
      [3, 4, 0],
      [4, 4, 0],
    ]);
    mx.dispose(parts);
    mx.tidy(() => void mx.runPlanned(packed(), (r0, r1) => rowsOf(x, r0, r1)));
    expect(live()).toBe(before);
  });

  test("throws what is thrown, and the reason of a signal", () => {
    const mine = new Error("mine");
    const step = (r0: number): mx.Array => {
      if (r0 > 5) throw mine;
      return mx.exp(mx.array(r0));
    };
    expect(caught(() => mx.runPlanned(packed(), step))).toBe(mine);
    expect(caught(() => mx.runPlanned(packed(), step, { signal: AbortSignal.abort(mine) }))).toBe(mine);
    expect(live()).toBe(0);
  });

  test("works inside of grad, vmap and compile", () => {
    using x = mx.arange(10);
    const squares = (a: mx.Array): mx.Array =>
      mx.runPlanned(packed(), (r0, r1) => mx.sum(mx.square(rowsOf(a, r0, r1))), {
        combine: (total, part) => total.add(part),
      });
    using gradient = mx.grad(squares)(x);
    expect(gradient.tolist()).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
    using batch = mx.tidy(() => mx.stack([x, mx.ones([10])]));
    using rows = mx.vmap(squares)(batch);
    expect(rows.tolist()).toEqual([285, 10]);
    using compiled = mx.compile(squares);
    using value = compiled(x);
    expect(value.item()).toBe(285);
  });
});

describe("refusals", () => {
  const step = (r0: number): mx.Array => mx.array(r0);

  test("explicit mode inside of a transform", () => {
    using x = mx.arange(10);
    const inside = (a: mx.Array): mx.Array => {
      void mx.runPlanned(explicit(), (r0, r1) => rowsOf(a, r0, r1));
      return mx.sum(a);
    };
    const message =
      'MlxError: runPlanned: a plan in explicit mode evaluates after each range, which is not possible inside of a function given to grad, vmap, compile or another transform. Make the plan with mode: "packed".';
    using compiled = mx.compile(inside);
    const nested = mx.vmap(mx.grad(inside));
    using two = mx.ones([2, 10]);
    for (const run of [
      () => mx.grad(inside)(x),
      () => mx.valueAndGrad(inside)(x),
      () => mx.vmap(inside)(two),
      () => compiled(x),
      () => mx.checkpoint(inside)(x),
      () => mx.grad(mx.customFunction(inside, { vjp: (_, cotangent) => cotangent }))(x),
      () => mx.vjp(inside, [x], [x]),
      () => mx.jvp(inside, [x], [x]),
      () => nested(two),
    ]) {
      expect(refusal(run)).toBe(message);
    }
  });

  test("a transform inside of a step is fine", async () => {
    using x = mx.arange(10);
    const parts = await mx.runPlanned(explicit(), (r0, r1) =>
      mx.grad((a: mx.Array) => mx.sum(mx.square(a)))(rowsOf(x, r0, r1)),
    );
    expect(parts.flatMap((part) => part.tolist())).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
    mx.dispose(parts);
  });

  test("bounds that are changed while the ranges run change nothing", async () => {
    const plan = explicit(6, 2, 1);
    const seen: number[][] = [];
    const parts = await mx.runPlanned(plan, (r0, r1) => {
      seen.push([r0, r1]);
      (plan.bounds as Int32Array).fill(7);
      return mx.ones([r1 - r0]);
    });
    expect(seen).toEqual([
      [0, 2],
      [2, 4],
      [4, 6],
    ]);
    mx.dispose(parts);
  });

  test("arguments that make no sense throw at once", () => {
    const bad = (plan: unknown, ...rest: unknown[]): string =>
      refusal(() =>
        mx.runPlanned(untyped<Plan>(plan), untyped<typeof step>(rest[0] ?? step), untyped<object>(rest[1])),
      );
    const whole = explicit();
    const noPlan = "TypeError: runPlanned: plan must be one that planRanges of mlx-ts/planner made, got ";
    expect(bad(null)).toBe(`${noPlan}null.`);
    expect(bad({ ...whole, mode: "other" })).toStartWith(noPlan);
    expect(bad({ ...whole, bounds: [0, 1] })).toStartWith(noPlan);
    expect(bad({ ...whole, bounds: new Int32Array(1) })).toBe("RangeError: runPlanned: plan has no range.");
    expect(bad({ ...whole, bounds: Int32Array.of(0, 2, 2) })).toBe(
      "RangeError: runPlanned: plan.bounds must ascend from 0, got 2 before 2.",
    );
    for (const window of [0, 1.5, Number.NaN, "2"]) {
      expect(bad({ ...whole, memory: { window } })).toStartWith("RangeError: runPlanned: plan.memory.window must be");
    }
    expect(bad(whole, 3)).toBe("TypeError: runPlanned: expected a function, got 3.");
    expect(bad(whole, step, { combine: 1 })).toBe("TypeError: runPlanned: combine must be a function, got 1.");
    expect(bad(whole, step, { progress: {} })).toStartWith("TypeError: runPlanned: progress must be a function");
    expect(bad(whole, step, { initial: 1 })).toBe("TypeError: runPlanned: initial is given without combine.");
    expect(bad(whole, step, { signal: 1 })).toBe("TypeError: runPlanned: signal must be an AbortSignal, got 1.");
    expect(bad(whole, step, { windows: 1 })).toStartWith('TypeError: runPlanned: unknown option "windows".');
  });
});
