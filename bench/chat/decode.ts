// The mlx-ts side of bench/chat/run.ts: answers the same commands as decode.py, with the library as users have it.
import { createInterface } from "node:readline";
import { generate, loadModel } from "mlx-ts/llm";

using model = loadModel(process.argv[2]!, { weights: process.argv.includes("--quantized") ? "quantized" : "float32" });
console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  const [, text, count] = line.split(" ") as [string, string, string];
  const generation = generate(model, text.split(",").map(Number), { maxTokens: Number(count), stopTokens: [] });
  const ids: number[] = [];
  for await (const id of generation) ids.push(id);
  const { prefillSeconds, decodeSeconds } = generation;
  console.log(JSON.stringify({ ids, prefillSeconds, decodeSeconds }));
}
