// runPlanned: order, ownership, the window of ranges that are alive, progress.
import { beforeEach, describe, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import type { Plan } from "../../src/planner/index.ts";
import { refusal } from "../helpers.ts";
import { explicit, rowsOf } from "./plans.ts";
import { watchHandles } from "./watch.ts";

watchHandles();

let start = 0;
beforeEach(() => {
  start = mx.memory().liveHandles;
});
const live = (): number => mx.memory().liveHandles - start;

describe("results", () => {
  test("come in order, computed, and are the caller's", async () => {
    using x = mx.arange(10);
    const calls: number[][] = [];
    const parts = await mx.runPlanned(explicit(), (r0, r1, i) => {
      calls.push([r0, r1, i]);
      return { y: mx.multiply(rowsOf(x, r0, r1), 2), tag: i };
    });
    expect(calls).toEqual([
      [0, 3, 0],
      [3, 6, 1],
      [6, 9, 2],
      [9, 10, 3],
    ]);
    expect(parts.map(({ tag }) => tag)).toEqual([0, 1, 2, 3]);
    expect(parts.every(({ y }) => y.isAvailable)).toBe(true);
    expect(parts.flatMap(({ y }) => y.tolist())).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
    expect(live()).toBe(5);
    mx.dispose(parts);
  });

  test("combine adds them up; without initial it begins with the first result", async () => {
    using x = mx.arange(10);
    const sum = await mx.runPlanned(explicit(), (r0, r1) => mx.sum(rowsOf(x, r0, r1)), {
      combine: (total, part) => total.add(part),
    });
    expect(sum.isAvailable).toBe(true);
    expect(sum.item()).toBe(45);
    expect(live()).toBe(2);
    sum.dispose();
  });

  test("combine gets the range, and what it keeps of a part stays", async () => {
    using x = mx.arange(10);
    using initial = mx.array(100);
    const seen: number[][] = [];
    const total = await mx.runPlanned(
      explicit(10, 4, 1),
      (r0, r1) => ({ sum: mx.sum(rowsOf(x, r0, r1)), rows: mx.square(rowsOf(x, r0, r1)) }),
      {
        initial: { sum: initial, pieces: [] as mx.Array[] },
        combine: (total, part, r0, r1, i) => {
          seen.push([r0, r1, i]);
          return { sum: total.sum.add(part.sum), pieces: [...total.pieces, part.rows] };
        },
      },
    );
    expect(seen).toEqual([
      [0, 4, 0],
      [4, 8, 1],
      [8, 10, 2],
    ]);
    expect(total.sum.item()).toBe(145);
    expect(total.pieces.flatMap((piece) => piece.tolist())).toEqual([0, 1, 4, 9, 16, 25, 36, 49, 64, 81]);
    expect(initial.disposed).toBe(false);
    expect(live()).toBe(6);
    mx.dispose(total);
  });

  test("combine may return what it was given, or a plain value", async () => {
    using first = mx.array(1);
    const step = (r0: number): mx.Array => mx.add(first, r0);
    const same = await mx.runPlanned(explicit(), step, { initial: first, combine: (total) => total });
    expect(same).toBe(first);
    const last = await mx.runPlanned(explicit(), step, { combine: (_, part) => part });
    expect(last.item()).toBe(10);
    last.dispose();
    const number = await mx.runPlanned(explicit(), step, { initial: 0, combine: (n, part) => n + Number(part.item()) });
    expect(number).toBe(1 + 4 + 7 + 10);
    expect(live()).toBe(1);
  });

  test("arrays of others are never freed: arguments, and what a step kept", async () => {
    using x = mx.array([1, 2]);
    const cache: mx.Array[] = [];
    const step = (r0: number): mx.Array[] => {
      cache.push(mx.keep(mx.add(x, r0)));
      return [x, cache.at(-1)!, mx.multiply(x, r0)];
    };
    const sum = await mx.runPlanned(explicit(), step, {
      initial: x,
      combine: (total, part) => mx.add(total, part[2]!),
    });
    expect(sum.tolist()).toEqual([19, 38]);
    expect([x, ...cache].map(({ disposed }) => disposed)).toEqual([false, false, false, false, false]);
    expect(live()).toBe(6);
    mx.dispose([sum, cache]);
  });

  test("temporaries of step and combine are freed at once", async () => {
    using x = mx.arange(1000);
    let most = 0;
    const sum = await mx.runPlanned(
      explicit(1000, 10, 1),
      (r0, r1) => {
        most = Math.max(most, live());
        return mx.sum(mx.exp(mx.multiply(rowsOf(x, r0, r1), 0)));
      },
      { combine: (total, part) => total.multiply(1).add(part) },
    );
    // The input, the total and the part before.
    expect(most).toBeLessThanOrEqual(3);
    expect(sum.item()).toBe(1000);
    sum.dispose();
  });

  test("a run that is started inside of tidy keeps what it owns", async () => {
    using x = mx.arange(10);
    let run: Promise<mx.Array[]> | undefined;
    mx.tidy(() => {
      run = mx.runPlanned(explicit(), (r0, r1) => mx.add(rowsOf(x, r0, r1), 1));
    });
    const parts = await run!;
    expect(parts.flatMap((part) => part.tolist())).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    mx.dispose(parts);
  });

  test("pending is computed before the first range", async () => {
    using x = mx.tidy(() => mx.exp(mx.zeros([10])));
    const plan: Plan<"explicit"> = { ...explicit(10, 5, 1), commitFirst: true };
    const missing = refusal(() => mx.runPlanned(plan, (r0, r1) => rowsOf(x, r0, r1)));
    expect(missing).toStartWith("TypeError: runPlanned: the plan wants what precedes it to be committed first");
    const parts = await mx.runPlanned(plan, (r0, r1) => mx.negative(rowsOf(x, r0, r1)), { pending: [x] });
    expect(x.isAvailable).toBe(true);
    mx.dispose(parts);
    mx.dispose(await mx.runPlanned(plan, (r0) => mx.array(r0), { pending: [] }));
  });
});

describe("the window", () => {
  test.each([1, 2, 3, 5])("at most %d ranges are alive", async (window) => {
    using x = mx.random.normal([20, 200, 200]);
    using zeros = mx.zeros([200, 200]);
    mx.eval(x, zeros);
    const parts: mx.Array[] = [];
    const inFlight: number[] = [];
    let most = 0;
    const total = await mx.runPlanned(
      explicit(20, 2, window),
      (r0, r1, i) => {
        // Those before that still hold memory, and this one.
        most = Math.max(most, parts.filter(({ disposed }) => !disposed).length + 1);
        expect(parts.slice(0, Math.max(0, i - window + 1)).every(({ disposed }) => disposed)).toBe(true);
        let y = rowsOf(x, r0, r1);
        for (let j = 0; j < 4; j++) y = mx.matmul(mx.tanh(y), y);
        parts.push(mx.sum(y, { axis: 0 }));
        return parts[i]!;
      },
      {
        initial: zeros,
        combine: (sum, part) => sum.add(part),
        progress: (state) => inFlight.push(state.inFlight),
      },
    );
    expect(most).toBeLessThanOrEqual(window);
    // The ranges take milliseconds, so that a window of two is in use.
    if (window > 1) expect(most).toBeGreaterThan(1);
    expect(Math.max(...inFlight)).toBeLessThan(window);
    expect(inFlight.at(-1)).toBe(0);
    expect(parts.every(({ disposed }) => disposed)).toBe(true);
    total.dispose();
  });

  test("memory stays at that of a window of parts and the total", async () => {
    const bytes = 2 ** 20;
    for (const window of [1, 2, 4]) {
      mx.synchronize();
      mx.clearCache();
      const before = mx.activeMemory();
      mx.resetPeakMemory();
      const total = await mx.runPlanned(
        explicit(40, 1, window),
        (r0) => mx.add(mx.broadcastTo(mx.array(r0), [bytes / 4]), 0.5),
        { combine: (sum, part) => sum.add(part) },
      );
      const peak = mx.peakMemory() - before;
      // A page for the little things of each.
      expect(peak).toBeLessThanOrEqual((window + 1) * (bytes + 32_768));
      expect(total.get(0).item()).toBe(780 + 20);
      mx.dispose(total);
      mx.collectForgotten();
    }
  });
});

describe("progress", () => {
  test("is told each range once, in order, when its values are there", async () => {
    const told: mx.RangeProgress[] = [];
    const arrays: mx.Array[] = [];
    const parts = await mx.runPlanned(
      explicit(),
      (r0, r1) => {
        arrays.push(mx.ones([r1 - r0]));
        return arrays.at(-1)!;
      },
      {
        progress: (state) => {
          told.push(state);
          expect(arrays[state.done - 1]!.isAvailable).toBe(true);
        },
      },
    );
    expect(told.map(({ r0, r1, done, total }) => [r0, r1, done, total])).toEqual([
      [0, 3, 1, 4],
      [3, 6, 2, 4],
      [6, 9, 3, 4],
      [9, 10, 4, 4],
    ]);
    expect(told.at(-1)!.inFlight).toBe(0);
    mx.dispose(parts);
  });

  test("the event loop turns between ranges: a timer goes on", async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    const seen: number[] = [];
    const parts = await mx.runPlanned(explicit(10, 1, 1), (r0) => {
      seen.push(ticks);
      // Longer than the timer, and nothing but a wait: each range finds at least one tick more than the one before.
      Bun.sleepSync(25);
      return mx.array(r0);
    });
    clearInterval(timer);
    expect(seen.slice(1).every((count, i) => count > seen[i]!)).toBe(true);
    mx.dispose(parts);
  });
});
