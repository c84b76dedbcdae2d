// What the planner's families compute, each with the planner's own functions.
import {
  account,
  type AttentionPass,
  attentionWork,
  type BufferView,
  causalPairs,
  commitReason,
  cudaLimits,
  firstTrigger,
  type Limits,
  type ModelledBuffer,
  type PackingBackend,
  metalLimits,
  planRanges,
  PlannerError,
  type Primitive,
  rangeMacs,
  simulate,
  type SimulatedOp,
  unitElements,
  unitsOf,
} from "../../src/planner/index.ts";
import type { Family, Vector } from "./run.ts";

type Inputs = Vector["inputs"];
type Fields = Record<string, unknown>;

/** Rounds to decimals, a tie to the even one, as the vectors were written. */
function rounded(value: number, digits: number): number {
  const scaled = value * 10 ** digits;
  const below = Math.floor(scaled);
  const up = scaled - below === 0.5 ? below % 2 === 1 : scaled - below > 0.5;
  return (up ? below + 1 : below) / 10 ** digits;
}

const limitsIn = ({ maxOps, maxMb }: Inputs): Limits => ({ maxOps, maxMb });

function shownLimits({ maxOps, maxMb }: Limits): Fields {
  return { maxOps, maxMb };
}

function metal({ arch, env }: Inputs): Fields {
  return shownLimits(metalLimits(arch, { environment: env ?? {} }));
}

function commitOf({ ops, elements, ...limits }: Inputs): Fields {
  return { units: unitsOf(elements), commit: commitReason(limitsIn(limits), ops, elements) !== null };
}

function shownCommit({ endOp, ops, elements, units, reason }: ModelledBuffer): Fields {
  return { afterPrimitive: endOp - 1, ops, elements, units, reason };
}

function shownOpen(buffer: ModelledBuffer | undefined): Fields {
  const { ops, elements, units } = buffer ?? { ops: 0, elements: 0, units: 0 };
  return { ops, elements, units };
}

function accountOf({ primitives, ...limits }: Inputs): Fields {
  const bound = (list: [string, number][]): BufferView[] =>
    list.map(([bufferId, dataSize]) => ({ bufferId, dataSize }));
  const given = (primitives as { type: string; dispatches?: [string, number][][] }[]).map((one) =>
    one.type === "op" ? { type: "op", dispatches: one.dispatches!.map(bound) } : one,
  ) as Primitive[];
  const { commits, open } = account(given, limitsIn(limits));
  return { commits: commits.map(shownCommit), open: shownOpen(open) };
}

/** How many operations it takes until their buffer is committed. */
function untilCommit(op: (i: number) => SimulatedOp, limits: Limits, backend: PackingBackend): number {
  for (let count = 1000; ; count *= 2) {
    const [first] = simulate(
      Array.from({ length: count }, (_, i) => op(i)),
      { limits, backend },
    );
    if (first !== undefined && first.reason !== "open") return first.ops;
    if (count > 2 ** 20) throw new Error(`nothing is committed within ${count} operations`);
  }
}

/** What replaying operations comes to. */
function replayed(ops: readonly SimulatedOp[], inputs: Inputs): Fields {
  const buffers = simulate(ops, { limits: limitsIn(inputs), donation: inputs.donation === true });
  const open = buffers.at(-1)?.reason === "open" ? buffers.at(-1) : undefined;
  const commits = open === undefined ? buffers : buffers.slice(0, -1);
  return {
    thresholdCommits: commits.length,
    opsPerCommit: [...new Set(commits.map((one) => one.ops))].sort((a, b) => a - b),
    firstCommits: commits.slice(0, 3).map(shownCommit),
    open: shownOpen(open),
    // The evaluation of the whole ends with a commit, be it of an empty buffer.
    totalBuffersInclFinalize: simulate([...ops, { marker: "evalEnd" }], { limits: limitsIn(inputs) }).length,
  };
}

/** Small products of the same two matrices, each written over the one before. */
function matmuls({ n }: Inputs): SimulatedOp[] {
  const view = (bufferId: string): BufferView => ({ bufferId, dataSize: 64 * 64 });
  return Array.from({ length: n }, () => ({ dispatches: 1, reads: [view("a"), view("b")], writes: [view("out")] }));
}

/** A sum that takes large arrays in turn, beginning as the first of them. */
function additions({ n, elementsPerArray: dataSize, rotatingInputs }: Inputs): SimulatedOp[] {
  const view = (bufferId: string): BufferView => ({ bufferId, dataSize });
  const sum = (i: number): BufferView => view(i === 0 ? "in0" : `sum${i}`);
  return Array.from({ length: n }, (_, i) => ({
    dispatches: 1,
    reads: [sum(i), view(`in${i % rotatingInputs}`)],
    writes: [sum(i + 1)],
  }));
}

function probe1(inputs: Inputs): Fields {
  if ("n" in inputs) return replayed(matmuls(inputs), inputs);
  const { default: plain, forced, ops5000 } = inputs;
  return { forcedOverDefault: rounded(forced / plain, 2), ops5000OverDefault: rounded(ops5000 / plain, 2) };
}

const elementsOf = (views: readonly BufferView[], ...names: string[]): number =>
  views.reduce((sum, { bufferId, dataSize }) => sum + (names.includes(String(bufferId)) ? dataSize : 0), 0);

function dkv(inputs: Inputs): Fields {
  if ("rows" in inputs) return uniformRanges(inputs);
  const { n, d, b, hkv, hq = hkv, ranges, maxActiveTasks } = inputs;
  const { inputs: views, memory } = attentionWork({ pass: "dkv", n, d, b, hq, hkv });
  const key = elementsOf(views, "k");
  const live = views.reduce((sum, { dataSize }) => sum + dataSize, 0);
  const pair = Number(memory.rangeBytes);
  // The partial gradients are read as operands and written as two outputs of their own.
  const keyShaped = elementsOf(views, "k", "v", "dkPartial", "dvPartial") + 2 * key;
  const queryShaped = elementsOf(views, "q", "dO");
  const statistics = elementsOf(views, "lse", "delta");
  const total = queryShaped + keyShaped + statistics;
  return {
    ...{ q_plus_dO: queryShaped, kv_and_partials: keyShaped, lse_plus_D: statistics, total, units: unitsOf(total) },
    ...{ plannerLiveInputs: live, plannerLiveUnits: unitsOf(live) },
    bytesPerInFlightRange: pair,
    unthrottledBytes: (ranges + 1) * pair,
    throttleInFlightApprox: maxActiveTasks + 1,
    throttledBytesApprox: (maxActiveTasks + 2) * pair,
  };
}

function uniformRanges({ n, d, b, hq, rows, ranges }: Inputs): Fields {
  const { pairCost } = attentionWork({ pass: "dkv", n, d, b, hq, hkv: hq });
  const each = Array.from({ length: ranges }, (_, i) => Number(rangeMacs(i * rows, (i + 1) * rows, n, pairCost, true)));
  const nominal = Number(rangeMacs(0, rows, n, pairCost, false));
  const causalTotal = Number(rangeMacs(0, rows * ranges, n, pairCost, true));
  return {
    nominalPerRange: nominal,
    nominalTotal: nominal * ranges,
    causalTotal,
    causalPerRange: each,
    rectOverCausal: (nominal * ranges) / causalTotal,
  };
}

function forward({ n = 1, d, b, hq, hkv = hq, rowsPerRange, maxMb }: Inputs): Fields {
  const { inputs: views, outputElements } = attentionWork({ pass: "forward", n, d, b, hq, hkv });
  const elements = views.reduce((sum, { dataSize }) => sum + dataSize, 0);
  const fields: Fields = {
    ...{ elements, units: unitsOf(elements), exactUnits: elements / unitElements },
    elementsPerRow: outputElements!(0, 1),
  };
  if (rowsPerRange === undefined) return fields;
  const output = outputElements!(0, rowsPerRange);
  const writes = (i: number): BufferView[] => [{ bufferId: `rows${i}`, dataSize: output }];
  const dispatchesInBuffer = untilCommit(
    (i) => ({ dispatches: 1, reads: views, writes: writes(i) }),
    { maxOps: 2 ** 31 - 1, maxMb },
    "metal",
  );
  return {
    ...fields,
    ...{ outputElements: output, outputUnits: rounded(output / unitElements, 4), dispatchesInBuffer },
  };
}

function budget({ measuredRate, safety }: Inputs): Fields {
  const plan = planRanges({ queryRows: 1, pairCost: 1, rate: measuredRate, safetyFactor: safety, budgetSeconds: 4 });
  const { budgetSeconds } = planRanges({ queryRows: 1, pairCost: 1, rate: 1e9 });
  return {
    plannedRate: plan.plannedRate,
    projectedOverRaw: plan.seconds(0) * measuredRate,
    maxDispatchSeconds: budgetSeconds,
    realSecondsAtBudget: (budgetSeconds * plan.plannedRate) / measuredRate,
  };
}

/** As many dispatches as a graph takes, each reading as much. */
function graph({ inputElementsPerDispatch: dataSize, ...limits }: Inputs): Fields {
  const op = { dispatches: 1, reads: [{ bufferId: "inputs", dataSize }], writes: [{ bufferId: "out", dataSize }] };
  return { dispatchesInGraph: untilCommit(() => op, limitsIn(limits), "cuda") };
}

const passes: Readonly<Record<string, AttentionPass>> = { fwd: "forward", dq: "dq", dkv: "dkv" };
const reasons: Readonly<Record<string, string>> = {
  unitOverBudget: "unit-over-budget",
  packedOverBudget: "packed-over-budget",
};

/** The published planner's plan: the rate is the planned one, the buffer empty, each input its own buffer. */
function plan({ kind, commitOps, commitElements, blockAlign, budgetSeconds, rate, ...shape }: Inputs): Fields {
  const { n, d, b, hq, hkv, causal } = shape;
  if (commitElements % unitElements !== 0) throw new Error(`${commitElements} elements are no whole units`);
  const texts = {
    MLX_MAX_OPS_PER_BUFFER: `${commitOps - 1}`,
    MLX_MAX_MB_PER_BUFFER: `${commitElements / unitElements - 1}`,
  };
  // As from the environment, where a limit may also be 0: that planner commits after every range then.
  const limits = metalLimits("applegpu_g13s", { environment: texts });
  try {
    const made = planRanges({
      ...attentionWork({ pass: passes[kind]!, n, d, b, hq, hkv, causal }),
      ...{ rate, safetyFactor: 1, blockAlign, budgetSeconds, limits, strategy: "published" },
    });
    const ranges = [...made];
    return {
      count: made.count,
      first: ranges[0],
      last: ranges.at(-1),
      ranges,
      sha256: new Bun.CryptoHasher("sha256").update(JSON.stringify(ranges)).digest("hex"),
    };
  } catch (error) {
    if (!(error instanceof PlannerError)) throw error;
    return { error: "LaunchBudgetError", reason: reasons[error.code] ?? error.message };
  }
}

export const plannerFamilies: Readonly<Record<string, Family>> = {
  limits: metal,
  env: (inputs) => ("arch" in inputs ? metal(inputs) : commitOf(inputs)),
  cuda: (inputs) =>
    "computeCapability" in inputs
      ? shownLimits(cudaLimits(inputs.computeCapability, { environment: inputs.env ?? {} }))
      : graph(inputs),
  firstTrigger: (inputs) => {
    const { ops, elements } = firstTrigger(limitsIn(inputs));
    return {
      firstTriggeringOps: ops,
      firstTriggeringElements: elements,
      lastNonTriggeringElements: elements - 1,
    };
  },
  needsCommit: commitOf,
  account: accountOf,
  probe1,
  probe2: (inputs) => replayed(additions(inputs), inputs),
  dkv,
  fwd: forward,
  budget,
  causalPairs: ({ r0, r1 }) => ({ pairs: causalPairs(r0, r1) }),
  plan,
  // How often the CPU's scheduler notifies: nothing is packed there.
  cpu: null,
};
