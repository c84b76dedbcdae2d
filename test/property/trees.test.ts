// Random trees: their leaves, their copies, and what survives a tidy.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { formLeaves, leaves, mapLeaves } from "../../src/core/tree.ts";
import * as mx from "../../src/index.ts";

const runs = 200;

/** A tree without its arrays: a number stands for an array that holds it, text and null for themselves. */
type Plan = number | string | null | Plan[] | { [key: string]: Plan } | Map<string, Plan>;

const keys = fc.oneof(fc.stringMatching(/^[a-z_]{1,6}$/), fc.constantFrom("0", "10", "2", "constructor", "A_log", ""));

const plans: fc.Arbitrary<Plan> = fc.letrec<{ tree: Plan }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.nat(1000),
    fc.constantFrom<Plan>("text", null),
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.dictionary(keys, tie("tree"), { maxKeys: 4, noNullPrototype: true }),
    fc.array(fc.tuple(keys, tie("tree")), { maxLength: 3 }).map((entries) => new Map(entries)),
  ),
})).tree;

/** The tree of a plan: its own walk, by the kind of each node. */
function grow(plan: Plan, leaf: (value: number) => unknown): unknown {
  if (typeof plan === "number") return leaf(plan);
  if (typeof plan === "string" || plan === null) return plan;
  if (Array.isArray(plan)) return plan.map((item) => grow(item, leaf));
  if (plan instanceof Map) return new Map([...plan].map(([key, item]) => [key, grow(item, leaf)]));
  return Object.fromEntries(Object.entries(plan).map(([key, item]) => [key, grow(item, leaf)]));
}

/** The numbers of a plan, in the order of the tree. */
function numbers(plan: Plan): number[] {
  const found: number[] = [];
  grow(plan, (value) => found.push(value));
  return found;
}

const make = (value: number): mx.Array => mx.array(value);

describe("random trees:", () => {
  test("leaves and formLeaves find every array, in order", () => {
    fc.assert(
      fc.property(plans, (plan) => {
        mx.tidy(() => {
          const tree = grow(plan, make);
          const expected = numbers(plan);
          expect(leaves<mx.Array>(tree).map((leaf) => leaf.item())).toEqual(expected);
          expect(formLeaves<mx.Array>(tree, "tree").map((leaf) => leaf.item())).toEqual(expected);
        });
      }),
      { numRuns: runs },
    );
  });

  test("mapLeaves keeps the form, and leaves the tree as it was", () => {
    fc.assert(
      fc.property(plans, (plan) => {
        mx.tidy(() => {
          const tree = grow(plan, make);
          const mapped = mapLeaves<mx.Array>(tree, (leaf) => leaf.item());
          expect(mapped).toEqual(plan);
          expect(leaves<mx.Array>(tree).map((leaf) => leaf.item())).toEqual(numbers(plan));
        });
      }),
      { numRuns: runs },
    );
  });

  test("tidy frees all but what it returns, and dispose frees that", () => {
    fc.assert(
      fc.property(plans, fc.nat(5), (plan, temporaries) => {
        const before = mx.memory().liveHandles;
        const count = numbers(plan).length;
        const tree = mx.tidy((): unknown => {
          for (let i = 0; i < temporaries; i++) make(i).add(1);
          return grow(plan, (value) => make(value).add(0));
        });
        expect(mx.memory().liveHandles).toBe(before + count);
        expect(leaves<mx.Array>(tree).map((leaf) => leaf.item())).toEqual(numbers(plan));
        mx.dispose(tree);
        expect(mx.memory().liveHandles).toBe(before);
      }),
      { numRuns: runs },
    );
  });

  test("a gradient has the form of its argument", () => {
    fc.assert(
      fc.property(
        plans.filter((plan) => numbers(plan).length > 0),
        (plan) => {
          const before = mx.memory().liveHandles;
          mx.tidy(() => {
            // The sum of squares: the gradient of each array is twice itself.
            const squares = (tree: unknown): mx.Array =>
              leaves<mx.Array>(tree).reduce<mx.Array>((sum, leaf) => sum.add(leaf.square()), mx.array(0));
            const tree = grow(plan, make);
            const gradient = mx.grad(squares)(tree);
            expect(mapLeaves<mx.Array>(gradient, (leaf) => leaf.item())).toEqual(grow(plan, (value) => 2 * value));
          });
          expect(mx.memory().liveHandles).toBe(before);
        },
      ),
      { numRuns: runs },
    );
  });
});
