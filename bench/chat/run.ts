/**
 * SmolLM2 beside Python MLX, in one command: `bun bench/chat/run.ts [rounds] [--quantized] [--fused-rope]`.
 *
 * Both sides load the same file, run the same operations on the same MLX and the same BLAS, and take turns, one
 * answer each, so that both meet the same machine. The best of all rounds counts, and the middle one is shown too.
 * `--fused-rope` lets Python use mx.fast.rope, as Python programs do, instead of the complex product of src/llm.
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
const sides = [
  await new Side("mlx-ts", [process.execPath, join(import.meta.dir, "decode.ts"), path, ...options]).ready(),
  await new Side("Python MLX", [python, join(import.meta.dir, "decode.py"), path, ...options]).ready(),
];

const short = greedy.prompts[0]!.promptIds;
const long = Array.from({ length: PREFILL }, (_, i) => short[i % short.length]!);
const rates = sides.map(() => ({ decode: [] as number[], prefill: [] as number[] }));
const answers: string[] = [];
for (let round = -1; round < rounds; round++) {
  // Whoever begins meets a colder machine: the order alternates. Round -1 warms up.
  const order = round % 2 === 0 ? [0, 1] : [1, 0];
  for (const i of order) {
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
const cell = (text: string | number): string => String(text).padStart(12);
console.log(
  `SmolLM2-135M, ${options.includes("--quantized") ? "4-bit" : "float32"} weights, ${cpus().length} cores; tokens/s over ${rounds} rounds`,
);
console.log(["".padEnd(12), "decode best", "middle", "prefill best", "middle"].map(cell).join(""));
sides.forEach((side, i) => {
  const { decode, prefill } = rates[i]!;
  const row = [best(decode), middle(decode), best(prefill), middle(prefill)].map((rate) => cell(rate.toFixed(2)));
  console.log(side.name.padStart(12) + row.join(""));
});
const [ours, theirs] = rates as [(typeof rates)[0], (typeof rates)[0]];
const ratio = (pick: (list: number[]) => number, what: "decode" | "prefill"): string =>
  cell((pick(ours[what]) / pick(theirs[what])).toFixed(3));
console.log(
  `${"ratio".padStart(12)}${ratio(best, "decode")}${ratio(middle, "decode")}${ratio(best, "prefill")}${ratio(middle, "prefill")}`,
);
console.log(
  answers[0] === answers[1]
    ? `The ${DECODE} tokens of both sides are the same.`
    : "THE TWO SIDES GAVE DIFFERENT TOKENS.",
);
if (answers[0] !== answers[1]) process.exitCode = 1;
