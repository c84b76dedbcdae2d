// A state that changes its form between calls of a compiled function: each call sees what is there then.
import { expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { collected } from "../collected.ts";
import { scoped } from "../helpers.ts";

const one = (value: number): mx.Array => mx.array([value]);

/** The sum of everything in the state: a wrong or stale array shows at once. */
function summing(state: unknown): () => number {
  const arrays = (node: unknown): mx.Array[] => {
    if (node instanceof mx.Array) return [node];
    if (node instanceof Map) return [...node.values()].flatMap(arrays);
    return typeof node === "object" && node !== null ? Object.values(node).flatMap(arrays) : [];
  };
  const compiled = mx.compile(() => arrays(state).reduce((sum, array) => sum.add(array), one(0)), { state });
  return () => compiled().item() as number;
}

scoped("objects: another array, another container, more keys, fewer keys, another order, a number instead", () => {
  const state: Record<string, unknown> = { a: one(1), b: { c: one(2) }, d: [one(4)], note: 5 };
  const sum = summing(state);
  expect([sum(), sum()]).toEqual([7, 7]);
  state.a = one(8);
  expect([sum(), sum()]).toEqual([14, 14]);
  state.b = { c: one(16) };
  expect([sum(), sum()]).toEqual([28, 28]);
  state.e = one(32);
  expect([sum(), sum()]).toEqual([60, 60]);
  delete state.a;
  expect([sum(), sum()]).toEqual([52, 52]);
  const d = state.d;
  delete state.d;
  state.d = d;
  expect([sum(), sum()]).toEqual([52, 52]);
  state.e = 3;
  expect([sum(), sum()]).toEqual([20, 20]);
  state.note = one(64);
  expect([sum(), sum()]).toEqual([84, 84]);
  state.d = one(128);
  expect([sum(), sum()]).toEqual([208, 208]);
  (state.b as Record<string, unknown>).f = [one(256)];
  expect([sum(), sum()]).toEqual([464, 464]);
});

scoped("lists and Maps", () => {
  const list: mx.Array[] = [one(1), one(2)];
  const map = new Map<string, unknown>([["a", one(4)]]);
  const sum = summing([list, map]);
  expect([sum(), sum()]).toEqual([7, 7]);
  list.push(one(8));
  expect([sum(), sum()]).toEqual([15, 15]);
  list.length = 1;
  expect([sum(), sum()]).toEqual([5, 5]);
  map.set("b", one(16));
  expect([sum(), sum()]).toEqual([21, 21]);
  map.delete("a");
  expect([sum(), sum()]).toEqual([17, 17]);
  map.set("b", [one(32)]);
  expect([sum(), sum()]).toEqual([33, 33]);
});

test("what the state held before is not kept alive by the compiled function", async () => {
  const state = { a: one(1) };
  const compiled = mx.compile(() => state.a.add(1), { state });
  compiled().dispose();
  const before = await collected();
  for (let i = 0; i < 50; i++) {
    compiled().dispose();
    state.a = one(i);
  }
  expect(await collected(before)).toBeLessThanOrEqual(before);
  expect(compiled().item()).toBe(50);
  mx.dispose(state);
  compiled.dispose();
});
