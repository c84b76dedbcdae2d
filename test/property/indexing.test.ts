// Random indices, read and written, against the reference of reference.ts.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { badCases, check, getCases, maskCases, updateCases } from "./checks.ts";
import { broadcastShape, nested, read, select, slicePositions } from "./reference.ts";

const runs = 400;

describe("random indices:", () => {
  test("get", () => fc.assert(fc.property(getCases, check), { numRuns: runs }));
  test("at", () => fc.assert(fc.property(updateCases, check), { numRuns: runs }));
  test("masks", () => fc.assert(fc.property(maskCases, check), { numRuns: runs }));
  test("what is no index is refused before native code", () => {
    fc.assert(fc.property(badCases, check), { numRuns: runs });
  });
});

// The reference is checked by answers of NumPy 2 that were written down.
describe("the reference", () => {
  const grid = { shape: [2, 3, 4], values: Array.from({ length: 24 }, (_, i) => i) };
  const list = (...values: number[]) => ({ kind: "list", index: { shape: [values.length], values } }) as const;
  const slice = (text: string) => ({ kind: "slice", text }) as const;

  test("slices", () => {
    expect(slicePositions("8:1:-3", 10)).toEqual([8, 5, 2]);
    expect(slicePositions("-100:100", 3)).toEqual([0, 1, 2]);
    expect(slicePositions("0:3:-1", 5)).toEqual([]);
    expect(slicePositions(":-3:-1", 5)).toEqual([4, 3]);
    expect(slicePositions("::-99999999999999999999", 5)).toEqual([4]);
  });
  test("index arrays together, apart, and beside a new axis", () => {
    expect(nested(read(grid, [slice(":"), list(0, 1), list(1, 2)]))).toEqual([
      [1, 6],
      [13, 18],
    ]);
    expect(nested(read(grid, [{ kind: "integer", at: 0 }, slice(":"), list(1, 2)]))).toEqual([
      [1, 5, 9],
      [2, 6, 10],
    ]);
    expect(select(grid.shape, [slice(":"), list(0, 1), { kind: "newaxis" }, list(1, 2)]).shape).toEqual([2, 2, 1]);
    expect(nested(read(grid, [list(0, 1), { kind: "ellipsis" }, list(-1, 0)]))).toEqual([
      [3, 7, 11],
      [12, 16, 20],
    ]);
  });
  test("broadcasting", () => {
    expect(broadcastShape([3, 1], [1, 4], [])).toEqual([3, 4]);
    expect(broadcastShape([0], [1])).toEqual([0]);
    expect(broadcastShape([2], [3])).toBeNull();
    expect(broadcastShape([0], [2])).toBeNull();
  });
});
