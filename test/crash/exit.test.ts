// The end of a process: with work in flight, by an error, by Ctrl-C. Always with the code that it should have.
import { describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { linesOf, root, runFixture } from "./run.ts";

describe("work in flight and", () => {
  const expected: Record<string, { code: number; text?: string }> = {
    "process.exit": { code: 7 },
    "process.exit on another stream": { code: 7 },
    "the end of the program": { code: 0 },
    "the end of the program with a pending promise": { code: 0 },
    "an uncaught exception": { code: 1, text: "uncaught, on purpose" },
    "a rejected promise": { code: 1, text: "rejected, on purpose" },
    "an exception inside a callback": { code: 1, text: "from the callback, on purpose" },
    "process.exit inside a callback": { code: 7 },
    "thousands of live arrays and closures": { code: 0 },
  };

  test("every case of the fixture is tried", async () => {
    expect((await linesOf("exits.ts", { args: ["--list"] })).sort()).toEqual(Object.keys(expected).sort());
  });

  test.each(Object.entries(expected))(
    "%s",
    async (name, { code, text }) => {
      const result = await runFixture("exits.ts", { args: [name] });
      expect({ code: result.code, signal: result.signal, timedOut: result.timedOut, output: result.output }).toEqual({
        code,
        signal: null,
        timedOut: false,
        output: text === undefined ? "" : expect.stringContaining(text),
      });
    },
    90_000,
  );
});

test("Ctrl-C ends a process in the middle of a long evaluation, at once", async () => {
  const child = spawn(process.execPath, [join(import.meta.dir, "fixtures/endless.ts")], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.on("exit", (code, signal) => resolve({ code, signal })),
  );
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await new Promise<void>((resolve) =>
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes("evaluating")) resolve();
    }),
  );
  await Bun.sleep(500);
  expect(child.exitCode).toBeNull();
  const start = performance.now();
  child.kill("SIGINT");
  const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
  const { code, signal } = await ended;
  clearTimeout(timer);
  expect(output).not.toContain("evaluated");
  expect(signal === "SIGINT" || code === 130).toBe(true);
  expect(performance.now() - start).toBeLessThan(3000);
}, 60_000);
