// The signatures of one operation: an overload for each number of positional arguments, and the interface of its
// options.

import { pascalName } from "./op-names.ts";
import type { OpParam, OpPlan } from "./op-plan.ts";

/** Interfaces that several operations share; the operation named is the one whose options they are. */
export const sharedOptions: Readonly<Record<string, string>> = {
  ReduceOptions: "sum",
  MomentOptions: "var",
  ArgReduceOptions: "argmax",
  SortOptions: "sort",
  PartitionOptions: "partition",
  CumulativeOptions: "cumsum",
  ScanOptions: "cummax",
  ClosenessOptions: "allclose",
  OnesLikeOptions: "ones_like",
  CreateOptions: "zeros",
  AxesOptions: "squeeze",
  DiagonalBandOptions: "tril",
  MoveaxisOptions: "moveaxis",
  BandOptions: "diag",
  ShapeOptions: "reshape",
  UpperOptions: "linalg.cholesky",
  TriangleOptions: "linalg.eigh",
  FrequencyOptions: "fft.fftfreq",
  FftOptions: "fft.fft",
  Fft2Options: "fft.fft2",
  FftnOptions: "fft.fftn",
  FftshiftOptions: "fft.fftshift",
};

/** Parameters by where they stand. */
export interface Places {
  operands: readonly OpParam[];
  either: readonly OpParam[];
  options: readonly OpParam[];
}

export function placesOf(plan: OpPlan): Places {
  const at = (place: OpParam["place"]): OpParam[] => plan.params.filter((param) => param.place === place);
  return { operands: at("operand"), either: at("either"), options: at("option") };
}

function valueType(param: OpParam): string {
  return param.nullable ? `${param.type} | null` : param.type;
}

/** A positional parameter of an overload. An optional one may be skipped with undefined. */
function positional(param: OpParam): string {
  return `${param.name}: ${valueType(param)}${param.required ? "" : " | undefined"}`;
}

function memberText(param: OpParam): string {
  return param.required ? `${param.name}: ${valueType(param)}` : `${param.name}?: ${valueType(param)} | undefined`;
}

/** The members that tell one options interface from another. */
function shapeOf(plan: OpPlan): string {
  const { either, options } = placesOf(plan);
  const members = [...either, ...options].map((param) => `${memberText(param)} = ${param.defaultText}`);
  return members.length === 0 ? "" : `${plan.module}: ${members.join("; ")}`;
}

/** Which interface each operation's options have; operations of one module with the same members may share one. */
export function optionNames(plans: readonly OpPlan[]): Map<OpPlan, string> {
  const shared = new Map<string, string>();
  for (const [name, python] of Object.entries(sharedOptions)) {
    const plan = plans.find((candidate) => candidate.python === python);
    if (plan === undefined) throw new Error(`codegen: ${name} is the options of ${python}, which is no operation`);
    shared.set(shapeOf(plan), name);
  }
  return new Map(
    plans.map((plan) => {
      const shape = shapeOf(plan);
      const stem = pascalName(plan.python.slice(plan.python.indexOf(".") + 1));
      return [plan, shape === "" ? "StreamOptions" : (shared.get(shape) ?? `${stem}Options`)];
    }),
  );
}

/** The interface of an operation's options, one member a line with its default. */
export function optionsInterface(plan: OpPlan, name: string): string {
  const { either, options } = placesOf(plan);
  const members = [...either, ...options].map((param) => {
    const fallback = param.defaultText ?? (param.required ? null : "null");
    const note = fallback === null ? "" : `  /** Default: ${fallback}. */\n`;
    return `${note}  ${memberText(param)};\n`;
  });
  return `export interface ${name} extends StreamOptions {\n${members.join("")}}\n`;
}

/** The overloads, from all in the options to all by position. `receiver` drops the first operand, for methods. */
export function overloads(plan: OpPlan, optionsName: string, receiver: boolean): string[] {
  const { operands, either, options } = placesOf(plan);
  const fixed = operands.slice(receiver ? 1 : 0).map(positional);
  return either
    .map((_, count) => count)
    .concat(either.length)
    .map((count) => {
      const left = [...either.slice(count), ...options];
      const omitted = either.slice(0, count).map((param) => JSON.stringify(param.name));
      const rest =
        left.length === 0
          ? "StreamOptions"
          : omitted.length === 0
            ? optionsName
            : `Omit<${optionsName}, ${omitted.join(" | ")}>`;
      const optional = left.some((param) => param.required) ? "" : "?";
      const last = plan.stream || left.length > 0 ? [`options${optional}: ${rest}`] : [];
      return `(${[...fixed, ...either.slice(0, count).map(positional), ...last].join(", ")}): ${plan.returns}`;
    });
}
