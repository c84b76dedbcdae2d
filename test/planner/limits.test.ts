import { describe, expect, test } from "bun:test";
import {
  account,
  cudaLimits,
  firstTrigger,
  metalLimits,
  PlannerError,
  type PlannerErrorCode,
  simulate,
  type SimulatedOp,
} from "../../src/planner/index.ts";

function refusal(run: () => unknown): [PlannerErrorCode, string] {
  try {
    run();
  } catch (error) {
    if (error instanceof PlannerError) return [error.code, error.field];
    throw error;
  }
  throw new Error("nothing was refused");
}

const pair = ({ maxOps, maxMb }: { maxOps: number; maxMb: number }): [number, number] => [maxOps, maxMb];

describe("limits", () => {
  test("by the last letter of Metal's architecture", () => {
    expect(pair(metalLimits("applegpu_g15p"))).toEqual([20, 40]);
    expect(pair(metalLimits("applegpu_g15g"))).toEqual([40, 40]);
    expect(pair(metalLimits("applegpu_g15s"))).toEqual([50, 50]);
    expect(pair(metalLimits("applegpu_g15d"))).toEqual([50, 50]);
    expect(pair(metalLimits("somethingElse"))).toEqual([40, 40]);
    expect(firstTrigger(metalLimits("applegpu_g15s"))).toEqual({ ops: 51, elements: 53_477_376 });
  });

  test("by CUDA's compute capability", () => {
    const table = { "8.0": [20, 400], "9.0": [100, 1000], "10.0": [100, 1000], "12.0": [100, 1000], "12.1": [20, 25] };
    for (const [capability, limits] of Object.entries(table))
      expect(pair(cudaLimits(capability))).toEqual(limits as never);
    for (const other of ["7.5", "8.6", "8.9", "10.3"]) expect(pair(cudaLimits(other))).toEqual([20, 100]);
  });

  test("the environment's numbers are read as C reads them, and are said to come from there", () => {
    const read = (text: string): number =>
      metalLimits("applegpu_g13s", { environment: { MLX_MAX_OPS_PER_BUFFER: text } }).maxOps;
    const texts = { "": 0, abc: 0, "2000": 2000, " 12": 12, "+7": 7, "-1": -1, "50.9": 50, "1e3": 1, "0x10": 0 };
    for (const [text, value] of Object.entries(texts)) expect([text, read(text)]).toEqual([text, value]);
    expect(read("4294967297")).toBe(1);
    expect(read("99999999999999999999")).toBe(-1);
    const limits = metalLimits("applegpu_g13s", {
      environment: { MLX_METAL_GPU_ARCH: "applegpu_g13p", MLX_MAX_MB_PER_BUFFER: "2000" },
    });
    expect(limits).toMatchObject({ maxOps: 20, maxMb: 2000, architecture: "applegpu_g13p" });
    expect(limits.sources).toEqual({ maxOps: "architecture", maxMb: "environment" });
    expect(limits.architectureSource).toBe("environment");
    expect(cudaLimits("9.0", { environment: { MLX_MAX_OPS_PER_BUFFER: "3" } }).sources.maxOps).toBe("environment");
  });

  test("versions of MLX before 0.23.0 had another rule, which is refused", () => {
    const of = (mlxVersion: string) => () => metalLimits("applegpu_g13s", { mlxVersion });
    for (const old of ["0.22.1", "0.1.0", "0.22"])
      expect(refusal(of(old))).toEqual(["unsupportedVersion", "mlxVersion"]);
    for (const known of ["0.23.0", "0.32.4", "0.33.0rc1", "1.0"]) expect(of(known)().mlxVersion).toBe(known);
    for (const none of ["", "new", "v0.32"]) expect(refusal(of(none))).toEqual(["badInput", "mlxVersion"]);
    expect(refusal(() => cudaLimits("9.0", { mlxVersion: "0.22.0" }))).toEqual(["unsupportedVersion", "mlxVersion"]);
  });

  test("names that are none are refused", () => {
    expect(refusal(() => metalLimits(""))).toEqual(["badInput", "architecture"]);
    for (const none of ["sm90", 9, undefined, Symbol("9.0")])
      expect(refusal(() => cudaLimits(none as never))).toEqual(["badInput", "computeCapability"]);
    expect(refusal(() => metalLimits(5 as never))).toEqual(["badInput", "architecture"]);
    for (const none of [null, 5, "0.32.2"])
      expect(refusal(() => metalLimits("x", none as never))).toEqual(["badInput", "options"]);
    expect(refusal(() => metalLimits("x", { environment: null as never }))).toEqual(["badInput", "environment"]);
    const environment = { MLX_MAX_OPS_PER_BUFFER: 50 as never };
    for (const of of [() => metalLimits("x", { environment }), () => cudaLimits("9.0", { environment })])
      expect(refusal(of)).toEqual(["badInput", "environment.MLX_MAX_OPS_PER_BUFFER"]);
    for (const bare of [null, {}, { maxOps: 5 }])
      expect(refusal(() => firstTrigger(bare as never))[1]).toStartWith("limits");
  });

  test("an architecture that the environment sets to nothing is that of the device, as in MLX", () => {
    const limits = metalLimits("applegpu_g13p", { environment: { MLX_METAL_GPU_ARCH: "" } });
    expect(limits).toMatchObject({ maxOps: 20, architecture: "applegpu_g13p", architectureSource: "argument" });
  });
});

describe("the simulator", () => {
  const limits = metalLimits("applegpu_g13s");
  const op = (dispatches: number, reads: [string, number][] = [], more: Partial<SimulatedOp> = {}): SimulatedOp => ({
    dispatches,
    reads: reads.map(([bufferId, dataSize]) => ({ bufferId, dataSize })),
    writes: [],
    ...more,
  });

  test("2,000 products: 39 commits at 51 operations, and what is left", () => {
    const buffers = simulate([...Array.from({ length: 2000 }, () => op(1, [["a", 4096]])), { marker: "evalEnd" }], {
      limits,
    });
    expect(buffers.slice(0, -1).every(({ ops, reason }) => ops === 51 && reason === "ops")).toBe(true);
    expect(buffers).toHaveLength(40);
    expect(buffers.at(-1)).toMatchObject({ ops: 11, reason: "finalize" });
  });

  test("limits are looked at once an operation: several dispatches do not come apart", () => {
    expect(simulate([op(49), op(120), op(1)], { limits }).map(({ ops, reason }) => [ops, reason])).toEqual([
      [169, "ops"],
      [1, "open"],
    ]);
  });

  test("a view binds nothing; an event forgets what was seen, not what was counted", () => {
    const large: [string, number] = ["a", 30 * 2 ** 20];
    expect(simulate([op(0, [large]), op(1, [large]), op(1, [large])], { limits })).toMatchObject([{ units: 30 }]);
    expect(simulate([op(1, [large]), { marker: "event" }, op(1, [large])], { limits })).toMatchObject([
      { units: 60, reason: "elements", endOp: 3 },
    ]);
  });

  test("synchronize and the end of an evaluation commit; what is open before counts", () => {
    const buffers = simulate([op(1), { marker: "synchronize" }, op(2, [["a", 5]], { seconds: 0.5, assumed: true })], {
      limits,
      initial: { ops: 48, elements: 7, seconds: 1, seen: ["b"] },
    });
    expect(buffers).toMatchObject([
      { ops: 49, elements: 7, seconds: 1, reason: "synchronize", assumed: false },
      { firstOp: 2, endOp: 3, ops: 2, elements: 5, seconds: 0.5, reason: "open", assumed: true },
    ]);
  });

  test("donation: a result takes over a buffer that was written, has its size and is read no more, once", () => {
    const view = (bufferId: string, dataSize = 8): { bufferId: string; dataSize: number } => ({ bufferId, dataSize });
    const step = (reads: string[], writes: string[], size = 8): SimulatedOp => ({
      ...{ dispatches: 1, reads: reads.map((id) => view(id)), writes: writes.map((id) => view(id, size)) },
    });
    const elements = (...ops: SimulatedOp[]): number => simulate(ops, { limits, donation: true })[0]!.elements;
    const first = step(["in"], ["a"]);
    expect(elements(first, step(["a"], ["b"]))).toBe(16);
    expect(elements(first, step(["a"], ["b"]), step(["b"], ["c"]))).toBe(16);
    // Read later, of another size, never written here, already taken by another result, written before.
    expect(elements(first, step(["a"], ["b"]), step(["a", "b"], []))).toBe(24);
    expect(elements(first, step(["a"], ["b"], 9))).toBe(25);
    expect(elements(step(["in"], ["b"]))).toBe(16);
    expect(elements(first, step(["a"], ["b", "c"]))).toBe(24);
    expect(elements(first, step(["in"], ["b"]), step(["a"], ["b"]))).toBe(24);
  });

  test("on CUDA each reference counts, and no output", () => {
    const write = { writes: [{ bufferId: "out", dataSize: 2 ** 30 }] };
    const one = op(1, [["a", 60 * 2 ** 20]], write);
    expect(simulate([one, one, one], { limits: cudaLimits("7.5") })).toMatchObject([
      { ops: 2, units: 120, reason: "elements" },
      { ops: 1, units: 60, reason: "open" },
    ]);
  });

  test("counts that are none are refused", () => {
    const of =
      (ops: unknown[], more: object = {}) =>
      () =>
        simulate(ops as SimulatedOp[], { limits, ...more });
    const view = { bufferId: 1, dataSize: -1 };
    expect(refusal(of([op(1), op(-1)]))).toEqual(["badInput", "ops[1].dispatches"]);
    expect(refusal(of([op(0.5)]))).toEqual(["badInput", "ops[0].dispatches"]);
    expect(refusal(of([op(1, [["a", Number.NaN]])]))).toEqual(["badInput", "ops[0].reads[0].dataSize"]);
    expect(refusal(of([op(1, [], { writes: [view] })]))).toEqual(["badInput", "ops[0].writes[0].dataSize"]);
    expect(refusal(of([op(1, [], { seconds: -1 })]))).toEqual(["badInput", "ops[0].seconds"]);
    expect(refusal(of([{ marker: "end" }]))).toEqual(["badInput", "ops[0].marker"]);
    expect(refusal(of([], { limits: { maxOps: Number.NaN, maxMb: 1 } }))).toEqual(["badInput", "limits.maxOps"]);
    expect(refusal(of([], { initial: { ops: -1 } }))).toEqual(["badInput", "initial.ops"]);
    expect(refusal(of([op(1, [], { seconds: "5" as never })]))).toEqual(["badInput", "ops[0].seconds"]);
    expect(refusal(of([op(1, [], { seconds: Number.POSITIVE_INFINITY })]))).toEqual(["badInput", "ops[0].seconds"]);
  });

  test.each([null, undefined, 0.5, "x", 1n, Symbol("x"), {}] as never[])("%p where something else belongs", (none) => {
    const ops = [op(1)];
    expect(refusal(() => simulate(none, { limits }))).toEqual(["badInput", "ops"]);
    const one = refusal(() => simulate([none], { limits }));
    expect(one[1]).toStartWith("ops[0]");
    expect(refusal(() => simulate(ops, none))[1]).toMatch(/^options$|^limits$/);
    expect(refusal(() => simulate(ops, { limits: none }))[1]).toStartWith("limits");
    expect(refusal(() => simulate([{ dispatches: 1, reads: none, writes: [] }], { limits }))[1]).toBe("ops[0].reads");
    expect(refusal(() => simulate([{ dispatches: 1, reads: [], writes: [none] }], { limits }))[1]).toStartWith(
      "ops[0].writes[0]",
    );
    expect(refusal(() => simulate([{ marker: none }], { limits }))).toEqual(["badInput", "ops[0].marker"]);
    if (none !== undefined) {
      expect(refusal(() => simulate(ops, { limits, backend: none }))).toEqual(["badInput", "backend"]);
      expect(refusal(() => simulate(ops, { limits, donation: none }))).toEqual(["badInput", "donation"]);
      expect(refusal(() => simulate(ops, { limits, initial: { seen: none } }))).toEqual(["badInput", "initial.seen"]);
    }
    expect(refusal(() => account(none, limits))).toEqual(["badInput", "primitives"]);
    expect(refusal(() => account([none], limits))[1]).toStartWith("primitives[0]");
    expect(refusal(() => account([], none))[1]).toStartWith("limits");
    expect(refusal(() => account([{ type: none }], limits))).toEqual(["badInput", "primitives[0].type"]);
    const within = (dispatches: never): string => refusal(() => account([{ type: "op", dispatches }], limits))[1];
    expect(within(none)).toBe("primitives[0].dispatches");
    expect(within([[], none] as never)).toBe("primitives[0].dispatches[1]");
    expect(within([[none]] as never)).toStartWith("primitives[0].dispatches[0][0]");
    expect(within([[{ bufferId: "a", dataSize: none }]] as never)).toBe("primitives[0].dispatches[0][0].dataSize");
  });

  test("no operations, no buffers", () => {
    expect(simulate([], { limits })).toEqual([]);
    expect(simulate([{ marker: "evalEnd" }], { limits })).toMatchObject([{ ops: 0, reason: "finalize" }]);
  });
});
