// Random shapes, arrays and indices for the property tests, each with its reference beside it.
import fc from "fast-check";
import * as mx from "../../src/index.ts";
import type { IndexPart } from "../../src/index.ts";
import { broadcastShape, type Grid, makeGrid, nested, offsetOf, type RefPart, sizeOf } from "./reference.ts";

/** Shapes of few elements: none and zero axes of none too. */
export const shapes = (maxAxes = 4): fc.Arbitrary<number[]> =>
  fc.array(
    fc.oneof({ weight: 12, arbitrary: fc.integer({ min: 1, max: 5 }) }, { weight: 1, arbitrary: fc.constant(0) }),
    {
      maxLength: maxAxes,
    },
  );

/** Distinct elements, which say where they come from. */
export const counted = (shape: readonly number[]): Grid => makeGrid(shape, (position) => offsetOf(position, shape));

/** A way to hold an array in memory: its axes in another order, or taken out of a larger one, or reversed. */
export type Layout = "plain" | "transposed" | "inside" | "reversed";
export const layouts: fc.Arbitrary<Layout> = fc.constantFrom("plain", "transposed", "inside", "reversed");

/** The array of a grid, as a view whose strides are not those of a plain array. Its temporaries die with the tidy around. */
export function arrayOf(grid: Grid, layout: Layout, dtype: mx.Dtype = "float32"): mx.Array {
  const { shape } = grid;
  const axes = shape.map((_, axis) => axis).reverse();
  const plain = (from: Grid): mx.Array =>
    mx.array(Float32Array.from(from.values), { shape: [...from.shape] }).astype(dtype);
  if (layout === "plain" || shape.length === 0) return plain(grid);
  if (layout === "transposed") {
    const turned = makeGrid([...shape].reverse(), (position) => grid.values[offsetOf([...position].reverse(), shape)]!);
    return mx.transpose(plain(turned), axes);
  }
  if (layout === "reversed") {
    const last = shape.map((length) => length - 1);
    const mirrored = makeGrid(
      shape,
      (position) =>
        grid.values[
          offsetOf(
            position.map((at, i) => last[i]! - at),
            shape,
          )
        ]!,
    );
    return plain(mirrored).get(...shape.map(() => "::-1" as const));
  }
  const wider = makeGrid(
    shape.map((length) => length + 2),
    (position) => {
      const inner = position.map((at) => at - 1);
      const inside = inner.every((at, axis) => at >= 0 && at < shape[axis]!);
      return inside ? grid.values[offsetOf(inner, shape)]! : -777;
    },
  );
  return mx.slice(plain(wider), mx.ones([shape.length], { dtype: "int32" }), axes.slice().sort(), [...shape]);
}

/** An index as the user writes it and as the reference reads it. */
export interface Index {
  readonly parts: readonly RefPart[];
  /** Of each part: lists are written as lists or as Arrays of a dtype. */
  readonly forms: readonly ("list" | mx.Dtype)[];
}

const far = fc.constantFrom("2147483647", "2147483648", "-2147483648", "-2147483649", "99999999999999999999");

function sliceText(length: number): fc.Arbitrary<string> {
  const near = fc.integer({ min: -length - 3, max: length + 3 }).map(String);
  const bound = fc.oneof(
    { weight: 4, arbitrary: near },
    { weight: 3, arbitrary: fc.constant("") },
    { weight: 1, arbitrary: far },
  );
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom("1", "-1", "2", "-2", "3", "-3", "7", "-7") },
    { weight: 1, arbitrary: far },
  );
  return fc
    .tuple(bound, bound, fc.option(fc.oneof(step, fc.constant("")), { nil: null }))
    .map(([start, stop, by]) => `${start}:${stop}${by === null ? "" : `:${by}`}`);
}

/** A shape that broadcasts into another: axes left away in front, others of length 1. */
export function narrower(shape: readonly number[]): fc.Arbitrary<number[]> {
  return fc
    .tuple(fc.nat(shape.length), fc.array(fc.boolean(), { minLength: shape.length, maxLength: shape.length }))
    .map(([skipped, ones]) => shape.map((length, axis) => (ones[axis] ? 1 : length)).slice(skipped));
}

function indexGrid(length: number, indexShape: readonly number[]): fc.Arbitrary<Grid> {
  return narrower(indexShape).chain((shape) => {
    const count = sizeOf(shape);
    return fc
      .array(fc.integer({ min: -length, max: length - 1 }), { minLength: count, maxLength: count })
      .map((values) => ({ shape, values }));
  });
}

function axisPart(length: number, indexShape: readonly number[], lists: boolean): fc.Arbitrary<RefPart> {
  const slice = sliceText(length).map((text): RefPart => ({ kind: "slice", text }));
  if (length === 0) return slice;
  const integer = fc.integer({ min: -length, max: length - 1 }).map((at): RefPart => ({ kind: "integer", at }));
  const list = indexGrid(length, indexShape).map((index): RefPart => ({ kind: "list", index }));
  return lists ? fc.oneof(slice, integer, list, list) : fc.oneof(slice, integer);
}

const dtypes = fc.constantFrom<"list" | mx.Dtype>("list", "list", "int32", "int64", "int8", "int16");

/** An index that fits a shape. */
export function indices(shape: readonly number[]): fc.Arbitrary<Index> {
  const indexShape = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 2 });
  return fc
    .record({
      indexShape,
      lists: fc.boolean(),
      used: fc.nat(shape.length),
      split: fc.option(fc.nat(shape.length), { nil: null }),
    })
    .chain(({ indexShape, lists, used, split }) => {
      // With an ellipsis, the parts behind it count from the last axis.
      const before = split === null ? used : Math.min(split, used);
      const axes = shape.map((_, axis) => axis);
      const chosen = [...axes.slice(0, before), ...(used > before ? axes.slice(before - used) : [])];
      const some = fc.tuple(...chosen.map((axis) => axisPart(shape[axis]!, indexShape, lists)));
      const news = fc.array(fc.nat(used + 1), { maxLength: 2 });
      return fc.tuple(some, news, fc.array(dtypes, { minLength: used, maxLength: used })).map(([parts, at, forms]) => {
        const all: [RefPart, "list" | mx.Dtype][] = parts.map((part, i) => [part, forms[i]!]);
        if (split !== null) all.splice(before, 0, [{ kind: "ellipsis" }, "list"]);
        for (const place of at) all.splice(place, 0, [{ kind: "newaxis" }, "list"]);
        return { parts: all.map(([part]) => part), forms: all.map(([, form]) => form) };
      });
    });
}

/** The arguments of `get` and `at`. */
export function written(index: Index): IndexPart[] {
  return index.parts.map((part, i): IndexPart => {
    if (part.kind === "integer") return part.at;
    if (part.kind === "slice") return part.text as ":";
    if (part.kind === "ellipsis") return "...";
    if (part.kind === "newaxis") return null;
    const { shape } = part.index;
    const form = index.forms[i]!;
    // A list cannot say that it is empty in a later axis, or has no axis.
    if (form === "list" && shape.length > 0 && !shape.slice(0, -1).includes(0)) return nested(part.index) as number[];
    const dtype = form === "list" ? "int32" : form;
    return mx.array(Int32Array.from(part.index.values), { shape: [...shape] }).astype(dtype);
  });
}

/** A value that fits a place: of fewer axes, with axes of 1, now and then with axes of 1 in front. */
export function values(shape: readonly number[]): fc.Arbitrary<Grid> {
  return fc.tuple(narrower(shape), fc.nat(1), fc.nat(1000)).map(([narrow, extra, seed]) => {
    const full = narrow.length === shape.length ? [...new Array<number>(extra).fill(1), ...narrow] : narrow;
    // Small and no two alike in a row, never 0: products stay exact, and divisors are powers of two.
    const steps = [1, 2, 4, -1, -2, 0.5, -4, -0.5];
    return makeGrid(full, (position) => steps[(offsetOf(position, full) * 3 + seed) % steps.length]!);
  });
}

/** Two shapes that broadcast together. */
export const pairs: fc.Arbitrary<[number[], number[]]> = shapes(4).chain((shape) =>
  fc.tuple(narrower(shape), narrower(shape)).filter(([a, b]) => broadcastShape(a, b) !== null),
);
