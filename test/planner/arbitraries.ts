// Random planning tasks, of which most have a plan.
import fc from "fast-check";
import {
  type BufferView,
  cudaLimits,
  metalLimits,
  type Plan,
  type PlanMode,
  type PlanOptions,
  planRanges,
  PlannerError,
  type ResolvedLimits,
  rangeMacs,
} from "../../src/planner/index.ts";

/** Rows: few, some, and up to the longest that the properties are asked for. */
export const rows: fc.Arbitrary<number> = fc.oneof(
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 40 }) },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 5000 }) },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 2 ** 20 }) },
  { weight: 1, arbitrary: fc.constantFrom(1, 2, 8192, 131_072, 2 ** 20) },
);

/** c * d * b * hq. */
export const pairCosts: fc.Arbitrary<number> = fc
  .tuple(
    fc.constantFrom(2, 3, 4),
    fc.constantFrom(64, 80, 96, 128, 256),
    fc.integer({ min: 1, max: 4 }),
    fc.integer({ min: 1, max: 64 }),
  )
  .map(([c, d, b, hq]) => c * d * b * hq);

const aligns: fc.Arbitrary<number> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(1, 1, 32, 64, 48) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 20 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 2 ** 21 }) },
);

/** Few buffers, so that inputs share them. A buffer's views have one size here. */
export const inputLists: fc.Arbitrary<BufferView[]> = fc
  .tuple(
    fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 6 }),
    fc.array(fc.integer({ min: 0, max: 40_000_000 }), { minLength: 4, maxLength: 4 }),
  )
  .map(([ids, sizes]) => ids.map((id) => ({ bufferId: id, dataSize: sizes[id]! })));

export const someLimits: fc.Arbitrary<ResolvedLimits> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom("applegpu_g13s", "applegpu_g13g", "applegpu_g14p", "other"),
      fc.constantFrom(
        {},
        {},
        { MLX_MAX_OPS_PER_BUFFER: "2000", MLX_MAX_MB_PER_BUFFER: "2000" },
        { MLX_MAX_OPS_PER_BUFFER: "" },
        { MLX_MAX_MB_PER_BUFFER: "-1" },
      ),
    )
    .map(([architecture, environment]) => metalLimits(architecture, { environment })),
  fc.constantFrom("8.0", "9.0", "12.1", "7.5").map((capability) => cudaLimits(capability)),
);

export interface TaskParts {
  readonly options: PlanOptions;
  /** Elements a row of output, the function's factor. */
  readonly perRow: number;
}

/** Tasks in a mode. `parts` of the budget's length make the whole pass, so that plans are neither trivial nor huge. */
export function tasks(
  mode: PlanMode,
  { initial: withInitial = true }: { readonly initial?: boolean } = {},
): fc.Arbitrary<TaskParts> {
  return fc
    .record({
      n: rows,
      pairCost: pairCosts,
      causal: fc.boolean(),
      align: aligns,
      parts: fc.integer({ min: -100, max: 650 }).map((hundredths) => 2 ** (hundredths / 100)),
      budgetSeconds: fc.constantFrom(0.5, 0.5, 0.25, 3),
      safetyFactor: fc.constantFrom(0.5, 1, 0.3),
      inputs: inputLists,
      perRow: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5000 })),
      opsPerRange: fc.integer({ min: 1, max: 3 }),
      limits: someLimits,
      initial: fc.record({
        ops: fc.integer({ min: 0, max: 19 }),
        elements: fc.integer({ min: 0, max: 25 * 2 ** 20 }),
        share: fc.integer({ min: 0, max: 1000 }).map((thousandths) => thousandths / 1000),
        seen: fc.uniqueArray(fc.integer({ min: 0, max: 5 }), { maxLength: 3 }),
      }),
    })
    .map(
      ({
        n,
        pairCost,
        causal,
        align,
        parts,
        budgetSeconds,
        safetyFactor,
        inputs,
        perRow,
        opsPerRange,
        limits,
        initial,
      }) => {
        const total = Number(rangeMacs(0, n, n, pairCost, causal));
        const { ops, elements, share, seen } = initial;
        return {
          perRow,
          options: {
            ...{ queryRows: n, pairCost, causal, budgetSeconds, safetyFactor, inputs, opsPerRange, limits, mode },
            blockAlign: align,
            rate: total / (parts * budgetSeconds * safetyFactor),
            ...(perRow > 0 ? { outputElements: (r0: number, r1: number) => perRow * (r1 - r0) } : {}),
            ...(withInitial && share > 0.5
              ? { initial: { ops, elements, seconds: (share - 0.5) * budgetSeconds, seen } }
              : {}),
          },
        };
      },
    );
}

/** The plan, or why there is none. */
export function planOf(options: PlanOptions): Plan | PlannerError {
  try {
    return planRanges(options);
  } catch (error) {
    if (error instanceof PlannerError) return error;
    throw error;
  }
}

export const runs = 10_000;
