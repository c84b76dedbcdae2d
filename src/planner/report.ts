/** A plan as text and as JSON, with where its numbers come from. */

import { integer } from "./check.ts";
import { checkedVersions, isCheckedVersion, isResolved } from "./limits.ts";
import type { Limits, Plan, PlanMemory, PlannedBuffer, ResolvedLimits } from "./types.ts";

/** What the report says of the limits. */
export interface LimitsReport {
  readonly maxOps: number;
  readonly maxMb: number;
  /** Where each comes from; "argument" when bare numbers were given. */
  readonly maxOpsSource: string;
  readonly maxMbSource: string;
  readonly backend?: string;
  readonly mlxVersion?: string;
  readonly architecture?: string;
  readonly architectureSource?: string;
}

/** The report as data: JSON.stringify takes it as it is. */
export interface PlanReport {
  readonly mode: string;
  readonly strategy: string;
  readonly queryRows: number;
  readonly causal: boolean;
  readonly blockAlign: number;
  readonly pairCost: number;
  readonly plannedRate: number;
  readonly budgetSeconds: number;
  readonly commitFirst: boolean;
  readonly limits: LimitsReport | null;
  readonly memory: PlanMemory;
  /** Multiply-accumulates of all ranges in decimal digits: they may pass what a number holds. */
  readonly totalMacs: string;
  readonly totalSeconds: number;
  readonly longestBufferSeconds: number;
  readonly ranges: readonly (readonly [r0: number, r1: number])[];
  readonly buffers: readonly PlannedBuffer[];
  /** What the reader has to know: what was not checked, and what does not hold. */
  readonly notes: readonly string[];
}

function limitsReport(limits: Limits | ResolvedLimits): LimitsReport {
  const { maxOps, maxMb } = limits;
  if (!isResolved(limits)) return { maxOps, maxMb, maxOpsSource: "argument", maxMbSource: "argument" };
  const { backend, mlxVersion, architecture, architectureSource, sources } = limits;
  return {
    ...{ maxOps, maxMb, maxOpsSource: sources.maxOps, maxMbSource: sources.maxMb },
    ...{ backend, mlxVersion, architecture, architectureSource },
  };
}

function notesOf(plan: Plan, longest: number): string[] {
  const { limits } = plan;
  const notes = ["Seconds are projected from a rate that was given, not measured."];
  if (plan.mode === "explicit")
    notes.push("An evaluation ends each range, so the ranges do not depend on the limits; the buffers' reasons do.");
  if (limits !== undefined && !isResolved(limits)) notes.push("The limits were given as bare numbers.");
  if (limits !== undefined && isResolved(limits) && !isCheckedVersion(limits.mlxVersion))
    notes.push(
      `The packing rule was read in MLX ${checkedVersions.join(" to ")}; ${limits.mlxVersion} was not looked at.`,
    );
  if (limits !== undefined && isResolved(limits) && limits.backend === "cuda")
    notes.push("On CUDA a buffer is a graph: inputs count once a reference, outputs do not.");
  if (plan.commitFirst) notes.push("What was pending before the first range has to be evaluated first.");
  if (longest > plan.budgetSeconds + 1e-9)
    notes.push(`Over the budget: the longest buffer is modelled at ${longest} s, allowed are ${plan.budgetSeconds} s.`);
  return notes;
}

/** The report as data. Seconds, bytes; elements in units of 2^20 where a name says "units" or "Mb". */
export function reportPlan(plan: Plan): PlanReport {
  const { buffers, limits, count, memory } = plan;
  let totalSeconds = 0;
  let totalMacs = 0n;
  for (let i = 0; i < count; i++) {
    totalSeconds += plan.seconds(i);
    totalMacs += plan.macs(i);
  }
  const longest = buffers.reduce((most, { seconds }) => Math.max(most, seconds), 0);
  const { mode, strategy, queryRows, causal, blockAlign, pairCost, plannedRate, budgetSeconds, commitFirst } = plan;
  return {
    ...{ mode, strategy, queryRows, causal, blockAlign, pairCost, plannedRate, budgetSeconds, commitFirst },
    limits: limits === undefined ? null : limitsReport(limits),
    memory,
    totalMacs: String(totalMacs),
    totalSeconds,
    longestBufferSeconds: longest,
    ranges: [...plan],
    buffers,
    notes: notesOf(plan, longest),
  };
}

function size(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  let value = bytes;
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024;
    at++;
  }
  return `${at === 0 ? value : value.toFixed(1)} ${units[at]}`;
}

function limitsLine(limits: LimitsReport | null): string {
  if (limits === null) return "none given: each range ends with an evaluation";
  const { maxOps, maxMb, maxOpsSource, maxMbSource } = limits;
  return `${maxOps} ops (${maxOpsSource}), ${maxMb} x 2^20 elements (${maxMbSource})`;
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => rows.reduce((most, row) => Math.max(most, row[column]!.length), 0));
  return rows.map((row) => `  ${row.map((cell, column) => cell.padStart(widths[column]!)).join("  ")}`);
}

/**
 * The report as text. `buffers`: how many of the modelled buffers to list at either end, default 5, Infinity for all.
 * Throws a PlannerError (`badInput`) for a number that is none.
 */
export function formatPlan(plan: Plan, { buffers: shown = 5 }: { readonly buffers?: number } = {}): string {
  if (shown !== Number.POSITIVE_INFINITY) integer(shown, "buffers", 0);
  const report = reportPlan(plan);
  const { limits, memory, buffers } = report;
  const rows = buffers.map(({ firstRange, endRange, ops, units, seconds, reason }, i) => [
    String(i),
    `[${plan.bounds[firstRange]}, ${plan.bounds[endRange]})`,
    ...[endRange - firstRange, ops, units].map(String),
    seconds.toFixed(4),
    reason,
  ]);
  const left = Math.max(0, rows.length - 2 * shown);
  const head = ["buffer", "rows", "ranges", "ops", "units", "seconds", "closed by"];
  const listed = left === 0 ? rows : [...rows.slice(0, shown), ...rows.slice(rows.length - shown)];
  const lines = table([head, ...listed]);
  if (left > 0) lines.splice(1 + shown, 0, `  ... ${left} more`);
  const facts: [string, string][] = [
    ["plan", `${report.queryRows} rows, ${report.causal ? "causal" : "all pairs"}, ${report.strategy}, ${report.mode}`],
    ["MLX", limits?.mlxVersion ?? "version not given"],
    [
      limits?.backend === "cuda" ? "capability" : "architecture",
      limits?.architecture === undefined ? "not given" : `${limits.architecture} (${limits.architectureSource})`,
    ],
    ["limits", limitsLine(limits)],
    ["work", `${report.totalMacs} MAC at ${report.plannedRate} MAC/s: ${report.totalSeconds.toFixed(4)} s projected`],
    ["ranges", `${plan.count}, in blocks of ${report.blockAlign} rows`],
    [
      "buffers",
      `${buffers.length}, the longest ${report.longestBufferSeconds.toFixed(4)} of ${report.budgetSeconds} s`,
    ],
    ["in flight", `${memory.window} ranges of ${size(memory.bytesPerRange)}`],
    ["memory", `${size(memory.inputBytes)} inputs, ${size(memory.peakBytes)} above them at the peak`],
  ];
  return [
    ...facts.map(([name, text]) => `${`${name}:`.padEnd(14)}${text}`),
    ...lines,
    ...report.notes.map((note) => `note: ${note}`),
  ].join("\n");
}
