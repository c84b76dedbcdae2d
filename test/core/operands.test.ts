// Operands: what becomes a native handle for one call, with which dtype, and that nothing of a refused call stays.
import { describe, expect, test } from "bun:test";
import * as operands from "../../src/core/operands.ts";
import { dropTemporaries } from "../../src/core/temporaries.ts";
import { dtypeNames, isFloating } from "../../src/core/dtype.ts";
import { functions } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { inverse, refusal, scoped, untyped } from "../helpers.ts";

const live = (): number => functions.mlxts_live_handles();
const dtypeOf = (handle: number): string => dtypeNames[functions.mlx_array_dtype(handle)]!;

// The handle of the default stream is made once and kept.
mx.tidy(() => void mx.add(1, 1));

/** Runs with operands that live until the end of the call. */
function prepared<T>(run: () => T): T {
  const before = live();
  try {
    return run();
  } finally {
    dropTemporaries();
    expect(live()).toBe(before);
  }
}

describe("weak scalars", () => {
  /** The dtype of a scalar beside an array: Python's rule for its own scalars. */
  const expected = (scalar: "int" | "float" | "bool" | "complex", other: mx.Dtype): mx.Dtype => {
    if (scalar === "complex") return "complex64";
    if (scalar === "bool") return other;
    if (scalar === "float") return isFloating(other) ? other : "float32";
    return other === "bool" ? "int32" : other;
  };
  const scalars = { int: [2, 2n], float: [2.5, mx.float(2), NaN, Infinity], bool: [true], complex: [{ re: 1, im: 2 }] };

  for (const [kind, values] of Object.entries(scalars)) {
    for (const other of dtypeNames) {
      scoped(`${kind} beside ${other}`, () => {
        const array = mx.array([1, 0], { dtype: other });
        for (const value of values) {
          prepared(() => {
            const { a, b } = operands.pair(array, value as number, "add");
            expect(dtypeOf(a)).toBe(other);
            expect(dtypeOf(b)).toBe(expected(kind as "int", other));
          });
          prepared(() => {
            const { a, b } = operands.pair(value as number, array, "add");
            expect(dtypeOf(b)).toBe(other);
            expect(dtypeOf(a)).toBe(expected(kind as "int", other));
          });
        }
      });
    }
  }

  test("alone have a dtype of their own", () => {
    const own: [value: unknown, dtype: mx.Dtype][] = [
      [1, "int32"],
      [-(2 ** 31), "int32"],
      [2 ** 31, "int64"],
      [2 ** 53, "float32"],
      [1.5, "float32"],
      [1n, "int32"],
      [2n ** 40n, "int64"],
      [true, "bool"],
      [mx.float(1), "float32"],
      [{ re: 1, im: 0 }, "complex64"],
    ];
    for (const [value, dtype] of own) {
      prepared(() => expect(dtypeOf(operands.input(value as number, "op", "a"))).toBe(dtype));
      expect(operands.inputDtype(value as number, "op", "a")).toBe(dtype);
    }
    prepared(() => {
      const { a, b } = operands.pair(1, 2.5, "add");
      expect([dtypeOf(a), dtypeOf(b)]).toEqual(["int32", "float32"]);
    });
  });

  scoped("keep their values exactly, or say that they cannot", () => {
    expect(mx.add(mx.array([0], "float64"), 0.1).tolist()).toEqual([0.1]);
    expect(mx.add(mx.array([0n]), 2n ** 62n).tolist()).toEqual([2n ** 62n]);
    expect(mx.add(mx.array([0], "uint64"), 2n ** 64n - 1n).tolist()).toEqual([2n ** 64n - 1n]);
    expect(mx.multiply(mx.array([1], "bfloat16"), 2.5).tolist()).toEqual([2.5]);
    const refused: [dtype: mx.Dtype, value: number | bigint, text: string][] = [
      ["uint8", 256, "256 does not fit uint8 (0 to 255)."],
      ["uint8", -1, "-1 does not fit uint8 (0 to 255)."],
      ["int8", 128n, "128 does not fit int8 (-128 to 127)."],
      ["int32", 2 ** 31, "2147483648 does not fit int32 (-2147483648 to 2147483647)."],
      ["int64", 2n ** 63n, "9223372036854775808 does not fit int64 (-9223372036854775808 to 9223372036854775807)."],
      ["uint64", -1, "-1 does not fit uint64 (0 to 18446744073709551615)."],
      ["int64", 2 ** 53, "the number 9007199254740992 is past the safe integers: write a bigint, 9007199254740992n."],
      ["bool", 2n ** 64n, "18446744073709551616 does not fit int64 (-9223372036854775808 to 9223372036854775807)."],
    ];
    for (const [dtype, value, text] of refused) {
      const array = mx.array([0], dtype);
      prepared(() => {
        expect(refusal(() => mx.add(array, value))).toBe(`RangeError: add: b: ${text}`);
        expect(refusal(() => mx.add(value, array))).toBe(`RangeError: add: a: ${text}`);
      });
    }
  });
});

describe("what is no operand", () => {
  const cases: [value: unknown, text: string, hint?: string][] = [
    [undefined, "undefined"],
    [null, "null"],
    ["1", '"1"'],
    [[1, 2], "[1, 2]", " Make an array of it with mx.array(...)."],
    [new Float32Array(2), "a Float32Array", " Make an array of it with mx.array(...)."],
    [{}, "an object"],
    [Symbol("x"), "a symbol"],
    [(): number => 1, "a function"],
    [
      {
        get re(): number {
          return 1;
        },
        im: 0,
      },
      "an object",
    ],
    [Object.create({ re: 1, im: 0 }), "an object"],
  ];
  test.each(cases)("case %#", (value, text, hint = "") => {
    const operand = untyped<number>(value);
    prepared(() => {
      const message = (name: string): string =>
        `TypeError: add: ${name} must be an Array or a scalar, got ${text}.${hint}`;
      expect(refusal(() => operands.input(operand, "add", "a"))).toBe(message("a"));
      expect(refusal(() => operands.pair(1, operand, "add"))).toBe(message("b"));
      expect(refusal(() => operands.pair(operand, 1, "add"))).toBe(message("a"));
      expect(refusal(() => operands.inputLike(operand, "int8", "add", "a"))).toBe(message("a"));
      expect(refusal(() => operands.inputDtype(operand, "add", "a"))).toBe(message("a"));
      expect(refusal(() => operands.vector([1, 2, operand], "add", "arrays"))).toBe(message("arrays[2]"));
    });
  });

  scoped("other values of mlx-ts", () => {
    for (const value of [mx.newStream("cpu"), new mx.Device("cpu"), new mx.Closure(([x]) => x!)]) {
      prepared(() => {
        expect(refusal(() => mx.add(1, untyped(value)))).toStartWith(
          "TypeError: add: b must be an Array or a scalar, got a",
        );
      });
    }
    expect(refusal(() => mx.add(1, Object.create(mx.Array.prototype)))).toBe(
      "TypeError: add: an operand only inherits from Array: make it with mx.array.",
    );
  });

  scoped("an Array that was disposed, or has no value", () => {
    const gone = mx.array(1);
    gone.dispose();
    prepared(() => {
      expect(refusal(() => operands.pair(2.5, gone, "add"))).toStartWith("DisposedError: add: this Array was already");
      expect(refusal(() => operands.vector([1, gone], "stack", "arrays"))).toStartWith("DisposedError: stack:");
      expect(refusal(() => operands.inputDtype(gone, "where", "x"))).toStartWith("DisposedError: where:");
      expect(refusal(() => operands.indexInput(gone, "take", "indices"))).toStartWith("DisposedError: take:");
    });
    const lazy = inverse(
      mx.array([
        [1, 2],
        [2, 4],
      ]),
    );
    lazy.entry.poison = "it failed";
    prepared(() => {
      expect(refusal(() => mx.add(1, lazy))).toBe(
        "MlxError: add: an operand has no value, its evaluation failed: it failed",
      );
    });
  });
});

describe("nullable", () => {
  scoped("is the empty array for null and undefined, an operand otherwise", () => {
    prepared(() => {
      expect(operands.nullable(null, "op", "mask")).toBe(0);
      expect(operands.nullable(undefined, "op", "mask")).toBe(0);
      expect(operands.nullable(0, "op", "mask")).toBeGreaterThan(0);
      expect(refusal(() => operands.nullable(untyped("x"), "op", "mask"))).toContain("op: mask must be an Array");
    });
  });
});

describe("vector", () => {
  scoped("holds Arrays and scalars, also none", () => {
    const x = mx.array([1, 2]);
    prepared(() => {
      const vector = operands.vector([x, 1, true], "op", "arrays");
      expect(functions.mlx_vector_array_size(vector)).toBe(3);
      expect(functions.mlx_vector_array_size(operands.vector([], "op", "arrays"))).toBe(0);
    });
    expect(x.tolist()).toEqual([1, 2]);
  });

  test("wants a list without holes", () => {
    prepared(() => {
      for (const value of [undefined, null, 5, "ab", new Set([1]), { length: 1, 0: 1 }]) {
        expect(refusal(() => operands.vector(untyped([value][0]), "stack", "arrays"))).toStartWith(
          "TypeError: stack: arrays must be a list of Arrays, got ",
        );
      }
      expect(refusal(() => operands.vector(untyped([1, , 2]), "stack", "arrays"))).toContain("arrays[1] must be");
    });
  });
});

describe("indexInput", () => {
  test("reads plain numbers and nested lists as integers", () => {
    prepared(() => {
      for (const value of [3, 3n, [1, 2], [[1n], [2]], []]) {
        expect(dtypeOf(operands.indexInput(value, "take", "indices"))).toBe("int32");
      }
    });
  });

  test("refuses fractions, what does not fit, and what is no list", () => {
    prepared(() => {
      const refused = (value: unknown): string =>
        refusal(() => operands.indexInput(untyped<number>(value), "take", "indices"));
      expect(refused(0.5)).toBe("RangeError: take: indices: an index must be an integer, got 0.5.");
      expect(refused([1, NaN])).toBe("RangeError: take: indices: an index must be an integer, got NaN.");
      expect(refused([2 ** 31])).toStartWith("RangeError: take: indices: 2147483648 does not fit int32");
      expect(refused([[1], [2, 3]])).toStartWith("TypeError: take: indices: the nested lists are ragged");
      expect(refused("1")).toStartWith("TypeError: take: indices must be an Array of integers, an integer or a list");
      expect(refused(undefined)).toStartWith("TypeError: take: indices must be");
      expect(refused(true)).toStartWith("TypeError: take: indices must be");
    });
  });
});

describe("a failed call", () => {
  scoped("names its operands, their dtypes and shapes", () => {
    const x = mx.zeros([2, 3]);
    const y = mx.zeros([4], { dtype: "int32" });
    prepared(() => {
      expect(refusal(() => mx.add(x, y))).toBe(
        "MlxError: add: [broadcast_shapes] Shapes (2,3) and (4) cannot be broadcast. (operands: float32[2, 3], int32[4])",
      );
      expect(refusal(() => mx.concatenate([x, y]))).toContain("(operands: float32[2, 3], int32[4])");
      expect(refusal(() => mx.where(1, x, y))).toContain("(operands: 1, float32[2, 3], int32[4])");
    });
    const error = (() => {
      try {
        mx.add(x, y);
      } catch (caught) {
        return caught as mx.MlxError;
      }
      return null;
    })();
    expect(error?.operation).toBe("add");
    expect(error?.reason).toBe("[broadcast_shapes] Shapes (2,3) and (4) cannot be broadcast.");
    expect(error?.name).toBe("MlxError");
    expect(error).toBeInstanceOf(Error);
  });
});
