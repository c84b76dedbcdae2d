// Whatever a program does, in any order, its traces are well formed: spans that nest, promises that overlap, errors,
// recordings that begin and end anywhere, buffers that are too small.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { opHook, tracer } from "../../src/core/hooks.ts";
import * as mx from "../../src/index.ts";
import * as trace from "../../src/trace/index.ts";
import { traceProblems } from "./schema.ts";

type Step =
  | { kind: "op" | "eval" | "grad" | "mark" | "start" | "startFine" | "stop" }
  | { kind: "span" | "throw" | "compile" | "promise"; inside: Step[] };

const { steps } = fc.letrec<{ step: Step; steps: Step[] }>((tie) => ({
  step: fc.oneof(
    { maxDepth: 4 },
    fc.record({
      kind: fc.constantFrom("op", "eval", "grad", "mark", "start", "startFine", "stop"),
    }) as fc.Arbitrary<Step>,
    fc.record({
      kind: fc.constantFrom("span", "throw", "compile", "promise"),
      inside: tie("steps"),
    }) as fc.Arbitrary<Step>,
  ),
  steps: fc.array(tie("step"), { maxLength: 5 }),
}));

class Program {
  readonly open: trace.Recording[] = [];
  readonly all: trace.Recording[] = [];
  readonly promises: Promise<unknown>[] = [];
  readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  start(fine: boolean): void {
    const recording = trace.record({ limit: this.limit, fine, summary: false });
    this.open.push(recording);
    this.all.push(recording);
  }

  run(list: readonly Step[]): void {
    for (const step of list) this.step(step);
  }

  step(step: Step): void {
    switch (step.kind) {
      case "op":
        return mx.add(1, 2).dispose();
      case "eval":
        return mx.tidy(() => mx.eval(mx.add(1, 2)));
      case "grad":
        return mx.tidy(() => void mx.grad((x: mx.Array) => x.square())(mx.array(2)));
      case "mark":
        return trace.mark("mark");
      case "start":
      case "startFine":
        return this.start(step.kind === "startFine");
      case "stop":
        return this.open.splice(Math.floor(this.open.length / 2), 1)[0]?.dispose();
      case "span":
        return trace.span("span", () => this.run(step.inside));
      case "compile": {
        using f = mx.compile((x: mx.Array) => {
          this.run(step.inside);
          return x.add(1);
        });
        return mx.tidy(() => void f(mx.array(1)));
      }
      case "throw":
        try {
          trace.span("throw", () => {
            this.run(step.inside);
            throw new Error("thrown");
          });
        } catch (error) {
          if ((error as Error).message !== "thrown") throw error;
        }
        return;
      case "promise":
        this.promises.push(
          trace.span("promise", async () => {
            this.run(step.inside);
            await Promise.resolve();
            this.run(step.inside);
          }),
        );
    }
  }
}

test("every trace of every program is well formed", async () => {
  const handles = mx.memory().liveHandles;
  let events = 0;
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 40 }), async (list, limit) => {
      const program = new Program(limit);
      program.start(false);
      program.run(list);
      // While it is running, and when it is over.
      for (const recording of program.all) expect(traceProblems(recording.toJSON())).toEqual([]);
      await Promise.all(program.promises);
      for (const recording of program.open) recording.dispose();
      for (const recording of program.all) {
        const file = recording.toJSON();
        expect(traceProblems(file)).toEqual([]);
        expect(recording.length).toBeLessThanOrEqual(limit);
        events += file.traceEvents.length;
      }
      expect(opHook).toBeNull();
      expect(tracer).toBeNull();
    }),
    { numRuns: 1000, seed: 7 },
  );
  expect(events).toBeGreaterThan(3000);
  expect(mx.memory().liveHandles).toBe(handles);
}, 20_000);
