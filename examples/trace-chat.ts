// Where the time of a language model's answer goes: records it and writes a trace for Perfetto (ui.perfetto.dev).
//
//   bun examples/trace-chat.ts "Are dogs real?"
//   bun examples/trace-chat.ts --out chat.json --max-tokens 16 --fine "Are dogs real?"
import { parseArgs } from "node:util";
import { load, type WeightMode } from "mlx-ts/llm";
import * as trace from "mlx-ts/trace";
import { fetchModel, smolLM2 } from "../scripts/fetch-model.ts";

const usage = `usage: bun examples/trace-chat.ts [options] QUESTION
  --model FILE       a GGUF file of the llama architecture (default: SmolLM2-135M-Instruct, fetched on first use)
  --weights MODE     float32 (default) or quantized
  --max-tokens N     default 16
  --out FILE         the trace (default: trace-chat.json)
  --fine             evaluate and time every operation alone`;

const options = {
  model: { type: "string" },
  weights: { type: "string", default: "float32" },
  "max-tokens": { type: "string", default: "16" },
  out: { type: "string", default: "trace-chat.json" },
  fine: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ args: Bun.argv.slice(2), allowPositionals: true, options });
  const question = positionals.join(" ");
  if (values.help || question === "") {
    console.log(usage);
    process.exitCode = values.help ? 0 : 1;
    return;
  }
  const path = values.model ?? (await fetchModel(smolLM2, { log: (line) => console.error(line) }));
  using recording = trace.record({ path: values.out, fine: values.fine });
  using lm = await trace.span("load", () => load(path, { weights: values.weights as WeightMode }));
  const reply = lm.chat([{ role: "user", content: question }], { maxTokens: Number(values["max-tokens"]) });
  await trace.span("session", () => answer(reply), { question });
  console.log();
  recording.dispose();
}

/** Reads the answer piece by piece. The first piece is the prompt's work, each later one that of a token or a few. */
async function answer(reply: AsyncIterable<string>): Promise<void> {
  const pieces = reply[Symbol.asyncIterator]();
  for (let step = 0; ; step++) {
    const next = await trace.span(step === 0 ? "prefill" : "decode step", () => pieces.next(), { step });
    if (next.done === true) return;
    trace.mark("text", { text: next.value });
    process.stdout.write(next.value);
  }
}

try {
  await main();
} catch (error) {
  // What a user can act on, without a stack.
  console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
