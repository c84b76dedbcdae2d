/** Where the time went: the rows of highest total, and one for the rest. */

import type { Cost } from "./record.ts";

export interface SlowestRow {
  /** An operation, "eval", "load" and so on; "grad: Matmul" is a primitive in what a transform made. */
  readonly name: string;
  readonly count: number;
  readonly totalMs: number;
  readonly meanMs: number;
  /** Of operands and results together, over all calls. */
  readonly bytes: number;
}

export interface Slowest {
  readonly rows: readonly SlowestRow[];
  /** All other rows together. */
  readonly rest: SlowestRow;
  /** The sum of the rows and the rest: time in MLX and in files, without the JavaScript between. */
  readonly totalMs: number;
  /** From the recording's start to its end, or to now. */
  readonly wallMs: number;
  /** What the recording itself has taken of that. */
  readonly recordingMs: number;
}

interface Sum {
  count: number;
  total: number;
  bytes: number;
}

const row = (name: string, { count, total, bytes }: Sum): SlowestRow => ({
  name,
  count,
  totalMs: total / 1e6,
  meanMs: count === 0 ? 0 : total / count / 1e6,
  bytes,
});

export class Costs {
  readonly #sums = new Map<string, Sum>();
  #own = 0;

  /** Adds time that was neither the program's nor MLX's. */
  own(time: number): void {
    this.#own += time;
  }

  add({ row, self, count, bytes }: Cost): void {
    let sum = this.#sums.get(row);
    if (sum === undefined) this.#sums.set(row, (sum = { count: 0, total: 0, bytes: 0 }));
    sum.count += count;
    sum.total += self;
    sum.bytes += bytes;
  }

  slowest(top: number, wall: number): Slowest {
    const sorted = [...this.#sums].sort(([, a], [, b]) => b.total - a.total);
    const rest: Sum = { count: 0, total: 0, bytes: 0 };
    for (const [, sum] of sorted.slice(top)) {
      rest.count += sum.count;
      rest.total += sum.total;
      rest.bytes += sum.bytes;
    }
    const rows = sorted.slice(0, top).map(([name, sum]) => row(name, sum));
    const last = row("the rest", rest);
    const totalMs = rows.reduce((total, { totalMs }) => total + totalMs, last.totalMs);
    return { rows, rest: last, totalMs, wallMs: wall / 1e6, recordingMs: this.#own / 1e6 };
  }
}

/** The table as text. */
export function slowestText({ rows, rest, totalMs, wallMs, recordingMs }: Slowest): string {
  const lines = [["", "count", "total ms", "mean ms", "MB"]];
  for (const { name, count, totalMs, meanMs, bytes } of [...rows, rest]) {
    lines.push([name, String(count), totalMs.toFixed(3), meanMs.toFixed(4), (bytes / 1e6).toFixed(2)]);
  }
  // Everything that was recorded: what MLX took, what recording took, and the JavaScript between.
  const between = Math.max(0, wallMs - recordingMs - totalMs);
  const sums: [string, number][] = [
    ["together", totalMs],
    ["JavaScript between", between],
    ["the recording itself", recordingMs],
  ];
  for (const [name, ms] of sums) lines.push([name, "", ms.toFixed(3), "", ""]);
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const text = lines.map((line) =>
    line
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join("  ")
      .trimEnd(),
  );
  return `${text.join("\n")}\n`;
}
