// Kind `dtype`: tables of result dtypes for pairs of dtypes, with arrays and with Python scalars.
import { isArray } from "../arrays.ts";
import type { Case } from "../format.ts";
import { type Callable, resolveFunction } from "../names.ts";
import { rejectError } from "./error.ts";

type Table = Record<string, string>;

/** Python's True, 2, 0.5 and 1j. */
const scalars: Record<string, unknown> = { bool: true, int: 2, float: 0.5, complex: { re: 0, im: 1 } };

/** Functions that are not simply f(a, b) or f(a). */
const special: Record<string, (call: Callable, a: unknown, b: unknown) => unknown> = {
  "mx.divmod": (call, a, b) => (call(a, b) as unknown[])[0],
  "mx.where": (call, a, b) => call(resolveFunction("mx.array")([true]), a, b),
  "mx.concatenate": (call, a, b) => call([a, b]),
  "mx.clip": (call, a, b) => call(a, b, null),
  "mx.tensordot": (call, a, b) => call(a, b, { axes: 1 }),
};

function ones(fn: string, dtype: string, unary: boolean): unknown {
  const square = fn === "mx.matmul" || fn === "mx.trace";
  return resolveFunction("mx.ones")(square ? [1, 1] : [unary ? 2 : 1], { dtype });
}

/** Null when `make` gives the dtype, or raises where the table says so. */
function check(label: string, expected: string, make: () => unknown): string | null {
  let result: unknown;
  try {
    result = make();
  } catch (error) {
    if (expected.startsWith("!")) {
      const reason = rejectError(error, expected.slice(1));
      return reason === null ? null : `${label}: ${reason}`;
    }
    return `${label}: expected ${expected}, it threw ${error instanceof Error ? error.message : Bun.inspect(error)}`;
  }
  const dtype = isArray(result) ? result.dtype : Bun.inspect(result);
  return dtype === expected ? null : `${label}: expected ${expected}, got ${dtype}`;
}

function operand(fn: string, name: string, scalar: boolean): unknown {
  return scalar ? scalars[name] : ones(fn, name, false);
}

function checkPairs(fn: string, table: Table, scalarSide: "left" | "right" | "none"): string[] {
  const call = resolveFunction(fn);
  const apply = special[fn] ?? ((target, a, b) => target(a, b));
  return Object.entries(table).flatMap(([key, expected]) => {
    const [left = "", right = ""] = key.split(",");
    const a = operand(fn, left, scalarSide === "left");
    const b = operand(fn, right, scalarSide === "right");
    const label = scalarSide === "none" ? `(${key})` : `(${key}) with a scalar on the ${scalarSide}`;
    return check(label, expected, () => apply(call, a, b)) ?? [];
  });
}

export function runDtype(one: Case): string | null {
  const fn = one.fn ?? "";
  const call = resolveFunction(fn);
  const evaluate = resolveFunction("mx.eval");
  const problems = Object.entries((one.unary ?? {}) as Table).flatMap(([dtype, expected]) => {
    const operand = ones(fn, dtype, true);
    const make = (): unknown => {
      const result = call(operand);
      evaluate(result);
      return result;
    };
    return check(`(${dtype})`, expected, make) ?? [];
  });
  problems.push(...checkPairs(fn, (one.arrays ?? {}) as Table, "none"));
  problems.push(...checkPairs(fn, (one.scalar_right ?? {}) as Table, "right"));
  problems.push(...checkPairs(fn, (one.scalar_left ?? {}) as Table, "left"));
  if (problems.length === 0) return null;
  return `${problems.length} wrong: ${problems.slice(0, 6).join("; ")}${problems.length > 6 ? "; ..." : ""}`;
}
