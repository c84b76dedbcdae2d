// Random chains of views, read back in every way: what comes is in logical order, whatever the strides.
import { test } from "bun:test";
import fc from "fast-check";
import * as mx from "../../src/index.ts";
import { counted, indices, shapes, written } from "./arbitraries.ts";
import { requireSame } from "./checks.ts";
import { broadcastElement, elementAt, type Grid, makeGrid, positions, read, sizeOf, transposed } from "./reference.ts";

interface Pair {
  array: mx.Array;
  grid: Grid;
}

/** One more view, chosen by numbers: `kind` says which, `seed` feeds its arguments. */
function view({ array, grid }: Pair, kind: number, seed: number): Pair {
  const { shape } = grid;
  const n = shape.length;
  if (kind === 0) {
    const axes = shape.map((_, axis) => axis).sort((a, b) => ((a * 7 + seed) % 5) - ((b * 7 + seed) % 5) || a - b);
    return { array: mx.transpose(array, axes), grid: transposed(grid, axes) };
  }
  if (kind === 1) {
    const [index] = fc.sample(indices(shape), { numRuns: 1, seed });
    const basic = index!.parts.every(({ kind: part }) => part !== "list");
    return basic ? { array: array.get(...written(index!)), grid: read(grid, index!.parts) } : { array, grid };
  }
  if (kind === 2) {
    const wide = [1 + (seed % 2), ...shape.map((length) => (length === 1 ? 1 + (seed % 3) : length))];
    if (sizeOf(wide) > 2000) return { array, grid };
    return { array: mx.broadcastTo(array, wide), grid: makeGrid(wide, (at) => broadcastElement(grid, at)) };
  }
  if (kind === 3) {
    const size = sizeOf(shape);
    const factor = [2, 3, 4, 5].find((f) => size % f === 0 && size > 0 && (seed >> 2) % f !== 0) ?? 1;
    const other = size % factor === 0 ? [factor, size / factor] : [size];
    return { array: mx.reshape(array, other), grid: { shape: other, values: grid.values } };
  }
  const [a, b] = [seed % (n || 1), (seed >> 4) % (n || 1)];
  if (n === 0) return { array: mx.expandDims(array, 0), grid: { shape: [1], values: grid.values } };
  const axes = shape.map((_, axis) => (axis === a ? b : axis === b ? a : axis));
  return { array: mx.swapaxes(array, a, b), grid: transposed(grid, axes) };
}

const dtypes = fc.constantFrom<mx.Dtype>("float32", "int8", "int16", "uint32", "int64", "float16", "complex64", "bool");

/** An element of the reference as the dtype reads it. */
function asRead(value: number, dtype: mx.Dtype): unknown {
  if (dtype === "bool") return value !== 0;
  if (dtype === "int64") return BigInt(value);
  if (dtype === "complex64") return { re: value, im: 0 };
  // The bytes of int8 hold the small counts only.
  return dtype === "int8" ? (value << 24) >> 24 : value;
}

function typedValues(array: mx.Array): unknown[] {
  const typed = array.toTypedArray();
  const list: unknown[] = Array.from(typed as Float32Array);
  if (array.dtype === "bool") return list.map((byte) => byte === 1);
  if (array.dtype !== "complex64") return list;
  return list.flatMap((re, i) => (i % 2 === 0 ? [{ re, im: list[i + 1] }] : []));
}

const chains = fc.array(fc.tuple(fc.nat(4), fc.nat(100_000)), { minLength: 1, maxLength: 5 });

test("chains of views are read in logical order by toTypedArray, tolist and item", () => {
  fc.assert(
    fc.property(shapes(4), dtypes, chains, fc.boolean(), (shape, dtype, chain, evaluateBetween) => {
      mx.tidy(() => {
        const grid = counted(shape);
        const data = mx.array(Int32Array.from(grid.values), { shape });
        let pair: Pair = {
          array: dtype === "complex64" ? data.astype("float32").astype(dtype) : data.astype(dtype),
          grid,
        };
        for (const [kind, seed] of chain) {
          pair = view(pair, kind, seed);
          if (evaluateBetween) mx.eval(pair.array);
        }
        const { array, grid: expected } = pair;
        const what = (): string => `${dtype} [${shape.join(", ")}] by ${JSON.stringify(chain)}`;
        const wanted = expected.values.map((value) => asRead(value, dtype));
        const same = (found: unknown[], way: string): void => {
          if (found.length === wanted.length && found.every((value, i) => Bun.deepEquals(value, wanted[i]))) return;
          throw new Error(`${what()}: ${way} gave ${Bun.inspect(found)}, expected ${Bun.inspect(wanted)}`);
        };
        same(typedValues(array), "toTypedArray");
        if (dtype === "float32") requireSame(array, expected, what);
        else same(flatten(array.tolist(), expected.shape.length), "tolist");
        // Single elements, taken apart without the indexing of `get`.
        const places = positions(expected.shape);
        for (const place of places.slice(0, 3)) {
          const start = mx.array(Int32Array.from(place), { shape: [place.length] });
          const axes = place.map((_, axis) => axis);
          const one =
            place.length === 0 ? array : mx.slice(array, start, axes, new Array<number>(place.length).fill(1));
          const found = one.item();
          if (!Bun.deepEquals(found, asRead(elementAt(expected, place), dtype) as typeof found)) {
            throw new Error(`${what()}: item at [${place.join(", ")}] gave ${Bun.inspect(found)}`);
          }
        }
      });
    }),
    { numRuns: 300 },
  );
});

/** The elements of nested lists of `depth` levels; a complex element is no list. */
function flatten(value: unknown, depth: number): unknown[] {
  return depth === 0 ? [value] : (value as unknown[]).flatMap((item) => flatten(item, depth - 1));
}
