// Printing options: Python's texts, the end of a block, and what is refused.
import { afterEach, describe, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { refusal, said, scoped, untyped } from "../helpers.ts";

afterEach(() => mx.setPrintoptions());

describe("precision", () => {
  // As Python MLX 0.32.2 prints array([1.23456789, 2]).
  scoped("prints what Python prints", () => {
    const x = mx.array([1.23456789, 2], { dtype: "float32" });
    expect(String(x)).toBe("array([1.23457, 2], dtype=float32)");
    mx.setPrintoptions({ precision: 3 });
    expect(String(x)).toBe("array([1.235, 2.000], dtype=float32)");
    expect(Bun.inspect(x)).toBe("array([1.235, 2.000], dtype=float32)");
    expect(mx.getPrintoptions()).toEqual({ precision: 3 });
    mx.setPrintoptions(0);
    expect(String(x)).toBe("array([1, 2], dtype=float32)");
    mx.setPrintoptions({ precision: -1 });
    expect(String(x)).toBe("array([1.23457, 2], dtype=float32)");
  });

  scoped("printoptions lasts until the end of its block, also past an error", () => {
    const x = mx.array([0.5]);
    mx.setPrintoptions(4);
    try {
      using outer = mx.printoptions({ precision: 2 });
      expect(String(x)).toBe("array([0.50], dtype=float32)");
      {
        using _ = mx.printoptions(1);
        expect(String(x)).toBe("array([0.5], dtype=float32)");
      }
      expect(String(x)).toBe("array([0.50], dtype=float32)");
      outer[Symbol.dispose]();
      throw new Error("on purpose");
    } catch (error) {
      expect((error as Error).message).toBe("on purpose");
    }
    expect(mx.getPrintoptions()).toEqual({ precision: 4 });
  });

  test("refuses what is no number of digits, and changes nothing", () => {
    mx.setPrintoptions(3);
    const range = "precision must be from 0 to 200, or -1 for MLX's own choice";
    expect(refusal(() => mx.setPrintoptions(-2))).toBe(`RangeError: setPrintoptions: ${range}, got -2.`);
    expect(refusal(() => mx.printoptions({ precision: 201 }))).toBe(`RangeError: printoptions: ${range}, got 201.`);
    expect(refusal(() => mx.setPrintoptions(1.5))).toStartWith(
      "RangeError: setPrintoptions: precision must be a 32-bit",
    );
    expect(refusal(() => mx.setPrintoptions(untyped("3")))).toStartWith(
      "TypeError: setPrintoptions: precision must be",
    );
    expect(refusal(() => mx.setPrintoptions(untyped({ digits: 3 })))).toContain('unknown option "digits"');
    expect(mx.getPrintoptions()).toEqual({ precision: 3 });
  });

  test("the most digits print", async () => {
    const lines = await said(`
      mx.setPrintoptions(200);
      const text = String(mx.array([0.1]));
      say(text.length, text.slice(0, 20));
    `);
    expect(lines).toEqual(["226 array([0.10000000149"]);
  });
});
