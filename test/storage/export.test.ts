// Both tables of a storage export: statuses and layouts, on real arrays.
import { describe, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { caught, refusal, said, scoped, strided, untyped } from "../helpers.ts";
import { computed, numbers } from "./numbers.ts";

/** The status by default, with waitUntilAvailable, and with requireRowContiguous = false, of a new array each time. */
function statuses(make: () => mx.Array): string[] {
  return [{}, { waitUntilAvailable: true }, { requireRowContiguous: false }].map(
    (options) => make().tryExportStorage(options).status,
  );
}

describe("statuses on the CPU", () => {
  test("row 0: the evaluation failed, now or earlier", async () => {
    // MLX itself may hang on such an evaluation: a process of its own.
    const lines = await said(`
      const failed = mx.linalg.inv(mx.array([[1, 2], [2, 4]]), { stream: "cpu" });
      const later = failed.add(1);
      const status = (array, options) => array.tryExportStorage(options).status;
      say(status(failed));
      say(status(failed, { waitUntilAvailable: true }));
      for (const one of [failed, later])
        say(status(one), status(one, { waitUntilAvailable: true }), status(one, { requireRowContiguous: false }));
      attempt("export", () => failed.exportStorage());
      say(failed.tryExportMetalStorage().status === "executionFailed", mx.memory().liveHandles > 2);
    `);
    expect(lines).toEqual([
      "arrayNotAvailable",
      "executionFailed",
      "executionFailed executionFailed executionFailed",
      "executionFailed executionFailed executionFailed",
      "export: StorageExportError: exportStorage: the array has no value, its evaluation failed: " +
        "[Inverse::eval_cpu] LU factorization failed with error code 2",
      "true true",
    ]);
  });

  test("row 0: a failure in the background, which the export brings up", async () => {
    const lines = await said(`
      const failed = mx.linalg.inv(mx.array([[1, 2], [2, 4]]), { stream: "cpu" });
      attempt("start", () => mx.asyncEval(failed));
      let status;
      do status = failed.tryExportStorage().status; while (status === "arrayNotAvailable");
      say(status, failed.tryExportStorage({ waitUntilAvailable: true }).status);
    `);
    expect(lines.at(-1)).toBe("executionFailed executionFailed");
  });

  test("row 0: a failure in the background is not that of an array which is there", async () => {
    const lines = await said(`
      const turned = mx.arange(6).reshape([2, 3]).T;
      mx.eval(turned);
      const view = turned.exportStorage({ requireRowContiguous: false });
      const zero = mx.matmul(mx.ones([700, 700]), mx.ones([700, 700])).get("0:2", "0:2").multiply(0);
      const failed = mx.linalg.inv(mx.array([[1, 2], [2, 4]]).add(zero), { stream: "cpu" });
      attempt("start", () => mx.asyncEval(failed));
      await Bun.sleep(100);
      say(view.copy().join());
      // The first reading may bring the failure up.
      attempt("read", () => turned.toTypedArray());
      say(turned.toTypedArray().join(), turned.tryExportStorage({ requireRowContiguous: false }).status);
      say(failed.tryExportStorage({ waitUntilAvailable: true }).status);
    `);
    expect(lines).toContain("0,3,1,4,2,5");
    expect(lines.slice(-2)).toEqual(["0,3,1,4,2,5 success", "executionFailed"]);
  });

  test("row 0: a failure in the background, of arrays that were looked at meanwhile", async () => {
    const lines = await said(`
      const { functions: C, handleOf } = await import("./src/ffi.ts");
      const zero = mx.matmul(mx.ones([500, 500]), mx.ones([500, 500])).get("0:2", "0:2").multiply(0);
      const failed = mx.linalg.inv(mx.array([[1, 2], [2, 4]]).add(zero), { stream: "cpu" });
      const ids = failed.astype("int32");
      const later = ids.add(1);
      attempt("start", () => mx.asyncEval(later));
      const until = performance.now() + 150;
      while (performance.now() < until) {
        for (const array of [failed, ids, later]) C.mlxts_array_storage_id(handleOf(array, "test"));
        mx.arange(4).take(ids).dispose();
      }
      for (const array of [failed, ids, later])
        say(array.tryExportStorage({ waitUntilAvailable: true }).status);
      attempt("read", () => later.toTypedArray());
    `);
    expect(lines.slice(-4, -1)).toEqual(new Array(3).fill("executionFailed"));
    expect(lines.at(-1)).toStartWith("read: MlxError: toTypedArray: this array has no value");
  });

  scoped("row 1: Metal asked for; an answer either way", () => {
    const found = [{}, { waitUntilAvailable: true }, { requireRowContiguous: false }].map(
      (options) => numbers(2).tryExportMetalStorage(options).status,
    );
    expect(found).toEqual(new Array(3).fill(mx.metal.isAvailable() ? "success" : "metalNotAvailable"));
  });

  scoped("row 3: lazy; nothing is computed unasked", () => {
    expect(statuses(() => mx.add(numbers(2), 1))).toEqual(["arrayNotAvailable", "success", "arrayNotAvailable"]);
    const lazy = mx.add(numbers(2), 1);
    lazy.tryExportStorage();
    lazy.tryExportStorage({ requireRowContiguous: false });
    expect(lazy.isAvailable).toBe(false);
    expect([...lazy.exportStorage({ waitUntilAvailable: true }).typed()]).toEqual([1, 2]);
    expect(lazy.isAvailable).toBe(true);
  });

  scoped("row 4: a placeholder of compile or vmap, and what is made of one", () => {
    const expected = ["arrayNotAvailable", "arrayNotAvailable", "arrayNotAvailable"];
    const seen: string[][] = [];
    const look = (x: mx.Array): mx.Array => {
      const y = x.multiply(2);
      seen.push(
        statuses(() => x),
        statuses(() => y),
      );
      return y;
    };
    expect(mx.compile(look)(numbers(3)).tolist()).toEqual([0, 2, 4]);
    expect(mx.vmap(look)(numbers(3)).tolist()).toEqual([0, 2, 4]);
    expect(seen).toEqual([expected, expected, expected, expected]);
    mx.vmap((x: mx.Array) => {
      expect((caught(() => x.exportStorage({ waitUntilAvailable: true })) as mx.StorageExportError).status).toBe(
        "arrayNotAvailable",
      );
      return x;
    })(numbers(3));
  });

  scoped("row 4: under grad an array has a value, for whoever waits", () => {
    let seen: string[] = [];
    const gradient = mx.grad((x: mx.Array) => {
      seen = [x.tryExportStorage().status, ...statuses(() => x.square())];
      expect([...x.square().exportStorage({ waitUntilAvailable: true }).typed()]).toEqual([0, 1, 4]);
      return x.square().sum();
    })(numbers(3));
    expect(seen).toEqual(["arrayNotAvailable", "arrayNotAvailable", "success", "arrayNotAvailable"]);
    expect(gradient.tolist()).toEqual([0, 2, 4]);
  });

  scoped("row 5: being computed", () => {
    const start = (): mx.Array => {
      const ones = computed(mx.ones([1500, 1500]));
      const product = mx.matmul(ones, ones);
      mx.asyncEval(product);
      return product;
    };
    // One after the other: MLX waits with a second evaluation until the first is through.
    const running = start();
    expect(running.tryExportStorage().status).toBe("arrayNotAvailable");
    expect(running.tryExportStorage({ requireRowContiguous: false }).status).toBe("arrayNotAvailable");
    const { status, view } = running.tryExportStorage({ waitUntilAvailable: true });
    expect(status).toBe("success");
    expect(view!.typed()[2_249_999]).toBe(1500);
    expect(running.tryExportStorage().status).toBe("success");
  });

  scoped("row 6: there", () => {
    expect(statuses(() => numbers(2, 3))).toEqual(["success", "success", "success"]);
    expect(statuses(() => mx.array([1, 2]))).toEqual(["success", "success", "success"]);
  });

  scoped("row 7: an empty array has a buffer of no bytes on the CPU, and none on Metal", () => {
    for (const empty of [mx.array([]), computed(mx.zeros([0, 3]))]) {
      if (mx.metal.isAvailable()) {
        expect(statuses(() => empty)).toEqual(["noStorage", "noStorage", "noStorage"]);
        continue;
      }
      using view = empty.exportStorage();
      expect([view.logicalNbytes, view.firstByte, view.endByte, view.bytes.length, view.copy().length]).toEqual(
        new Array(5).fill(0),
      );
      expect(view.buffer).not.toBe(0);
    }
  });

  scoped("row 8: not in row-major order", () => {
    const makers: (() => mx.Array)[] = [
      () => numbers(2, 3, 4).T,
      () => numbers(4, 6).get("...", "1:"),
      () => numbers(8).get("::-1"),
      () => mx.broadcastTo(numbers(1), [4, 4]),
    ];
    for (const make of makers) {
      expect(statuses(() => computed(make()))).toEqual(["unsupportedLayout", "unsupportedLayout", "success"]);
    }
  });

  scoped("row 9: strides that leave the buffer", () => {
    const makers: (() => mx.Array)[] = [
      () => strided(numbers(8), [4], [1], 6),
      () => strided(numbers(8), [4], [1], 1000),
      () => strided(numbers(8), [1], [1], -3),
    ];
    for (const make of makers) {
      expect(statuses(() => computed(make()))).toEqual(["invalidOffset", "invalidOffset", "invalidOffset"]);
    }
    const below = computed(strided(numbers(8), [4], [-1], 1));
    expect(below.tryExportStorage({ requireRowContiguous: false }).status).toBe("invalidOffset");
  });
});

describe("layouts, as MLX makes them", () => {
  // data_size, offset, row-contiguous, MLX's count past the offset, and the bytes that are really reached.
  type Row = [number, number, boolean, number, [number, number]];
  const rows: [name: string, make: () => mx.Array, expected: Row][] = [
    ["24 as 4x6, rows 2..", () => numbers(4, 6).get("2:"), [12, 48, true, 96, [48, 96]]],
    ["24 as 4x6, columns 1..", () => numbers(4, 6).get("...", "1:"), [23, 4, false, 96, [4, 96]]],
    ["24 as 2x3x4, columns 1..3", () => numbers(2, 3, 4).get("...", "1:3"), [22, 4, false, 92, [4, 92]]],
    ["24 as 4x6, columns ::2", () => numbers(4, 6).get("...", "::2"), [23, 0, false, 92, [0, 92]]],
    ["reversed", () => numbers(8).get("::-1"), [8, 28, false, 60, [0, 32]]],
    ["a scalar as 4x4", () => mx.broadcastTo(mx.array(3), [4, 4]), [1, 0, false, 4, [0, 4]]],
    ["transposed", () => numbers(2, 3, 4).T, [24, 0, false, 96, [0, 96]]],
    [
      "k of a fused qkv projection",
      () =>
        mx
          .split(numbers(1, 24, 2 * 8), 3, 1)[2]!
          .get("...", "0:16")
          .reshape([1, 8, 4, 4]),
      [128, 1024, true, 1536, [1024, 1536]],
    ],
  ];
  test.each(rows)("%s", (_, make, [dataSize, byteOffset, rowContiguous, naive, [firstByte, endByte]]) => {
    mx.tidy(() => {
      const array = computed(make());
      using view = array.exportStorage({ requireRowContiguous: false });
      expect(view).toMatchObject({
        backend: mx.metal.isAvailable() ? "metal" : "cpu",
        storageSpanNbytes: 4 * dataSize,
        logicalNbytes: array.nbytes,
        byteOffset,
        rowContiguous,
        firstByte,
        endByte,
        shape: array.shape,
        dtype: "float32",
        hostCopy: false,
      });
      expect(byteOffset + view.storageSpanNbytes).toBe(naive);
      expect(view.bytes.length).toBe(endByte - firstByte);
      expect(view.bufferNbytes).toBeGreaterThanOrEqual(endByte);
      expect(view.copy()).toEqual(array.toTypedArray());
    });
  });

  scoped("a broadcast is contiguous to MLX, and only what is stored can be read", () => {
    using view = computed(mx.broadcastTo(mx.array(3), [4, 4])).exportStorage({ requireRowContiguous: false });
    expect([view.contiguous, view.rowContiguous, view.colContiguous]).toEqual([true, false, false]);
    expect([view.logicalNbytes, view.bytes.length]).toEqual([64, 4]);
    expect(view.strides).toEqual([0, 0]);
    expect([...view.copy()]).toEqual(new Array(16).fill(3));
  });

  scoped("views of one array name one buffer", () => {
    const x = numbers(4, 6);
    const [whole, part] = [x.exportStorage(), computed(x.get("2:")).exportStorage()];
    expect([part.bufferId, part.buffer]).toEqual([whole.bufferId, whole.buffer]);
    expect(numbers(4, 6).exportStorage().bufferId).not.toBe(whole.bufferId);
    expect([...part.typed()]).toEqual([...whole.typed()].slice(12));
  });

  scoped("every dtype, as toTypedArray reads it", () => {
    const dtypes: mx.Dtype[] = ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"];
    for (const dtype of [...dtypes, "float16", "bfloat16", "float32", "complex64"] as const) {
      const array = computed(numbers(2, 3).astype(dtype));
      using view = array.exportStorage();
      expect(view.dtype).toBe(dtype);
      expect(view.typed(), dtype).toEqual(array.toTypedArray());
      expect(view.copy(), dtype).toEqual(array.toTypedArray());
      const reversed = computed(array.get("...", "::-1"));
      expect(reversed.exportStorage({ requireRowContiguous: false }).copy(), dtype).toEqual(reversed.toTypedArray());
    }
    const doubles = mx.array([1, 2], "float64");
    expect(doubles.exportStorage().typed()).toEqual(Float64Array.of(1, 2));
  });
});

describe("misuse", () => {
  scoped("wrong options are named, before anything happens", () => {
    const x = mx.add(numbers(2), 1);
    const { liveHandles } = mx.memory();
    const tries: [unknown, string][] = [
      [{ wait: true }, 'TypeError: tryExportStorage: unknown option "wait".'],
      [{ waitUntilAvailable: 1 }, "TypeError: tryExportStorage: waitUntilAvailable must be true or false, got 1."],
      [{ requireRowContiguous: null }, "TypeError: tryExportStorage: requireRowContiguous must be true or false"],
      [true, "TypeError: tryExportStorage: the last argument must be an options object"],
      [null, "TypeError: tryExportStorage: the last argument must be an options object"],
    ];
    for (const [options, message] of tries) {
      expect(refusal(() => x.tryExportStorage(untyped(options)))).toStartWith(message);
    }
    expect(refusal(() => x.exportMetalStorage(untyped({ host: true })))).toStartWith(
      'TypeError: exportMetalStorage: unknown option "host".',
    );
    expect([x.isAvailable, mx.memory().liveHandles]).toEqual([false, liveHandles]);
    // Absent is absent.
    expect(x.tryExportStorage({ waitUntilAvailable: undefined }).status).toBe("arrayNotAvailable");
  });

  scoped("what is no array, and what is no array any more", () => {
    const gone = numbers(2);
    gone.dispose();
    expect(refusal(() => mx.exportStorage(gone))).toStartWith("DisposedError: exportStorage: this Array was already");
    expect(refusal(() => gone.tryExportMetalStorage())).toStartWith("DisposedError: tryExportMetalStorage:");
    for (const wrong of [null, 3, {}, mx.newStream("cpu"), numbers(1).exportStorage()]) {
      expect(refusal(() => mx.tryExportStorage(untyped(wrong)))).toStartWith(
        "TypeError: tryExportStorage: expected an Array made by mlx-ts, got ",
      );
    }
    expect(refusal(() => new (untyped<new () => unknown>(mx.StorageView))())).toContain('cannot be made with "new"');
    expect(refusal(() => new (untyped<new () => unknown>(mx.DLPackCapsule))())).toContain('cannot be made with "new"');
  });

  scoped("an option that disposes the array", () => {
    const x = numbers(2);
    const options = {
      get waitUntilAvailable(): boolean {
        x.dispose();
        return true;
      },
    };
    expect(refusal(() => x.exportStorage(options))).toStartWith("DisposedError: exportStorage:");
  });

  scoped("the error says what, why, and by which name", () => {
    const error = caught(() => mx.add(numbers(2), 1).exportStorage()) as mx.StorageExportError;
    expect(error).toBeInstanceOf(mx.StorageExportError);
    expect(error).toBeInstanceOf(mx.MlxError);
    expect([error.name, error.status, error.operation]).toEqual([
      "StorageExportError",
      "arrayNotAvailable",
      "exportStorage",
    ]);
    expect(error.message).toStartWith("exportStorage: the array has no value yet: evaluate it, or pass");
    expect(refusal(() => mx.exportStorage(computed(numbers(2, 2).T)))).toContain("mx.contiguous(a)");
  });
});
