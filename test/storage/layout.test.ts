// What an export decides, on records alone: the bytes that strides reach, and the order of refusals, for every backend.
import { describe, expect, test } from "bun:test";
import {
  decide,
  layoutStatus,
  spanOf,
  type StorageLayout,
  type StorageProbe,
  type StorageRequest,
} from "../../src/storage/layout.ts";
import { backend } from "../../src/core/native.ts";
import { gather as gatherAt } from "../../src/storage/gather.ts";

/** A layout of float32, row-contiguous unless said otherwise. */
function layout(given: Partial<StorageLayout> & { shape: number[]; strides: number[] }): StorageLayout {
  const size = given.shape.reduce((product, length) => product * length, 1);
  return {
    itemsize: 4,
    dataSize: size,
    byteOffset: 0,
    bufferBytes: size * 4,
    flags: { contiguous: true, rowContiguous: true, colContiguous: false },
    ...given,
  };
}

const gaps = { contiguous: false, rowContiguous: false, colContiguous: false };

describe("the span", () => {
  // Layout, then logical bytes, span by MLX's count, first and end byte as the strides reach them.
  const cases: [name: string, StorageLayout, spans: [number, number, number, number]][] = [
    ["row-contiguous", layout({ shape: [2, 3, 4], strides: [12, 4, 1] }), [96, 96, 0, 96]],
    ["transposed", layout({ shape: [4, 3, 2], strides: [1, 4, 12] }), [96, 96, 0, 96]],
    ["rows 2..", layout({ shape: [2, 6], strides: [6, 1], byteOffset: 48, bufferBytes: 96 }), [48, 48, 48, 96]],
    [
      "columns 1..",
      layout({ shape: [4, 5], strides: [6, 1], dataSize: 23, byteOffset: 4, bufferBytes: 96, flags: gaps }),
      [80, 92, 4, 96],
    ],
    [
      "columns ::2",
      layout({ shape: [4, 3], strides: [6, 2], dataSize: 23, bufferBytes: 96, flags: gaps }),
      [48, 92, 0, 92],
    ],
    ["reversed", layout({ shape: [8], strides: [-1], byteOffset: 28, flags: gaps }), [32, 32, 0, 32]],
    [
      "reversed in the middle of three axes",
      layout({ shape: [2, 3, 4], strides: [12, -4, 1], byteOffset: 32, flags: gaps }),
      [96, 96, 0, 96],
    ],
    ["a scalar, repeated", layout({ shape: [4, 4], strides: [0, 0], dataSize: 1, bufferBytes: 4 }), [64, 4, 0, 4]],
    ["a row, repeated", layout({ shape: [3, 4], strides: [0, 1], dataSize: 4, bufferBytes: 32 }), [48, 16, 0, 16]],
    ["a scalar", layout({ shape: [], strides: [] }), [4, 4, 0, 4]],
    [
      "axes of one element, whose strides say nothing",
      layout({ shape: [1, 4, 1], strides: [999, 1, -7], byteOffset: 16, bufferBytes: 32 }),
      [16, 16, 16, 32],
    ],
    ["nothing", layout({ shape: [0, 3], strides: [3, 1], byteOffset: 8, bufferBytes: 8 }), [0, 0, 8, 8]],
  ];
  test.each(cases)("of %s", (_, of, [logicalNbytes, storageSpanNbytes, firstByte, endByte]) => {
    expect(spanOf(of)).toEqual({ logicalNbytes, storageSpanNbytes, firstByte, endByte, inBounds: true });
  });

  test("is out of bounds on either side, and never by MLX's count alone", () => {
    const reversed = layout({ shape: [8], strides: [-1], byteOffset: 28, flags: gaps });
    expect(reversed.byteOffset + spanOf(reversed).storageSpanNbytes).toBeGreaterThan(reversed.bufferBytes);
    expect(spanOf(reversed).inBounds).toBe(true);
    const outside: Partial<StorageLayout>[] = [{ byteOffset: -4 }, { byteOffset: 4 }, { bufferBytes: 31 }];
    for (const change of outside)
      expect(spanOf({ ...reversed, ...change }).inBounds, JSON.stringify(change)).toBe(false);
    expect(spanOf(layout({ shape: [0], strides: [1], byteOffset: -4 })).inBounds).toBe(false);
  });
});

describe("the layout's status", () => {
  test("asks for row-contiguity before it asks for bounds", () => {
    const wrong = layout({ shape: [8], strides: [-1], byteOffset: 4, flags: gaps });
    expect(layoutStatus(wrong, true)).toBe("unsupportedLayout");
    expect(layoutStatus(wrong, false)).toBe("invalidOffset");
    const repeated = layout({
      shape: [4],
      strides: [0],
      dataSize: 1,
      bufferBytes: 4,
      flags: { ...gaps, contiguous: true },
    });
    expect(layoutStatus(repeated, true)).toBe("unsupportedLayout");
    expect(layoutStatus(repeated, false)).toBe("success");
  });
});

/** A probe that writes down what it is asked. */
function probing(answers: Partial<StorageProbe>): { probe: StorageProbe; asked: string[] } {
  const asked: string[] = [];
  const all: StorageProbe = {
    failed: () => false,
    metalAvailable: () => false,
    backend: () => "cpu",
    available: () => true,
    evaluate: () => undefined,
    layout: () => layout({ shape: [2], strides: [1] }),
    ...answers,
  };
  const noting = <T>(name: string, answer: () => T): (() => T) => {
    return () => {
      asked.push(name);
      return answer();
    };
  };
  const probe: StorageProbe = {
    failed: noting("failed", all.failed),
    metalAvailable: noting("metalAvailable", all.metalAvailable),
    backend: noting("backend", all.backend),
    available: noting("available", all.available),
    evaluate: noting("evaluate", all.evaluate),
    layout: noting("layout", all.layout),
  };
  return { probe, asked };
}

const plain: StorageRequest = { metalOnly: false, host: false, waitUntilAvailable: false, requireRowContiguous: true };
const lazy = (): Partial<StorageProbe> => {
  let there = false;
  return {
    available: () => there,
    evaluate: () => {
      there = true;
    },
  };
};
const repeated = layout({
  shape: [2],
  strides: [0],
  dataSize: 1,
  bufferBytes: 4,
  flags: { contiguous: true, rowContiguous: false, colContiguous: false },
});

describe("the decision", () => {
  // Row of the table, what the array is like, and the status by default, waiting, and without row-contiguity.
  const waiting: StorageRequest = { ...plain, waitUntilAvailable: true };
  const loose: StorageRequest = { ...plain, requireRowContiguous: false };
  const metal = (request: StorageRequest): StorageRequest => ({ ...request, metalOnly: true });
  const same = (request: StorageRequest): StorageRequest => request;
  const rows: [
    row: string,
    array: () => Partial<StorageProbe>,
    ask: typeof metal,
    statuses: [string, string, string],
  ][] = [
    [
      "0 an evaluation failed",
      () => ({ failed: () => true }),
      same,
      ["executionFailed", "executionFailed", "executionFailed"],
    ],
    [
      "0 before Metal is missed",
      () => ({ failed: () => true }),
      metal,
      ["executionFailed", "executionFailed", "executionFailed"],
    ],
    ["1 Metal asked for, and not there", lazy, metal, ["metalNotAvailable", "metalNotAvailable", "metalNotAvailable"]],
    [
      "2 CUDA's storage",
      () => ({ ...lazy(), backend: () => "cuda" }),
      same,
      ["unsupportedBackend", "unsupportedBackend", "unsupportedBackend"],
    ],
    [
      "2 Metal asked for, other storage",
      () => ({ metalAvailable: () => true }),
      metal,
      ["unsupportedBackend", "unsupportedBackend", "unsupportedBackend"],
    ],
    ["3 lazy", lazy, same, ["arrayNotAvailable", "success", "arrayNotAvailable"]],
    [
      "3 lazy, on Metal",
      () => ({ ...lazy(), metalAvailable: () => true, backend: () => "metal" }),
      metal,
      ["arrayNotAvailable", "success", "arrayNotAvailable"],
    ],
    [
      "4 a placeholder",
      () => ({ available: () => false }),
      same,
      ["arrayNotAvailable", "arrayNotAvailable", "arrayNotAvailable"],
    ],
    ["6 there", () => ({}), same, ["success", "success", "success"]],
    [
      "6 there, on Metal",
      () => ({ metalAvailable: () => true, backend: () => "metal" }),
      metal,
      ["success", "success", "success"],
    ],
    ["7 no buffer", () => ({ layout: () => null }), same, ["noStorage", "noStorage", "noStorage"]],
    [
      "8 not in row-major order",
      () => ({ layout: () => repeated }),
      same,
      ["unsupportedLayout", "unsupportedLayout", "success"],
    ],
    [
      "9 outside",
      () => ({ layout: () => ({ ...repeated, byteOffset: 4, flags: { ...repeated.flags, rowContiguous: true } }) }),
      same,
      ["invalidOffset", "invalidOffset", "invalidOffset"],
    ],
    [
      "9 below",
      () => ({ layout: () => ({ ...repeated, byteOffset: -4, flags: { ...repeated.flags, rowContiguous: true } }) }),
      same,
      ["invalidOffset", "invalidOffset", "invalidOffset"],
    ],
  ];
  test.each(rows)("row %s", (_, array, ask, statuses) => {
    const found = [plain, waiting, loose].map((request) => decide(probing(array()).probe, ask(request)).status);
    expect(found).toEqual(statuses as typeof found);
  });

  test("a failure that only the question brings up", () => {
    let failed = false;
    const surfacing = { failed: () => failed, available: () => !(failed = true) };
    expect(decide(probing(surfacing).probe, plain).status).toBe("executionFailed");
    failed = false;
    const failing = { failed: () => failed, available: () => false, evaluate: () => void (failed = true) };
    expect(decide(probing(failing).probe, waiting).status).toBe("executionFailed");
  });

  test("a copy on the host is CUDA's, and not Metal's to ask for", () => {
    const cuda = probing({ backend: () => "cuda" }).probe;
    expect(decide(cuda, { ...plain, host: true }).status).toBe("success");
    expect(decide(cuda, { ...plain, host: true, metalOnly: true }).status).toBe("metalNotAvailable");
  });

  test("the buffer is not looked at before the values are there, and nothing is computed unasked", () => {
    const cases: [Partial<StorageProbe>, StorageRequest, string[]][] = [
      [{ failed: () => true }, plain, ["failed"]],
      [{}, metal(plain), ["failed", "metalAvailable"]],
      [{ backend: () => "cuda" }, plain, ["failed", "backend"]],
      [{ available: () => false }, plain, ["failed", "backend", "available", "failed"]],
      [
        { available: () => false },
        waiting,
        ["failed", "backend", "available", "failed", "evaluate", "failed", "available"],
      ],
      [lazy(), waiting, ["failed", "backend", "available", "failed", "evaluate", "failed", "available", "layout"]],
      [{}, plain, ["failed", "backend", "available", "layout"]],
    ];
    for (const [answers, request, expected] of cases) {
      const { probe, asked } = probing(answers);
      decide(probe, request);
      expect(asked).toEqual(expected);
    }
  });

  test("success brings the layout and its span", () => {
    const of = layout({ shape: [3], strides: [1] });
    expect(decide(probing({ layout: () => of }).probe, plain)).toEqual({
      status: "success",
      layout: of,
      span: spanOf(of),
    });
  });
});

describe("gather", () => {
  /** Of bytes that begin with the first one that the layout reaches. */
  const gather = (of: StorageLayout, bytes: ArrayBuffer): ArrayBuffer =>
    gatherAt(of, backend.address(bytes) + of.byteOffset - spanOf(of).firstByte, "copy");
  const bytes = (length: number): ArrayBuffer => Uint8Array.from({ length }, (_, i) => i).buffer;

  test("walks the strides, whatever the width of an element", () => {
    for (const itemsize of [1, 2, 4, 8]) {
      const all = bytes(24 * itemsize);
      const element = (i: number): number[] => Array.from({ length: itemsize }, (_, b) => i * itemsize + b);
      const turned = layout({ shape: [4, 6], strides: [1, 4], itemsize, bufferBytes: 24 * itemsize, flags: gaps });
      const expected = Array.from({ length: 24 }, (_, i) => element(Math.floor(i / 6) + 4 * (i % 6))).flat();
      expect([...new Uint8Array(gather(turned, all))]).toEqual(expected);
      const back = layout({ shape: [24], strides: [-1], itemsize, byteOffset: 23 * itemsize, flags: gaps });
      expect([...new Uint8Array(gather(back, all))]).toEqual(
        Array.from({ length: 24 }, (_, i) => element(23 - i)).flat(),
      );
    }
  });

  test("more than one square of elements, with other axes around them, whatever the width of an element", () => {
    const [planes, rows, columns] = [3, 33, 70];
    for (const itemsize of [1, 2, 4, 8]) {
      const size = planes * rows * columns * itemsize;
      const all = Uint8Array.from({ length: size }, (_, i) => (i * 31 + (i >> 8)) % 251);
      // Stored as columns x planes x rows, the planes in reverse.
      const strides = [-rows, 1, planes * rows];
      const byteOffset = (planes - 1) * rows * itemsize;
      const shape = [planes, rows, columns];
      const of = layout({ shape, strides, itemsize, byteOffset, bufferBytes: size, flags: gaps });
      const found = new Uint8Array(gather(of, all.buffer));
      const expected: number[] = [];
      for (let plane = planes - 1; plane >= 0; plane--)
        for (let row = 0; row < rows; row++)
          for (let column = 0; column < columns; column++) {
            const at = (column * planes * rows + plane * rows + row) * itemsize;
            expected.push(...all.subarray(at, at + itemsize));
          }
      expect(Buffer.compare(found, Uint8Array.from(expected)), `${itemsize} bytes`).toBe(0);
    }
  });

  test("keeps every bit of a NaN", () => {
    const words = Uint32Array.of(0x7ff00001, 0xfff80000, 1, 0x7ff00002);
    const of = layout({ shape: [2], strides: [-1], itemsize: 8, byteOffset: 8, bufferBytes: 16, flags: gaps });
    expect([...new Uint32Array(gather(of, words.buffer))]).toEqual([1, 0x7ff00002, 0x7ff00001, 0xfff80000]);
  });

  test("long pieces, repetitions, nothing", () => {
    const rows = layout({ shape: [2, 20], strides: [22, 1], itemsize: 1, dataSize: 42, bufferBytes: 44, flags: gaps });
    const expected = [...Array(20).keys(), ...Array.from({ length: 20 }, (_, i) => 22 + i)];
    expect([...new Uint8Array(gather(rows, bytes(42)))]).toEqual(expected);
    const again = layout({
      shape: [2, 2, 2],
      strides: [0, 1, 0],
      itemsize: 1,
      dataSize: 2,
      bufferBytes: 2,
      flags: gaps,
    });
    expect([...new Uint8Array(gather(again, bytes(2)))]).toEqual([0, 0, 1, 1, 0, 0, 1, 1]);
    expect(gather(layout({ shape: [0, 2], strides: [0, 0] }), bytes(4)).byteLength).toBe(0);
  });
});
