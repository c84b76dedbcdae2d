// `bun run demo [question]`: from a bare checkout to a language model's answer. Each step is skipped where it was done
// before. Nothing from node_modules is imported here, since the first step is what installs it.
import { join, resolve } from "node:path";
import { BuildError } from "../native/tools.ts";
import { fetchModel, smolLM2 } from "./fetch-model.ts";

const root = resolve(import.meta.dir, "..");
const question = "What is the capital of France?";

/** Runs one of this project's scripts with the terminal as its own. */
async function script(file: string, args: readonly string[]): Promise<number> {
  const child = Bun.spawn([process.execPath, join(root, file), ...args], {
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  });
  return await child.exited;
}

async function demo(args: readonly string[]): Promise<number> {
  console.log("1/3 dependencies and native libraries");
  const setup = await script("scripts/setup.ts", []);
  if (setup !== 0) return setup;
  console.log("2/3 the model, SmolLM2-135M-Instruct");
  const model = await fetchModel(smolLM2, { log: (line) => console.log(line) });
  const words = args.length > 0 ? args : [question];
  console.log(
    `3/3 bun examples/chat.ts ${words.map((word) => (/[^\w-]/.test(word) ? JSON.stringify(word) : word)).join(" ")}\n`,
  );
  return await script("examples/chat.ts", ["--model", model, ...words]);
}

try {
  process.exitCode = await demo(Bun.argv.slice(2));
} catch (error) {
  console.error(error instanceof BuildError ? `error: ${error.message}` : error);
  process.exitCode = 1;
}
