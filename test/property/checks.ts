// One random index, read or written by the library and by the reference. Shared by the tests and by the long run.
import fc from "fast-check";
import * as mx from "../../src/index.ts";
import { arrayOf, counted, type Index, indices, type Layout, layouts, shapes, values, written } from "./arbitraries.ts";
import { type Grid, makeGrid, nested, offsetOf, read, select, write, writeMask } from "./reference.ts";

/** Equal shapes and elements; -0 is 0, as the reference does not follow signs of zero. */
export function requireSame(found: mx.Array, expected: Grid, what: () => string): void {
  const list = found.tolist();
  const same = JSON.stringify(found.shape) === JSON.stringify(expected.shape) && alike(list, nested(expected));
  if (same) return;
  throw new Error(
    `${what()}\n  gave     [${found.shape.join(", ")}] ${JSON.stringify(list)}\n  expected [${expected.shape.join(", ")}] ${JSON.stringify(nested(expected))}`,
  );
}

function alike(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => alike(item, b[i]));
  return a === b;
}

export interface GetCase {
  kind: "get";
  shape: number[];
  layout: Layout;
  index: Index;
}

export interface UpdateCase {
  kind: "update";
  shape: number[];
  layout: Layout;
  index: Index;
  method: keyof typeof meetings;
  value: Grid;
  /** The value as a plain number, where it is one. */
  scalar: boolean;
}

export interface MaskCase {
  kind: "mask";
  shape: number[];
  layout: Layout;
  mask: Grid;
  value: Grid;
  inOrder: boolean;
}

export interface BadCase {
  kind: "bad";
  shape: number[];
  index: Index;
  place: number;
  bad: unknown;
}

export type Case = GetCase | UpdateCase | MaskCase | BadCase;

/** How a value meets what is there. */
export const meetings = {
  set: (_: number, value: number): number => value,
  add: (before: number, value: number): number => before + value,
  subtract: (before: number, value: number): number => before - value,
  multiply: (before: number, value: number): number => before * value,
  divide: (before: number, value: number): number => before / value,
  maximum: (before: number, value: number): number => Math.max(before, value),
  minimum: (before: number, value: number): number => Math.min(before, value),
};

export const getCases: fc.Arbitrary<GetCase> = shapes().chain((shape) =>
  fc.record({ kind: fc.constant("get" as const), shape: fc.constant(shape), layout: layouts, index: indices(shape) }),
);

const methods = fc.constantFrom(...(Object.keys(meetings) as (keyof typeof meetings)[]));

export const updateCases: fc.Arbitrary<UpdateCase> = shapes(3)
  .chain((shape) => fc.tuple(fc.constant(shape), layouts, indices(shape), methods))
  // `at()` of no index at all is refused.
  .map(([shape, layout, index, method]) => ({
    shape,
    layout,
    index: index.parts.length > 0 ? index : { parts: [{ kind: "ellipsis" } as const], forms: ["list" as const] },
    method,
  }))
  .chain((one) => {
    const { shape: place, sources } = select(one.shape, one.index.parts);
    const repeated = new Set(sources.map((source) => offsetOf(source, one.shape))).size < sources.length;
    // Which of several values a repeated place keeps is not said: there they are all one.
    const value = one.method === "set" && repeated ? values([]) : values(place);
    return fc.record({
      kind: fc.constant("update" as const),
      shape: fc.constant(one.shape),
      layout: fc.constant(one.layout),
      index: fc.constant(one.index),
      method: fc.constant(one.method),
      value,
      scalar: fc.boolean(),
    });
  });

export const maskCases: fc.Arbitrary<MaskCase> = shapes(3)
  .chain((shape) =>
    fc.tuple(
      fc.constant(shape),
      layouts,
      fc.integer({ min: 0, max: shape.length }),
      fc.infiniteStream(fc.boolean()),
      fc.boolean(),
    ),
  )
  .map(([shape, layout, axes, bits, inOrder]) => {
    const mask = makeGrid(shape.slice(0, axes), () => (bits.next().value ? 1 : 0));
    const count = mask.values.filter((bit) => bit === 1).length;
    const rest = shape.slice(axes);
    // One value for each element that is written, or one for all of a place.
    const place = inOrder ? [count, ...rest] : rest;
    return {
      kind: "mask" as const,
      shape,
      layout,
      mask,
      value: makeGrid(place, (p) => -1 - offsetOf(p, place)),
      inOrder,
    };
  });

const bads: fc.Arbitrary<unknown> = fc.constantFrom<unknown>(
  99,
  -99,
  2 ** 32,
  0.5,
  NaN,
  Infinity,
  [99],
  [0, -99],
  [[0], [99]],
  [0.5],
  ["0"],
  [null],
  "::0",
  "1:2:0",
  "",
  ":::",
  "1;3",
  "a:b",
  "1.5:",
  "0",
  undefined,
  true,
  {},
  () => 0,
  Symbol("index"),
  2n ** 70n,
);

export const badCases: fc.Arbitrary<BadCase> = shapes(3)
  .filter((shape) => shape.length > 0)
  .chain((shape) => fc.tuple(fc.constant(shape), indices(shape), fc.nat(4), bads))
  .map(([shape, index, place, bad]) => ({ kind: "bad" as const, shape, index, place, bad }));

export const cases: fc.Arbitrary<Case> = fc.oneof(
  { weight: 4, arbitrary: getCases },
  { weight: 4, arbitrary: updateCases },
  { weight: 1, arbitrary: maskCases },
  { weight: 1, arbitrary: badCases },
);

export function describeCase(one: Case): string {
  const plain = (value: unknown): unknown =>
    typeof value === "bigint" || typeof value === "symbol" || typeof value === "function" ? String(value) : value;
  return JSON.stringify(one, (_, value: unknown) => plain(value));
}

/** Runs a case; throws an error that describes it when the library and the reference disagree. */
export function check(one: Case): void {
  mx.tidy(() => {
    const what = (): string => describeCase(one);
    if (one.kind === "bad") return checkBad(one);
    const grid = counted(one.shape);
    const x = arrayOf(grid, one.layout);
    if (one.kind === "get") return requireSame(x.get(...written(one.index)), read(grid, one.index.parts), what);
    if (one.kind === "mask") {
      const mask = arrayOf(one.mask, "plain", "bool");
      const expected = writeMask(grid, one.mask, one.value, one.inOrder);
      return requireSame(x.at(mask).set(arrayOf(one.value, "plain")), expected, what);
    }
    const { value, method, index } = one;
    const given = one.scalar && value.shape.length === 0 ? value.values[0]! : arrayOf(value, one.layout);
    const result = x.at(...written(index))[method](given);
    requireSame(result, write(grid, index.parts, value, meetings[method]), what);
    // The array itself is as it was.
    requireSame(x, grid, what);
  });
}

function checkBad({ shape, index, place, bad }: BadCase): void {
  const x = arrayOf(counted(shape), "plain");
  const parts: unknown[] = written(index);
  parts.splice(Math.min(place, parts.length), 1, bad);
  for (const run of [() => x.get(...(parts as [0])), () => x.at(...(parts as [0])).set(1)]) {
    let error: unknown = null;
    try {
      run();
    } catch (thrown) {
      error = thrown;
    }
    if (error instanceof TypeError || error instanceof RangeError) continue;
    throw new Error(`${JSON.stringify(shape)} by ${Bun.inspect(parts)}: gave ${Bun.inspect(error)}`);
  }
}
