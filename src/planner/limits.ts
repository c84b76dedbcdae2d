/** MLX's limits on a command buffer, by architecture, compute capability and environment. */

import { bad, object } from "./check.ts";
import { PlannerError } from "./errors.ts";
import type { Limits, LimitSource, ResolvedLimits } from "./types.ts";

/** Versions of MLX that the rule and its constants were read from: first and last. */
export const checkedVersions: readonly [first: string, last: string] = ["0.23.0", "0.32.4"];

const ownVersion = "0.32.2";

export interface LimitOptions {
  /**
   * The environment that MLX was started with, such as `process.env`; MLX reads it once a process. Variables:
   * `MLX_MAX_OPS_PER_BUFFER`, `MLX_MAX_MB_PER_BUFFER`, and `MLX_METAL_GPU_ARCH` on Metal. Default: none set.
   */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Default: the version that this library brings. Before 0.23.0 MLX had another rule, which is refused. */
  readonly mlxVersion?: string;
}

type Pair = readonly [maxOps: number, maxMb: number];

// By the last letter of the architecture: phones, base chips, then Max and Ultra.
const metalByLetter: Readonly<Record<string, Pair>> = { p: [20, 40], g: [40, 40], s: [50, 50], d: [50, 50] };
const metalOther: Pair = [40, 40];

const cudaByCapability: Readonly<Record<string, Pair>> = {
  "8.0": [20, 400],
  "9.0": [100, 1000],
  "10.0": [100, 1000],
  "12.0": [100, 1000],
  "12.1": [20, 25],
};
const cudaOther: Pair = [20, 100];

/** What C's `atoi` makes of a text: its leading integer in 32 bits, 0 where there is none. */
function atoi(text: string): number {
  const digits = /^[ \t\n\v\f\r]*([+-]?\d+)/.exec(text)?.[1];
  if (digits === undefined) return 0;
  const most = 2n ** 63n;
  const value = BigInt(digits.replace("+", ""));
  const long = value >= most ? most - 1n : value < -most ? -most : value;
  return Number(BigInt.asIntN(32, long));
}

/** A variable's text, undefined where it is not set. */
function variable({ environment = {} }: LimitOptions, name: string): string | undefined {
  const text = object(environment, "environment")[name];
  if (text !== undefined && typeof text !== "string") bad(`environment.${name}`, "a text", text);
  return text;
}

/** Compares versions of the form 0.32.2; what follows the third number, such as "rc1", does not count. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split(".", 3).map((part) => Number.parseInt(part, 10)));
  for (let i = 0; i < 3; i++) {
    const difference = (left![i] ?? 0) - (right![i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function checkVersion(options: LimitOptions): void {
  const { mlxVersion: version = ownVersion } = object(options, "options");
  if (typeof version !== "string" || !/^\d+\.\d+(?:\.\d+)?(?:[.\-+a-z]|$)/.test(version))
    bad("mlxVersion", 'a version such as "0.32.2"', version);
  if (compareVersions(version, checkedVersions[0]) < 0)
    throw new PlannerError(
      "unsupportedVersion",
      "mlxVersion",
      `MLX ${version} packs its command buffers by another rule; ${checkedVersions[0]} is the oldest that is modelled`,
    );
}

/** Whether the rule was read in the source of exactly such a version: none newer than the last one checked. */
export function isCheckedVersion(version: string): boolean {
  return compareVersions(version, checkedVersions[0]) >= 0 && compareVersions(version, checkedVersions[1]) <= 0;
}

function resolve(
  [ops, mb]: Pair,
  default_: LimitSource,
  options: LimitOptions,
): Omit<ResolvedLimits, "backend" | "architecture" | "architectureSource"> {
  const opsText = variable(options, "MLX_MAX_OPS_PER_BUFFER");
  const mbText = variable(options, "MLX_MAX_MB_PER_BUFFER");
  return {
    maxOps: opsText === undefined ? ops : atoi(opsText),
    maxMb: mbText === undefined ? mb : atoi(mbText),
    mlxVersion: options.mlxVersion ?? ownVersion,
    sources: {
      maxOps: opsText === undefined ? default_ : "environment",
      maxMb: mbText === undefined ? default_ : "environment",
    },
  };
}

/**
 * The limits of MLX's Metal backend. `architecture` is the GPU's, as `mx.metal.deviceInfo().architecture` gives it
 * ("applegpu_g13s"); its last letter decides. A limit that is set but holds no number counts as 0, and an architecture
 * that is set to nothing as not set, as in MLX. Throws a PlannerError for an empty architecture, and for a version of
 * MLX before 0.23.0.
 */
export function metalLimits(architecture: string, options: LimitOptions = {}): ResolvedLimits {
  checkVersion(options);
  const variableText = variable(options, "MLX_METAL_GPU_ARCH");
  const replaced = variableText === "" ? undefined : variableText;
  const name = replaced ?? architecture;
  if (typeof name !== "string" || name === "") bad("architecture", 'a name such as "applegpu_g13s"', name);
  return {
    ...resolve(metalByLetter[name.at(-1)!] ?? metalOther, "architecture", options),
    backend: "metal",
    architecture: name,
    architectureSource: replaced === undefined ? "argument" : "environment",
  };
}

/**
 * The limits of MLX's CUDA backend on a graph, by compute capability, such as "9.0". Throws a PlannerError for
 * anything else, and for a version of MLX before 0.23.0.
 */
export function cudaLimits(computeCapability: string, options: LimitOptions = {}): ResolvedLimits {
  checkVersion(options);
  if (typeof computeCapability !== "string" || !/^\d+\.\d+$/.test(computeCapability))
    bad("computeCapability", 'a text such as "9.0"', computeCapability);
  return {
    ...resolve(cudaByCapability[computeCapability] ?? cudaOther, "compute capability", options),
    backend: "cuda",
    architecture: computeCapability,
    architectureSource: "argument",
  };
}

/** Whether limits say where they come from. */
export function isResolved(limits: Limits | ResolvedLimits): limits is ResolvedLimits {
  return "sources" in limits;
}
