// The errors of mlx-ts: names, fields, and MLX's words without the places in its sources.
import { describe, expect, test } from "bun:test";
import { check, DisposedError, LibraryError, MlxError, takeNativeMessage } from "../../src/core/error.ts";
import { textAddress } from "../../src/core/scratch.ts";
import { functions as C, slot } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { caught, scoped } from "../helpers.ts";

/** Leaves a message of native code. */
function fail(): number {
  const stream = C.mlx_default_cpu_stream_new();
  const status = C.mlx_load(slot(), textAddress("no such file.npy"), stream);
  C.mlx_stream_free(stream);
  return status;
}

test("MlxError has the operation, MLX's words, and the operands", () => {
  const error = new MlxError("add", "[add] no", "operands: float32[2]");
  expect(error).toBeInstanceOf(Error);
  expect({ ...error, name: error.name, message: error.message }).toEqual({
    name: "MlxError",
    operation: "add",
    reason: "[add] no",
    message: "add: [add] no (operands: float32[2])",
  });
  expect(new MlxError("add", "no").message).toBe("add: no");
  expect(String(error)).toBe("MlxError: add: [add] no (operands: float32[2])");
});

test("DisposedError says what was used, where, and what to do", () => {
  const error = new DisposedError("sum", "Array");
  expect(error).toBeInstanceOf(Error);
  expect([error.name, error.operation]).toEqual(["DisposedError", "sum"]);
  expect(error.message).toBe(
    'sum: this Array was already disposed. Return it from tidy(), wrap it in keep(), or let a longer-lived "using" own it.',
  );
});

test("the classes are the public ones", () => {
  expect([mx.MlxError, mx.DisposedError, mx.LibraryError]).toEqual([MlxError, DisposedError, LibraryError] as never);
  expect(new LibraryError("x").name).toBe("LibraryError");
});

describe("native messages", () => {
  test("are taken once, without the source position", () => {
    takeNativeMessage();
    expect(fail()).not.toBe(0);
    const text = takeNativeMessage();
    expect(text).toContain("no such file.npy");
    expect(text).not.toMatch(/\.(cpp|h|cc):\d+/);
    expect(text).not.toMatch(/ at \S*$/);
    expect(takeNativeMessage()).toBe("the native call failed without a message");
  });

  test("check throws them", () => {
    check(0, "load");
    const error = caught(() => check(fail(), "load")) as MlxError;
    expect(error).toBeInstanceOf(MlxError);
    expect(error.operation).toBe("load");
    expect(error.reason).toContain("no such file.npy");
  });

  scoped("with conversions of printf, and in other languages, come through", () => {
    for (const name of ["%s%n%d%99999999d.npy", "日本語.npy", "a b'c\".npy"]) {
      expect(caught(() => mx.load(name)).message).toContain(name);
    }
  });

  scoped("of every floor never name a source file", () => {
    const failures = [
      () => mx.add(mx.zeros([2]), mx.zeros([3])),
      () => mx.reshape(mx.zeros([4]), [3]),
      () => mx.matmul(mx.zeros([2, 3]), mx.zeros([2, 3])),
      () => mx.concatenate([mx.zeros([2]), mx.zeros([2, 2])]),
      () => mx.linalg.qr(mx.zeros([3])),
      () => mx.transpose(mx.zeros([2]), [0, 1]),
    ];
    for (const failure of failures) {
      const { message } = caught(failure);
      expect(message).not.toMatch(/\.(?:cpp|h|cc|ts)\b|\/mlx/);
      expect(message).toMatch(/^[\w.]+: /);
    }
  });
});
