// Sums over results, and how they are printed.
import type { Case } from "./format.ts";
import type { CaseResult, Status } from "./run-case.ts";
import { nameOf, type ParityRun } from "./runner.ts";

export interface Tally {
  passed: number;
  failed: number;
  unsupported: number;
}

export interface Report {
  set: string;
  mlx: string;
  total: Tally & { cases: number; rate: number };
  kinds: Record<string, Tally>;
  names: Record<string, Tally>;
  results: (CaseResult & { kind: string; name: string })[];
}

function add(table: Record<string, Tally>, key: string, status: Status): void {
  const tally = (table[key] ??= { passed: 0, failed: 0, unsupported: 0 });
  tally[status]++;
}

/** Passed cases over all cases: unsupported ones count against it. */
export function rate({ passed, failed, unsupported }: Tally): number {
  const all = passed + failed + unsupported;
  return all === 0 ? 0 : passed / all;
}

export function makeReport({ header, cases, results }: ParityRun): Report {
  const kinds: Record<string, Tally> = {};
  const names: Record<string, Tally> = {};
  const total: Record<string, Tally> = { all: { passed: 0, failed: 0, unsupported: 0 } };
  const rows = results.map((result, index) => {
    const one = cases[index] as Case;
    add(kinds, one.kind, result.status);
    add(names, nameOf(one), result.status);
    add(total, "all", result.status);
    return { ...result, kind: one.kind, name: nameOf(one) };
  });
  const all = total.all as Tally;
  const sorted = Object.fromEntries(Object.entries(names).sort(([a], [b]) => a.localeCompare(b)));
  const sums = { ...all, cases: results.length, rate: rate(all) };
  return { set: header.set, mlx: header.mlx, total: sums, kinds, names: sorted, results: rows };
}

/** The results of the foundation: kinds call, dtype and error of mx's functions and of arrays. */
export function ofArrayLanguage(report: Report): Report["results"] {
  return report.results.filter(
    ({ kind, name }) =>
      ["call", "dtype", "error"].includes(kind) && (name.startsWith("mx.") || name.startsWith("array.")),
  );
}

function row(label: string, { passed, failed, unsupported }: Tally): string {
  const cells = [passed, failed, unsupported].map((count) => String(count).padStart(11));
  return `${label.padEnd(34)}${cells.join("")}${`${(rate({ passed, failed, unsupported }) * 100).toFixed(1)} %`.padStart(9)}`;
}

/** The report as text: kinds, then the names that do not pass wholly, then each case that failed. */
export function formatReport(report: Report): string {
  const lines = [`Parity with MLX ${report.mlx}, set "${report.set}", ${report.total.cases} cases`, ""];
  lines.push(`${"".padEnd(34)}     passed     failed unsupported     rate`);
  for (const [kind, tally] of Object.entries(report.kinds)) lines.push(row(kind, tally));
  lines.push(row("all", report.total), "");
  const incomplete = Object.entries(report.names).filter(([, tally]) => tally.failed + tally.unsupported > 0);
  if (incomplete.length > 0) lines.push("Names that do not pass wholly:");
  for (const [name, tally] of incomplete) lines.push(row(`  ${name}`, tally));
  const failed = report.results.filter(({ status }) => status === "failed");
  if (failed.length > 0) lines.push("", "Failed cases:");
  for (const { id, message } of failed) lines.push(`  ${id}: ${message.split("\n", 1)[0]?.slice(0, 300)}`);
  const leaks = report.results.filter(({ leaked }) => leaked !== undefined);
  if (leaks.length > 0) lines.push("", "Cases that left handles behind:");
  for (const { id, leaked } of leaks) lines.push(`  ${id}: ${leaked}`);
  const language = ofArrayLanguage(report);
  const passed = language.filter(({ status }) => status === "passed").length;
  if (language.length > 0) {
    const share = ((passed / language.length) * 100).toFixed(2);
    lines.push(
      "",
      `call, dtype and error cases of mx.* and array.*: ${passed} of ${language.length} passed (${share} %)`,
    );
  }
  lines.push(
    "",
    `${report.total.passed} passed, ${report.total.failed} failed, ${report.total.unsupported} unsupported`,
  );
  return lines.join("\n");
}
