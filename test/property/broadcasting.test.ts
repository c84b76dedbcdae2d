// Binary operations on random shapes that broadcast, and on shapes that do not.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import * as mx from "../../src/index.ts";
import { arrayOf, layouts, pairs, shapes } from "./arbitraries.ts";
import { requireSame } from "./checks.ts";
import { broadcastElement, broadcastShape, makeGrid, offsetOf } from "./reference.ts";

const runs = 300;

// Exact on the small integers below.
const operations: Record<string, [(a: mx.Array, b: mx.Array) => mx.Array, (a: number, b: number) => number]> = {
  add: [mx.add, (a, b) => a + b],
  subtract: [mx.subtract, (a, b) => a - b],
  multiply: [mx.multiply, (a, b) => a * b],
  maximum: [mx.maximum, Math.max],
  minimum: [mx.minimum, Math.min],
  "the method add": [(a, b) => a.add(b), (a, b) => a + b],
  "where, by a comparison": [(a, b) => mx.where(a.less(b), a, b), Math.min],
};

const names = fc.constantFrom(...Object.keys(operations));

describe("random shapes:", () => {
  test("that go together broadcast", () => {
    fc.assert(
      fc.property(pairs, layouts, layouts, names, ([a, b], layoutA, layoutB, name) => {
        const [operation, reference] = operations[name]!;
        const x = makeGrid(a, (position) => offsetOf(position, a) - 7);
        const y = makeGrid(b, (position) => 5 - offsetOf(position, b));
        const expected = makeGrid(broadcastShape(a, b)!, (at) =>
          reference(broadcastElement(x, at), broadcastElement(y, at)),
        );
        mx.tidy(() => {
          const found = operation(arrayOf(x, layoutA), arrayOf(y, layoutB));
          requireSame(found, expected, () => `${name} of [${a.join(", ")}] and [${b.join(", ")}]`);
        });
      }),
      { numRuns: runs },
    );
  });

  test("that do not go together are refused, and named", () => {
    const strangers = fc.tuple(shapes(3), shapes(3)).filter(([a, b]) => broadcastShape(a, b) === null);
    fc.assert(
      fc.property(strangers, ([a, b]) => {
        mx.tidy(() => {
          const [x, y] = [mx.zeros(a), mx.zeros(b)];
          const named = new RegExp(`\\[${a.join(", ")}\\].*\\[${b.join(", ")}\\]`);
          expect(() => mx.add(x, y)).toThrow(named);
          expect(() => mx.add(x, y)).toThrow(mx.MlxError);
        });
      }),
      { numRuns: runs },
    );
  });

  test("broadcastTo repeats what is there", () => {
    fc.assert(
      fc.property(pairs, layouts, ([a, b], layout) => {
        const shape = broadcastShape(a, b)!;
        const x = makeGrid(a, (position) => offsetOf(position, a));
        mx.tidy(() => {
          const found = mx.broadcastTo(arrayOf(x, layout), shape);
          const expected = makeGrid(shape, (at) => broadcastElement(x, at));
          requireSame(found, expected, () => `[${a.join(", ")}] to [${shape.join(", ")}]`);
        });
      }),
      { numRuns: runs },
    );
  });
});
