// examples/chat.ts as a user runs it, on a tiny model; the real one answers once.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { runProcess } from "../../scripts/gate/process.ts";
import { root } from "../helpers.ts";
import { scratchFolder } from "../io/make-gguf.ts";
import { expected, modelPath } from "./model.ts";
import { tinyGguf } from "./tiny.ts";

const folder = scratchFolder();
let tiny = "";
beforeAll(() => {
  tiny = folder.write("tiny.gguf", tinyGguf());
});
afterAll(folder.remove);

interface Ran {
  code: number | null;
  output: string;
}

async function chat(...args: string[]): Promise<Ran> {
  const result = await runProcess([process.execPath, join(root, "examples", "chat.ts"), ...args], {
    cwd: folder.path,
    timeout: 120,
    env: { NO_COLOR: "1", MLX_TS_BLAS_THREADS: "1" },
  });
  return { code: result.code, output: result.output.trim() };
}

setDefaultTimeout(120_000);

describe("on a tiny model", () => {
  test("ids in, ids out, as JSON", async () => {
    const run = await chat("--model", tiny, "--prompt-ids", "5,6,7", "--max-tokens", "4", "--json");
    expect(run.code).toBe(0);
    const answer = JSON.parse(run.output) as Record<string, unknown>;
    expect(Object.keys(answer)).toEqual([
      "ids",
      "promptTokens",
      "tokens",
      "finishReason",
      "prefillTokensPerSecond",
      "decodeTokensPerSecond",
      "peakMemoryBytes",
    ]);
    expect([(answer["ids"] as number[]).length, answer["promptTokens"], answer["tokens"]]).toEqual([4, 3, 4]);
    expect(answer["peakMemoryBytes"]).toBeGreaterThan(10_000);
    const plain = await chat("--model", tiny, "--prompt-ids", "5,6,7", "--max-tokens", "4");
    expect(plain.output).toStartWith((answer["ids"] as number[]).join(" "));
  });

  test("a question, with the figures at the end", async () => {
    const run = await chat("--model", tiny, "--max-tokens", "6", "hello", "there");
    expect(run.code).toBe(0);
    expect(run.output).toMatch(
      /prefill \d+ tokens, [\d.]+ tokens\/s; decode \d tokens, [\d.]+ tokens\/s; peak memory \d+ MB in arrays, \d+ MB in the process$/,
    );
  });

  test("a seed repeats the answer", async () => {
    const ids = async (seed: string): Promise<unknown> => {
      const run = await chat(
        "--model",
        tiny,
        "--max-tokens",
        "12",
        "--temperature",
        "1.5",
        "--top-p",
        "0.95",
        "--seed",
        seed,
        "--json",
        "hi",
      );
      return (JSON.parse(run.output) as { ids: unknown }).ids;
    };
    expect(await ids("1")).toEqual(await ids("1"));
  });

  test("mistakes are told in a line, with exit code 1", async () => {
    const mistakes: [string[], string][] = [
      [[], "usage: bun examples/chat.ts"],
      [["--prompt-ids", "1", "and a question"], "usage: bun examples/chat.ts"],
      [["--model", tiny, "--prompt-ids", "1,x"], `error: --prompt-ids must be a number, got "x".`],
      [
        ["--model", tiny, "--prompt-ids", "1,999"],
        "error: generate: token 1 of the prompt is 999; ids go from 0 to 258.",
      ],
      [
        ["--model", tiny, "--max-tokens", "0", "hi"],
        "error: generate: maxTokens must be a whole number from 1 on, got 0.",
      ],
      [
        ["--model", tiny, "--weights", "int3", "hi"],
        `error: llm.load: weights must be "float32" or "quantized", got "int3".`,
      ],
      [["--model", join(folder.path, "none.gguf"), "hi"], "error: load: there is no file"],
      [["--modle", tiny, "hi"], "error: Unknown option '--modle'"],
    ];
    for (const [args, words] of mistakes) {
      const run = await chat(...args);
      expect([args, run.code, run.output.slice(0, words.length)]).toEqual([args, 1, words]);
      expect(run.output).not.toContain("    at ");
    }
  });
});

test("the real model answers the question on the command line", async () => {
  const { prompt, text } = expected[1]!;
  const run = await chat("--model", await modelPath(), prompt);
  expect(run.code).toBe(0);
  expect(run.output).toStartWith(text);
});
