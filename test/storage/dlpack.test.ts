// DLPack capsules: whose turn it is to let go, and real consumers. NumPy reads what TypeScript exports inside of this
// process, and what the shim exports inside of Python's.
import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pythonWithMlx } from "../../bench/python-env.ts";
import { describeEnd, runProcess } from "../../scripts/gate/process.ts";
import { backend, loadedLibrary } from "../../src/core/native.ts";
import { functions as C } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { collected } from "../collected.ts";
import { refusal, root, scoped } from "../helpers.ts";
import { numbers } from "./numbers.ts";

const liveArrays = (): number => Number(C.mlxts_live_arrays());

describe("a capsule", () => {
  scoped("is DLPack's structure: version, flags, device, type, shape, strides", () => {
    const x = numbers(2, 3);
    const columns = x.get("...", "::-2");
    mx.eval(columns);
    using view = columns.exportStorage({ requireRowContiguous: false });
    using capsule = view.toDLPack();
    expect(String(capsule)).toBe("DLPackCapsule(dltensor_versioned)");
    const memory = new DataView(backend.view(capsule.pointer, 80));
    expect([memory.getUint32(0, true), memory.getUint32(4, true)]).toEqual([1, 0]);
    expect(memory.getBigUint64(16, true)).not.toBe(0n); // the deleter
    expect(memory.getBigUint64(24, true)).toBe(1n); // READ_ONLY
    expect(Number(memory.getBigUint64(32, true))).toBe(Number(C.mlxts_array_data(view.entry.handle)));
    expect([memory.getInt32(40, true), memory.getInt32(44, true), memory.getInt32(48, true)]).toEqual([1, 0, 2]);
    expect([memory.getUint8(52), memory.getUint8(53), memory.getUint16(54, true)]).toEqual([2, 32, 1]);
    const numbersAt = (at: number): number[] =>
      [...new BigInt64Array(backend.view(Number(memory.getBigUint64(at, true)), 16))].map(Number);
    expect([numbersAt(56), numbersAt(64), memory.getBigUint64(72, true)]).toEqual([[2, 2], [3, -2], 0n]);
  });

  scoped("is taken once; then it is the consumer's", () => {
    const before = liveArrays();
    const x = numbers(4);
    const capsule = mx.tidy(() => x.exportStorage().toDLPack());
    const { pointer } = capsule;
    expect(capsule.take()).toBe(pointer);
    expect([capsule.name, capsule.disposed]).toEqual(["used_dltensor_versioned", true]);
    expect(refusal(() => capsule.take())).toStartWith(
      "DisposedError: take: this DLPackCapsule was already taken: its tensor is the consumer's now. Make another",
    );
    expect(refusal(() => capsule.pointer)).toStartWith("DisposedError: pointer: this DLPackCapsule was already taken");
    capsule.dispose();
    x.dispose();
    expect(liveArrays()).toBe(before + 1);
    C.mlxts_dlpack_free(pointer);
    expect(liveArrays()).toBe(before);
  });

  scoped("lets go by itself: disposed, at the end of tidy", () => {
    const before = liveArrays();
    mx.tidy(() => {
      const capsule = numbers(4).exportStorage().toDLPack();
      capsule.dispose();
      capsule.dispose();
      expect(refusal(() => capsule.take())).toStartWith(
        "DisposedError: take: this DLPackCapsule was already disposed.",
      );
      expect(capsule.name).toBe("dltensor_versioned");
      numbers(4).exportStorage().toDLPack();
    });
    expect(liveArrays()).toBe(before);
  });

  test("forgotten, is freed by the ledger", async () => {
    const before = await collected();
    const native = liveArrays();
    (() => {
      for (let i = 0; i < 300; i++) mx.keep(mx.tidy(() => numbers(4).exportStorage().toDLPack()));
    })();
    expect(await collected(before)).toBe(before);
    expect(liveArrays()).toBe(native);
  });
});

/** The lines of JSON that a program prints: what was found, in order, by name. */
async function findings(command: string[]): Promise<[string, Record<string, unknown>][]> {
  const result = await runProcess(command, { cwd: root, timeout: 60, env: { NO_COLOR: "1" } });
  const problem = describeEnd(result, 60);
  if (problem !== null) throw new Error(`${problem}\n${result.output}`);
  return result.output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as [string, Record<string, unknown>]);
}

describe("NumPy", () => {
  let python = "";
  beforeAll(() => {
    python = pythonWithMlx("stock");
  }, 180_000);

  test("reads a tensor of the shim, in a Python process", async () => {
    mx.eval(mx.array(1));
    const { shim, mlxc } = loadedLibrary()!;
    const found = await findings([python, join(import.meta.dir, "fixtures/ctypes_consumer.py"), shim, mlxc]);
    expect(found).toEqual([
      [
        "read",
        {
          values: [
            [0, 1, 2],
            [3, 4, 5],
          ],
          writeable: false,
          shared: true,
        },
      ],
      [
        "array freed",
        {
          values: [
            [0, 1, 2],
            [3, 4, 5],
          ],
          live: 1,
        },
      ],
      ["let go on another thread", { live: 0 }],
      ["no storage", { tensor: null, message: "the array has no storage", held: null }],
    ]);
  }, 90_000);

  test("reads what is exported here, in this process", async () => {
    const ask =
      "import sysconfig as s; print(s.get_config_var('LIBDIR'), s.get_config_var('INSTSONAME'), s.get_path('platlib'), sep='\\n')";
    const asked = await runProcess([python, "-c", ask], { timeout: 30 });
    const [folder, name, packages] = asked.output.trim().split("\n") as [string, string, string];
    const library = join(folder, name);
    if (!existsSync(library) || !/\.(?:so|dylib)/.test(name)) {
      // A Python without a library of its own cannot run in another process; the test above has read the shim's tensor.
      console.log(`no shared library of Python at ${library}`);
      return;
    }
    const list = await findings([process.execPath, join(import.meta.dir, "fixtures/numpy.ts"), library, packages]);
    const found = (what: string, nth = 0): Record<string, unknown> => list.filter(([one]) => one === what)[nth]![1];

    const { address } = found("expected");
    const values = [
      [0, 1, 2, 3],
      [4, 5, 6, 7],
      [8, 9, 10, 11],
    ];
    expect(found("shared")).toEqual({
      shape: [3, 4],
      strides: [16, 4],
      dtype: "float32",
      writeable: false,
      address,
      values,
    });
    expect(found("expected")).toEqual({ address, name: "used_dltensor_versioned", disposed: true });
    expect(found("written")).toEqual({ value: -1 });
    expect(found("write")).toEqual({ refused: true });
    expect(found("outlived")).toEqual({ values: values.map((row) => row.map((value) => (value === 5 ? -1 : value))) });
    expect(found("held by NumPy")).toEqual({ live: 1 });
    for (const end of ["let go by NumPy", "layouts let go", "dtypes let go", "at the end"]) {
      expect(found(end), end).toEqual({ live: 0 });
    }
    expect(found("a thousand let go")).toMatchObject({ live: 0, liveHandles: 0, rescued: 0 });
    expect(found("twice")).toEqual({ refused: true });

    const strides = {
      transposed: [4, 12],
      columns: [24, 8],
      reversed: [-4],
      repeated: [0, 4],
      scalar: [],
      ...(mx.metal.isAvailable() ? {} : { empty: [12, 4] }),
    };
    for (const [layout, expected] of Object.entries(strides)) {
      const [seen, made] = [found(layout), found(layout, 1)];
      expect(seen, layout).toMatchObject({ strides: expected, writeable: false, ...made });
    }
    for (const dtype of ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]) {
      expect(found(dtype)).toEqual({ dtype, values: [0, 1, 3] });
    }
    for (const dtype of ["float16", "float32", "float64", "complex64"]) {
      expect(found(dtype)).toEqual({ dtype, values: [0, 1, 3] });
    }
    expect(found("bool")).toEqual({ dtype: "bool", values: [0, 1, 1] });
    expect(found("bfloat16").refused).toBeString();
  }, 90_000);
});
