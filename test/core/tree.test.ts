// Trees: which leaves are found, in which order, and which forms can be rebuilt. Pure: any branded object is a leaf.
import { describe, expect, test } from "bun:test";
import { forEachLeaf, formLeaves, isLeaf, leaves, mapLeaves, treeLeaf, treeState } from "../../src/core/tree.ts";
import { refusal } from "../helpers.ts";

class Leaf {
  readonly [treeLeaf] = true as const;
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

const leaf = (name: string): Leaf => new Leaf(name);
const names = (tree: unknown): string[] => leaves<Leaf>(tree).map(({ name }) => name);
const formNames = (tree: unknown): string[] => formLeaves<Leaf>(tree, "tree").map(({ name }) => name);

test("isLeaf", () => {
  expect(isLeaf(leaf("a"))).toBe(true);
  for (const value of [null, undefined, 5, "x", {}, [], (): void => undefined]) expect(isLeaf(value)).toBe(false);
});

describe("leaves", () => {
  test("of lists, objects, Maps, Sets and instances, in order", () => {
    class Instance {
      first = leaf("e");
      second = [leaf("f")];
    }
    const tree = [
      leaf("a"),
      { x: leaf("b"), y: { z: leaf("c") } },
      new Map([[leaf("a key"), leaf("d")]]),
      new Instance(),
      new Set([leaf("g")]),
      5,
      "text",
      null,
      undefined,
      new Float32Array(2),
      new ArrayBuffer(2),
      leaf("h"),
    ];
    expect(names(tree)).toEqual(["a", "b", "c", "d", "e", "f", "g", "h"]);
    expect(names(leaf("alone"))).toEqual(["alone"]);
    expect(names(5)).toEqual([]);
  });

  test("a list that stands twice, or holds itself, is walked once", () => {
    const shared = [leaf("a")];
    const cycle: unknown[] = [shared, shared];
    cycle.push(cycle);
    expect(names(cycle)).toEqual(["a"]);
    // A leaf that stands twice is visited twice.
    expect(names([shared[0], shared[0]])).toEqual(["a", "a"]);
  });

  test("the state protocol replaces the walk over fields", () => {
    const hidden = leaf("state");
    const module = { visible: leaf("field"), [treeState]: { get: () => [hidden], set: (): void => undefined } };
    expect(names([module])).toEqual(["state"]);
  });

  test("forEachLeaf passes on what a visitor throws", () => {
    const mine = new Error("mine");
    expect(() =>
      forEachLeaf([leaf("a"), leaf("b")], () => {
        throw mine;
      }),
    ).toThrow(mine);
  });
});

describe("formLeaves and mapLeaves agree", () => {
  const shared = { s: leaf("s") };
  const cases: [name: string, tree: unknown][] = [
    ["a leaf", leaf("a")],
    ["lists and objects", [leaf("a"), { b: leaf("b"), n: 5, none: null }, [[leaf("c")]]]],
    [
      "a Map",
      new Map<string, unknown>([
        ["x", leaf("a")],
        ["y", [leaf("b"), "text"]],
      ]),
    ],
    ["a list that stands twice", [shared, { again: shared }, [shared.s, shared.s]]],
    ["holes", [, leaf("a"), ,]],
    ["an object without prototype", Object.assign(Object.create(null), { a: leaf("a") })],
    [
      "opaque values without leaves",
      [new Date(0), new Set([1]), /x/, leaf("a"), new Float32Array(1), (): void => undefined],
    ],
    ["nothing", {}],
    ["no tree", 5],
    ["odd names", JSON.parse('{"__proto__": 1}')],
  ];
  test.each(cases)("%s", (_, tree) => {
    const found = formNames(tree);
    const order: string[] = [];
    const copy = mapLeaves(tree, (old: Leaf) => {
      order.push(old.name);
      return leaf(`${old.name}!`);
    });
    expect(order).toEqual(found);
    expect(formNames(copy)).toEqual(found.map((name) => `${name}!`));
  });

  test("the copy has the same form, and what is no leaf by reference", () => {
    const date = new Date(0);
    const original = { list: [leaf("a"), 1], map: new Map([["k", leaf("b")]]), date, text: "t" };
    const copy = mapLeaves(original, ({ name }: Leaf) => name) as typeof original;
    expect(copy as unknown).toEqual({ list: ["a", 1], map: new Map([["k", "b"]]), date, text: "t" });
    expect(copy.date).toBe(date);
    expect(copy.list).not.toBe(original.list);
    expect(original.list[0]).toBeInstanceOf(Leaf);
  });
});

describe("formLeaves refuses", () => {
  test("a tree that holds itself, by any way", () => {
    const cycle: Record<string, unknown> = { a: leaf("a") };
    cycle.deep = [new Map([["x", cycle]])];
    expect(refusal(() => formLeaves(cycle, "grad: argument 0"))).toBe("TypeError: grad: argument 0 holds itself.");
  });

  test("leaves inside of what cannot be rebuilt", () => {
    class Model {
      weight = leaf("w");
    }
    for (const [tree, name] of [
      [new Model(), "Model"],
      [[{ m: new Model() }], "Model"],
      [new Set([leaf("a")]), "Set"],
      [Object.create({}, { a: { value: leaf("a"), enumerable: true } }), "Object"],
    ] as const) {
      expect(refusal(() => formLeaves(tree, "f"))).toBe(
        `TypeError: f holds Arrays inside of a ${name}: use lists, plain objects or Maps.`,
      );
    }
  });

  test("nothing else, and shows every other value to the caller", () => {
    const others: unknown[] = [];
    formLeaves([1, leaf("a"), { x: "t", y: undefined }, new Map([["k", true]])], "f", (value) => others.push(value));
    expect(others).toEqual([1, "t", undefined, true]);
  });
});
