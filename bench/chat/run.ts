/**
 * SmolLM2 beside Python MLX, in one command: `bun bench/chat/run.ts [rounds] [--quantized]`.
 *
 * The sides load the same file, run on the same MLX and the same BLAS and take turns, so that they meet the same
 * machine. Each turn is a process of its own: where its weights happen to lie in memory is worth several percent. The
 * best of all counts, and the middle one is shown too. One Python side runs the operations of src/llm one for one; the
 * other is Python as it is usually written, with mx.fast.rope and without the savings of src/llm.
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
/** Answers before the first that counts: the engine is compiling hot functions for that long, on the same cores. */
const WARM_UPS = 6;

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
const rounds = Number(flags.find((flag) => !flag.startsWith("--")) ?? 5);
const options = flags.filter((flag) => flag.startsWith("--"));
const path = await fetchModel(undefined, { log: console.error });
const python = pythonWithMlx("openblas");
const ts = [process.execPath, join(import.meta.dir, "decode.ts"), path, ...options];
const py = [python, join(import.meta.dir, "decode.py"), path, ...options];
const sides: [name: string, command: string[]][] = [
  ["mlx-ts", ts],
  ["Python MLX, same operations", py],
  ["Python MLX, as usually written", [...py, "--usual"]],
];

const short = greedy.prompts[0]!.promptIds;
const long = Array.from({ length: PREFILL }, (_, i) => short[i % short.length]!);
const rates = sides.map(() => ({ decode: [] as number[], prefill: [] as number[] }));
const answers: string[] = [];
for (let round = 0; round < rounds; round++) {
  for (let turn = 0; turn < sides.length; turn++) {
    const i = (round + turn) % sides.length;
    const side = await new Side(...sides[i]!).ready();
    for (let warm = 0; warm < WARM_UPS; warm++) answers[i] = (await side.generate(short, DECODE)).ids.join();
    for (let again = 0; again < 2; again++) {
      rates[i]!.decode.push((DECODE - 1) / (await side.generate(short, DECODE)).decodeSeconds);
      rates[i]!.prefill.push(PREFILL / (await side.generate(long, 1)).prefillSeconds);
    }
    await side.end();
  }
}

const best = (list: number[]): number => Math.max(...list);
const middle = (list: number[]): number => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]!;
const cells = (values: (string | number)[]): string =>
  values.map((value) => (typeof value === "number" ? value.toFixed(2) : value).padStart(9)).join("");
const weights = options.includes("--quantized") ? "4-bit" : "float32";
console.log(`SmolLM2-135M, ${weights} weights, ${cpus().length} cores; tokens/s over ${rounds} rounds`);
console.log("".padEnd(32) + cells(["decode", "", "prefill", ""]));
console.log("".padEnd(32) + cells(["best", "middle", "best", "middle"]));
const rows = rates.map(({ decode, prefill }) => [best(decode), middle(decode), best(prefill), middle(prefill)]);
sides.forEach(([name], i) => console.log(name.padEnd(32) + cells(rows[i]!)));
for (const i of [1, 2]) {
  const ratios = rows[i]!.map((rate, column) => rows[0]![column]! / rate);
  console.log(`mlx-ts / ${sides[i]![0].replace("Python MLX, ", "")}`.padEnd(32) + cells(ratios));
}
const same = answers.every((ids) => ids === answers[0]);
console.log(same ? `The ${DECODE} tokens of all sides are the same.` : "THE SIDES GAVE DIFFERENT TOKENS.");
if (!same) process.exitCode = 1;
