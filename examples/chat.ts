// A language model answers a question.
//
//   bun examples/chat.ts "Are dogs real?"
//   bun examples/chat.ts --weights quantized --temperature 0.7 --seed 1 "Write a haiku about the sea."
//   bun examples/chat.ts --prompt-ids 1,9690,198 --max-tokens 8 --json
import { parseArgs } from "node:util";
import * as mx from "mlx-ts";
import { generate, load, loadModel, type Generation, type GenerateOptions, type WeightMode } from "mlx-ts/llm";
import { fetchModel, smolLM2 } from "../scripts/fetch-model.ts";

const usage = `usage: bun examples/chat.ts [options] QUESTION
  --model FILE           a GGUF file of the llama architecture (default: SmolLM2-135M-Instruct, fetched on first use)
  --weights MODE         float32 (default, fastest on a CPU) or quantized (an eighth of the memory)
  --max-tokens N         default 256
  --temperature T        default 0: always the likeliest token
  --top-p P              draw among the likeliest tokens that together have this probability
  --seed N               the same draws every time
  --threads N            BLAS threads (default: one a core; 1 is far quicker where the cores are busy with other work)
  --prompt-ids 1,2,3     token ids instead of a question; prints ids, and needs no tokenizer
  --json                 one line of JSON instead of text`;

const options = {
  model: { type: "string" },
  weights: { type: "string", default: "float32" },
  "max-tokens": { type: "string", default: "256" },
  temperature: { type: "string", default: "0" },
  "top-p": { type: "string", default: "1" },
  seed: { type: "string" },
  threads: { type: "string" },
  "prompt-ids": { type: "string" },
  json: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ args: Bun.argv.slice(2), allowPositionals: true, options });
  const question = positionals.join(" ");
  if (values.help || (question === "") === (values["prompt-ids"] === undefined)) {
    console.log(usage);
    process.exitCode = values.help ? 0 : 1;
    return;
  }
  if (values.threads !== undefined) mx.setBlasThreads(number("threads", values.threads));
  const path = values.model ?? (await fetchModel(smolLM2, { log: (line) => console.error(line) }));
  const weights = values.weights as WeightMode;
  const generation: GenerateOptions = {
    maxTokens: number("max-tokens", values["max-tokens"]),
    temperature: number("temperature", values.temperature),
    topP: number("top-p", values["top-p"]),
    seed: values.seed === undefined ? undefined : number("seed", values.seed),
  };
  const prompt = values["prompt-ids"];
  if (prompt === undefined) await answer(path, weights, question, generation, values.json);
  else await complete(path, weights, prompt, generation, values.json);
}

/** Text in, text out. */
async function answer(
  path: string,
  weights: WeightMode,
  question: string,
  options: GenerateOptions,
  json: boolean,
): Promise<void> {
  using lm = await load(path, { weights });
  const reply = lm.chat([{ role: "user", content: question }], options);
  let text = "";
  for await (const piece of reply) {
    text += piece;
    if (!json) process.stdout.write(piece);
  }
  if (json) console.log(JSON.stringify({ text, ids: reply.ids, ...figures(reply.generation) }));
  else console.log(`\n\n${summary(reply.generation)}`);
}

/** Token ids in, token ids out. */
async function complete(
  path: string,
  weights: WeightMode,
  prompt: string,
  options: GenerateOptions,
  json: boolean,
): Promise<void> {
  const ids = prompt.split(",").map((id) => number("prompt-ids", id));
  using model = loadModel(path, { weights });
  const generation = generate(model, ids, options);
  const out: number[] = [];
  for await (const id of generation) {
    out.push(id);
    if (!json) process.stdout.write(`${id} `);
  }
  if (json) console.log(JSON.stringify({ ids: out, ...figures(generation) }));
  else console.log(`\n\n${summary(generation)}`);
}

function figures(generation: Generation): object {
  const { promptTokens, tokens, finishReason, prefillRate, decodeRate } = generation;
  return {
    promptTokens,
    tokens,
    finishReason,
    prefillTokensPerSecond: prefillRate,
    decodeTokensPerSecond: decodeRate,
    peakMemoryBytes: mx.peakMemory(),
  };
}

function summary({ promptTokens, tokens, prefillRate, decodeRate }: Generation): string {
  const memory = `peak memory ${(mx.peakMemory() / 1e6).toFixed(0)} MB in arrays, ${(process.resourceUsage().maxRSS / 1e3).toFixed(0)} MB in the process`;
  return `prefill ${promptTokens} tokens, ${prefillRate.toFixed(1)} tokens/s; decode ${tokens} tokens, ${decodeRate.toFixed(1)} tokens/s; ${memory}`;
}

function number(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() === "" || Number.isNaN(value)) throw new TypeError(`--${name} must be a number, got "${text}".`);
  return value;
}

try {
  await main();
} catch (error) {
  // What a user can act on, without a stack.
  console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
