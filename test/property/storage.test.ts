// Random views of random shapes, strides and offsets: what an export says of their storage, and its bytes, agree with
// the array read back.
import { test } from "bun:test";
import fc from "fast-check";
import * as mx from "../../src/index.ts";
import { strided } from "../helpers.ts";
import { arrayOf, counted, layouts, shapes } from "./arbitraries.ts";

// On CUDA there are only copies to look at; elsewhere the option changes nothing.
const copied = { host: true };
const loose = { ...copied, requireRowContiguous: false };

function fail(what: string, found: unknown, expected: unknown): never {
  throw new Error(`${what}: ${Bun.inspect(found)}, expected ${Bun.inspect(expected)}`);
}

const same = (found: ArrayLike<unknown>, expected: ArrayLike<unknown>): boolean =>
  found.length === expected.length && Array.prototype.every.call(found, (value, i) => value === expected[i]);

/** Reads elements one by one where the strides say, out of the bytes alone. */
function walk(view: mx.StorageView): number[] {
  const { bytes, shape, strides } = view;
  const data = new DataView(bytes.buffer);
  const values: number[] = [];
  const visit = (axis: number, at: number): void => {
    if (axis === shape.length) values.push(data.getFloat32(at, true));
    else for (let i = 0; i < shape[axis]!; i++) visit(axis + 1, at + 4 * i * strides[axis]!);
  };
  visit(0, view.byteOffset - view.firstByte);
  return values;
}

/** What holds of every export that succeeds. */
function check(array: mx.Array): void {
  mx.eval(array);
  if (array.size === 0 && mx.metal.isAvailable()) {
    const { status } = array.tryExportStorage(loose);
    return status === "noStorage" ? undefined : fail("status", status, "noStorage");
  }
  using view = array.exportStorage(loose);
  const values = Array.from(array.toTypedArray() as Float32Array);
  if (!same(walk(view), values)) fail("the bytes, walked by the strides", walk(view), values);
  if (!same(view.copy(), values)) fail("copy()", view.copy(), values);
  if (view.logicalNbytes !== values.length * 4) fail("logicalNbytes", view.logicalNbytes, values.length * 4);
  if (view.bytes.length !== view.endByte - view.firstByte) fail("bytes", view.bytes.length, view);
  if (view.firstByte < 0 || view.endByte > view.bufferNbytes) fail("the range", view, "inside of the buffer");
  const strict = array.tryExportStorage(copied);
  if ((strict.status === "success") !== view.rowContiguous) fail("status", strict.status, view.rowContiguous);
  strict.view?.dispose();
  if (!view.rowContiguous) return;
  // Row-contiguous: storage order is logical order, and the span is the array.
  if (!same(view.typed(), values)) fail("typed()", view.typed(), values);
  if (view.endByte - view.firstByte !== view.logicalNbytes) fail("the range", view, view.logicalNbytes);
}

test("arrays held in memory in any way", () => {
  fc.assert(
    fc.property(shapes(4), layouts, (shape, layout) => {
      mx.tidy(() => check(arrayOf(counted(shape), layout)));
    }),
    { numRuns: 400 },
  );
});

test("any shape, strides and offset: inside of the buffer they agree, outside they are refused", () => {
  const axis = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: -7, max: 7 }));
  fc.assert(
    fc.property(fc.array(axis, { maxLength: 4 }), fc.integer({ min: -3, max: 90 }), (axes, offset) => {
      mx.tidy(() => {
        const shape = axes.map(([length]) => length);
        const strides = axes.map(([, stride]) => stride);
        const base = mx.arange(64, { dtype: "float32" });
        mx.eval(base);
        const view = strided(base, shape, strides, offset);
        const reach = axes.map(([length, stride]) => (length - 1) * stride);
        const first = offset + reach.reduce((sum, r) => sum + Math.min(r, 0), 0);
        const last = offset + reach.reduce((sum, r) => sum + Math.max(r, 0), 0);
        mx.eval(view);
        if (first >= 0 && last < 64) return check(view);
        // The allocator may give more than was asked for, and that is the buffer then.
        using whole = base.exportStorage(copied);
        if (first >= 0 && 4 * (last + 1) <= whole.bufferNbytes) return;
        for (const requireRowContiguous of [true, false]) {
          const { status } = view.tryExportStorage({ ...copied, requireRowContiguous });
          const layoutFirst = requireRowContiguous && status === "unsupportedLayout";
          if (status !== "invalidOffset" && !layoutFirst) fail("status", status, `invalidOffset: ${first} to ${last}`);
        }
      });
    }),
    { numRuns: 600 },
  );
});

test("bytes of any width survive the way through a view", () => {
  const dtypes = fc.constantFrom<mx.Dtype>("uint8", "int16", "uint32", "float16", "bfloat16", "int64", "complex64");
  fc.assert(
    fc.property(shapes(3), dtypes, fc.boolean(), (shape, dtype, turned) => {
      mx.tidy(() => {
        const grid = counted(shape);
        const plain = mx.array(Float32Array.from(grid.values), { shape }).astype(dtype);
        const array = turned ? plain.T : plain;
        mx.eval(array);
        if (array.size === 0) return;
        using view = array.exportStorage(loose);
        const expected = array.toTypedArray();
        if (!Bun.deepEquals(view.copy(), expected)) fail(`copy() of ${dtype}`, view.copy(), expected);
      });
    }),
    { numRuns: 300 },
  );
});
