/**
 * How MLX packs work into command buffers: measured against modelled.
 *
 *   bun examples/probe-packing.ts [--architecture applegpu_g13s] [--rounds 5] [--elements 13000000] [--measure]
 *
 * Two probes, each under MLX's default limits, with a commit forced after every operation, and with limits raised out
 * of reach: 2,000 products of small matrices, which the limit on operations cuts, and 200 additions of large arrays,
 * which the limit on elements cuts. MLX reads its environment once a process, so each runs in a child process.
 *
 * On a Mac it prints seconds beside the modelled number of buffers: where the model is right, more buffers cost more
 * in proportion. Elsewhere nothing packs, and it prints the model alone; `--measure` times the probes all the same.
 */

import { parseArgs } from "node:util";
import { metalLimits, type ModelledBuffer, type ResolvedLimits, simulate, type SimulatedOp } from "mlx-ts/planner";

const usage = `usage: bun examples/probe-packing.ts [options]
  --architecture NAME   what to model where there is no Metal (default: applegpu_g13s)
  --rounds N            evaluations, of which the fastest counts (default: 5)
  --elements N          elements of the arrays that are added (default: 13000000)
  --measure             time the probes without Metal too`;

const options = {
  architecture: { type: "string", default: "applegpu_g13s" },
  rounds: { type: "string", default: "5" },
  elements: { type: "string", default: "13000000" },
  measure: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
  child: { type: "string" },
} as const;

/** Ends the program with what a user can act on, without a stack. */
function refuse(problem: unknown): never {
  console.error(`error: ${problem instanceof Error ? problem.message : String(problem)}`);
  process.exit(1);
}

function readFlags(): ReturnType<typeof parseArgs<{ options: typeof options }>>["values"] {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return refuse(error);
  }
}

const flags = readFlags();
if (flags.help) {
  console.log(usage);
  process.exit(0);
}
const elements = count("elements");
const rounds = count("rounds");
const side = 64;

/** A flag that counts something. */
function count(name: "elements" | "rounds"): number {
  const value = Number(flags[name]);
  if (Number.isSafeInteger(value) && value > 0) return value;
  return refuse(`--${name}: expected an integer of at least 1, not "${flags[name]}"`);
}

const probes = ["products", "additions"] as const;
type Probe = (typeof probes)[number];
const counts: Readonly<Record<Probe, number>> = { products: 2000, additions: 200 };

const conditions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  default: {},
  forced: { MLX_MAX_OPS_PER_BUFFER: "0" },
  raised: { MLX_MAX_OPS_PER_BUFFER: "5000", MLX_MAX_MB_PER_BUFFER: "5000" },
};
const variables = ["MLX_MAX_OPS_PER_BUFFER", "MLX_MAX_MB_PER_BUFFER", "MLX_METAL_GPU_ARCH"];

/** The operations of a probe as the model takes them. */
function operations(probe: Probe): SimulatedOp[] {
  const large = probe === "additions";
  const dataSize = large ? elements : side * side;
  const operand = (i: number): string => (large ? `operand ${i % 4}` : "factor");
  const result = (i: number): string => (i === 0 ? operand(0) : `result ${i}`);
  return Array.from({ length: counts[probe] }, (_, i) => ({
    dispatches: 1,
    reads: [result(i), operand(i)].map((bufferId) => ({ bufferId, dataSize })),
    writes: [{ bufferId: result(i + 1), dataSize }],
  }));
}

function model(probe: Probe, limits: ResolvedLimits): ModelledBuffer[] {
  // A sum takes over the buffer of the sum before it. A product cannot.
  return simulate([...operations(probe), { marker: "evalEnd" }], { limits, donation: probe === "additions" });
}

interface Measured {
  readonly seconds: number;
  /** Null where there is no Metal. */
  readonly architecture: string | null;
}

/** What the child does: the least time of a few evaluations, the first of which warms up. */
async function measureHere(probe: Probe, rounds: number): Promise<Measured> {
  const mx = await import("mlx-ts");
  const operands = mx.tidy(() =>
    probe === "products"
      ? [mx.eye(side)]
      : Array.from({ length: 4 }, (_, i) => mx.full([elements], 1 / (i + 1), { dtype: "float32" })),
  );
  mx.eval(operands);
  let seconds = Number.POSITIVE_INFINITY;
  for (let round = 0; round <= rounds; round++) {
    mx.tidy(() => {
      let x = operands[0]!;
      for (let i = 0; i < counts[probe]; i++)
        x = probe === "products" ? x.matmul(operands[0]!) : x.add(operands[i % 4]!);
      const start = performance.now();
      mx.eval(x);
      mx.synchronize();
      if (round > 0) seconds = Math.min(seconds, (performance.now() - start) / 1000);
    });
  }
  mx.dispose(operands);
  const architecture = mx.metal.isAvailable() ? String(mx.metal.deviceInfo()["architecture"]) : null;
  return { seconds, architecture };
}

function measure(probe: Probe, environment: Readonly<Record<string, string>>): Measured {
  // What this process was started with must not reach a probe of the defaults.
  const env: Record<string, string | undefined> = { ...process.env };
  for (const name of variables) delete env[name];
  const child = ["--child", probe, "--rounds", flags.rounds, "--elements", flags.elements];
  const result = Bun.spawnSync([process.execPath, import.meta.path, ...child], {
    env: { ...env, ...environment },
    stderr: "inherit",
  });
  if (result.exitCode !== 0) throw new Error(`the probe "${probe}" ended with exit code ${result.exitCode}`);
  return JSON.parse(result.stdout.toString()) as Measured;
}

function sizes(buffers: readonly ModelledBuffer[]): string {
  const shown = [...new Set(buffers.filter(({ reason }) => reason !== "finalize").map(({ ops }) => ops))];
  return shown.length === 0 ? "one of all" : `${shown.sort((a, b) => a - b).join(" or ")} each`;
}

function run(measuring: boolean): void {
  for (const probe of probes) {
    const what = probe === "products" ? `products of ${side} x ${side}` : `additions of ${elements} elements`;
    console.log(`\n${counts[probe]} ${what}`);
    let first: number | undefined;
    for (const [condition, environment] of Object.entries(conditions)) {
      const measured = measuring ? measure(probe, environment) : null;
      const limits = metalLimits(measured?.architecture ?? flags.architecture, { environment });
      const buffers = model(probe, limits);
      const text = `${buffers.length} buffers, ${sizes(buffers)}`;
      const time = measured === null ? "" : `   measured ${(measured.seconds * 1000).toFixed(1)} ms`;
      first ??= measured?.seconds;
      const factor = measured === null || first === undefined ? "" : `, ${(measured.seconds / first).toFixed(2)}x`;
      const bounds = `${limits.maxOps} ops, ${limits.maxMb} units`;
      const line = `  ${condition.padEnd(8)} ${bounds.padEnd(22)} modelled ${text.padEnd(28)}${time}${factor}`;
      console.log(line.trimEnd());
    }
  }
}

if (flags.child !== undefined) {
  console.log(JSON.stringify(await measureHere(flags.child as Probe, rounds)));
} else {
  const mx = await import("mlx-ts");
  const metal = mx.metal.isAvailable();
  if (metal) console.log("Measured on this machine. MLX also commits when more than 10 buffers are under way.");
  else {
    console.log(
      `No Metal on this machine: this is the model of ${flags.architecture} alone, and nothing was confirmed.`,
    );
    if (flags.measure) console.log("The times are those of the CPU, which does not pack.");
  }
  run(metal || flags.measure);
}
