// Workers: each has its own streams, errors and functions, and none takes the process down.
import { describe, expect, test } from "bun:test";
import { linesOf } from "./run.ts";

describe("Workers:", () => {
  const expected: Record<string, string> = {
    "eight compute at once": JSON.stringify(new Array(8).fill(true)),
    "one after another": "true",
    "an error that is caught": "true",
    "an error that is not caught": "true",
    "terminated while it computes": "true",
    "process.exit in a Worker with work in flight": "true",
    "errors of Workers do not reach the main thread": "true",
  };

  test("every case of the fixture is tried", async () => {
    expect((await linesOf("workers.ts", { args: ["--list"] })).sort()).toEqual(Object.keys(expected).sort());
  });

  test.each(Object.entries(expected))(
    "%s",
    async (name, result) => {
      const lines = await linesOf("workers.ts", { args: [name], timeout: 90 });
      expect(lines.slice(-2)).toEqual([result, "main true"]);
    },
    120_000,
  );
});
