/**
 * SmolLM2 beside Python MLX, in one command: `bun bench/chat/run.ts [rounds] [--quantized]`.
 *
 * The sides load the same file, run on the same MLX and the same BLAS and take turns, one answer each, so that they
 * meet the same machine; ours and the first Python one run the same operations. The best of all rounds counts, and
 * the middle one is shown too. A third side is Python as it is usually written, with mx.fast.rope and without the
 * savings of src/llm.
 */

import { cpus } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { Readable } from "node:stream";
import { fetchModel } from "../../scripts/fetch-model.ts";
import greedy from "../../test/llm/data/greedy.json";
import { pythonWithMlx } from "../python-env.ts";

const DECODE = 33;
const PREFILL = 256;

interface Answer {
  ids: number[];
  prefillSeconds: number;
  decodeSeconds: number;
}

/** One side: a process that answers commands. */
class Side {
  readonly name: string;
  readonly #process: Bun.Subprocess<"pipe", "pipe", "inherit">;
  readonly #lines: AsyncIterator<string>;
  readonly #reader: Interface;

  constructor(name: string, command: string[]) {
    this.name = name;
    this.#process = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
    this.#reader = createInterface({ input: Readable.fromWeb(this.#process.stdout as never) });
    this.#lines = this.#reader[Symbol.asyncIterator]();
  }

  async #line(): Promise<unknown> {
    const line = await this.#lines.next();
    if (line.done === true) throw new Error(`${this.name} ended with exit code ${await this.#process.exited}`);
    return JSON.parse(line.value);
  }

  async ready(): Promise<this> {
    await this.#line();
    return this;
  }

  async generate(prompt: readonly number[], count: number): Promise<Answer> {
    this.#process.stdin.write(`generate ${prompt.join(",")} ${count}\n`);
    await this.#process.stdin.flush();
    return (await this.#line()) as Answer;
  }

  async end(): Promise<void> {
    await this.#process.stdin.end();
    this.#reader.close();
    await this.#process.exited;
  }
}

const flags = process.argv.slice(2);
const rounds = Number(flags.find((flag) => !flag.startsWith("--")) ?? 10);
const options = flags.filter((flag) => flag.startsWith("--"));
const path = await fetchModel(undefined, { log: console.error });
const python = pythonWithMlx("openblas");
const ts = [process.execPath, join(import.meta.dir, "decode.ts"), path, ...options];
const py = [python, join(import.meta.dir, "decode.py"), path, ...options];
const sides = [
  await new Side("mlx-ts", ts).ready(),
  await new Side("Python MLX, same operations", py).ready(),
  await new Side("Python MLX, as usually written", [...py, "--usual"]).ready(),
];

const short = greedy.prompts[0]!.promptIds;
const long = Array.from({ length: PREFILL }, (_, i) => short[i % short.length]!);
const rates = sides.map(() => ({ decode: [] as number[], prefill: [] as number[] }));
const answers: string[] = [];
for (let round = -1; round < rounds; round++) {
  for (let turn = 0; turn < sides.length; turn++) {
    // Whoever comes first meets a colder machine: the order goes round. Round -1 warms up.
    const i = (round + 1 + turn) % sides.length;
    const decoded = await sides[i]!.generate(short, DECODE);
    const filled = await sides[i]!.generate(long, 1);
    answers[i] = decoded.ids.join();
    if (round < 0) continue;
    rates[i]!.decode.push((DECODE - 1) / decoded.decodeSeconds);
    rates[i]!.prefill.push(PREFILL / filled.prefillSeconds);
  }
}
for (const side of sides) await side.end();

const best = (list: number[]): number => Math.max(...list);
const middle = (list: number[]): number => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]!;
const cells = (values: (string | number)[]): string =>
  values.map((value) => (typeof value === "number" ? value.toFixed(2) : value).padStart(9)).join("");
const weights = options.includes("--quantized") ? "4-bit" : "float32";
console.log(`SmolLM2-135M, ${weights} weights, ${cpus().length} cores; tokens/s over ${rounds} rounds`);
console.log("".padEnd(32) + cells(["decode", "", "prefill", ""]));
console.log("".padEnd(32) + cells(["best", "middle", "best", "middle"]));
const rows = rates.map(({ decode, prefill }) => [best(decode), middle(decode), best(prefill), middle(prefill)]);
sides.forEach((side, i) => console.log(side.name.padEnd(32) + cells(rows[i]!)));
for (const i of [1, 2]) {
  const ratios = rows[i]!.map((rate, column) => rows[0]![column]! / rate);
  console.log(`mlx-ts / ${sides[i]!.name.replace("Python MLX, ", "")}`.padEnd(32) + cells(ratios));
}
const same = answers.every((ids) => ids === answers[0]);
console.log(same ? `The ${DECODE} tokens of all sides are the same.` : "THE SIDES GAVE DIFFERENT TOKENS.");
if (!same) process.exitCode = 1;
