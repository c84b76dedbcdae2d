// The call funnel: how a call ends, well or not, the hook, and the values that live for one call.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import * as call from "../../src/core/call.ts";
import { setOpHook } from "../../src/core/hooks.ts";
import { selfTest } from "../../src/core/self-test.ts";
import { dropTemporaries, holdArray, holdVector, refuse } from "../../src/core/temporaries.ts";
import { functions as C } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { caught, refusal, scoped } from "../helpers.ts";

mx.tidy(() => void mx.add(1, 1));
let before = 0;
beforeEach(() => {
  before = C.mlxts_live_handles();
});
afterEach(() => {
  setOpHook(null);
  expect(C.mlxts_live_handles()).toBe(before);
});

describe("temporaries", () => {
  scoped("are freed once, by any of the ends", () => {
    const hold = (): void => {
      holdArray(C.mlx_array_new_float32(1));
      holdArray(C.mlx_array_new_float32(2));
      holdVector(C.mlx_vector_array_new());
    };
    hold();
    expect(C.mlxts_live_handles()).toBe(before + 3);
    dropTemporaries();
    expect(C.mlxts_live_handles()).toBe(before);
    dropTemporaries();
    hold();
    const mine = new RangeError("mine");
    expect(caught(() => refuse(mine))).toBe(mine);
    expect(C.mlxts_live_handles()).toBe(before);
    hold();
    expect(call.failure("op", []).message).toBe("op: the native call failed without a message");
    expect(C.mlxts_live_handles()).toBe(before);
    hold();
    const array = mx.array(1);
    expect(mx.add(array, 2).item()).toBe(3);
    expect(C.mlxts_live_handles()).toBe(before + 2);
  });
});

describe("failure", () => {
  scoped("describes Arrays, disposed ones, scalars and lists, and nothing else", () => {
    const gone = mx.array(1);
    gone.dispose();
    const operands = [mx.zeros([2, 3]), [mx.array(1, "int8"), gone], 5, true, 7n, null, undefined, "text", { a: 1 }];
    const error = call.failure("op", operands);
    expect(error).toBeInstanceOf(mx.MlxError);
    expect(error.message).toBe(
      "op: the native call failed without a message (operands: float32[2, 3], int8[], a disposed Array, 5, true, 7)",
    );
    expect(call.failure("op", [null, "text"]).message).toBe("op: the native call failed without a message");
  });
});

describe("the hook", () => {
  scoped("sees every result of an operation, by name, and can be taken away", () => {
    const seen: string[] = [];
    setOpHook((operation, result) => seen.push(`${operation} ${(result as mx.Array).shape.join("x")}`));
    const x = mx.zeros([4, 2]);
    mx.add(x, 1);
    mx.split(x, 2);
    mx.concatenate([x, x]);
    mx.linalg.qr(mx.ones([2, 2]), { stream: "cpu" });
    setOpHook(null);
    mx.add(x, 1);
    expect(seen.filter((line) => !line.startsWith("zeros") && !line.startsWith("ones"))).toEqual([
      "add 4x2",
      "split 2x2",
      "split 2x2",
      "concatenate 8x2",
      "linalg.qr 2x2",
      "linalg.qr 2x2",
    ]);
  });
});

describe("results", () => {
  scoped("of several arrays are all owned by the caller", () => {
    const parts = mx.split(mx.arange(6, { dtype: "float32" }), 3);
    expect(parts.map((part) => part.tolist())).toEqual([
      [0, 1],
      [2, 3],
      [4, 5],
    ]);
    const many = mx.split(mx.arange(5000, { dtype: "int32" }), 5000);
    expect(many).toHaveLength(5000);
    expect(many[4321]!.tolist()).toEqual([4321]);
  });

  scoped("a failing call with scalars leaves nothing", () => {
    const [x, y] = [mx.zeros([2]), mx.zeros([3])];
    const live = C.mlxts_live_handles();
    for (let i = 0; i < 20; i++) {
      expect(refusal(() => mx.where(1, x, y))).toContain("broadcast");
      expect(refusal(() => mx.concatenate([x, 2.5]))).toStartWith("MlxError: concatenate:");
      expect(refusal(() => mx.clip(x, 0, y))).toContain("broadcast");
    }
    expect(C.mlxts_live_handles()).toBe(live);
  });
});

test("the self-test of slots finds nothing wrong", () => {
  expect(selfTest(5000)).toBe(0);
});

test("versions are those of the library", () => {
  const { mlx, mlxc } = mx.versions();
  expect(mlx).toMatch(/^\d+\.\d+\.\d+/);
  expect(mlxc).toMatch(/^\d+\.\d+\.\d+/);
});
