// Disposed values and callbacks that misbehave: a clear error each time, never a crash.
import { describe, expect, test } from "bun:test";
import { linesOf } from "./run.ts";

test("every use of a disposed value throws a DisposedError that names the operation", async () => {
  const lines = await linesOf("disposed.ts");
  expect(lines.at(-1)).toMatch(/^\d\d uses, 0 failed$/);
});

describe("a callback that", () => {
  const expected: Record<string, RegExp> = {
    "disposes its argument": /^\[2,4,6\]$/,
    "disposes the caller's array": /^\[2,4,6\]$/,
    "disposes an array that it closes over": /^\[10,20,30\]$/,
    "disposes its own result": /^DisposedError: /,
    "disposes its own closure": /^\[\[2,3,4\]\]$/,
    "lets its argument escape": /^DisposedError: .*add/,
    "throws an Error": /^RangeError: mine$/,
    "throws something else": /^thrown a string$/,
    "throws undefined": /^thrown undefined$/,
    "returns nothing": /^TypeError: |^MlxError: /,
    "returns a promise": /^TypeError: |^MlxError: /,
    "evaluates a traced array": /^\[6,6,6\]$|^MlxError: /,
    "returns a vector where a scalar is due": /^MlxError: /,
    "collects garbage inside": /^\[2,4,6\]$/,
    "nests grad in grad, past the ring of slots": /^\[6,12,18\]$/,
    "throws two levels deep": /^Error: deep$/,
    "recovers from an inner failure": /^\[2,4,6\]$/,
    "disposes everything while it runs": /^\[2,4,6\]$/,
  };

  test("is tried in every way that the fixture knows", async () => {
    expect((await linesOf("callbacks.ts", { args: ["--list"] })).sort()).toEqual(Object.keys(expected).sort());
  });

  test.each(Object.entries(expected))("%s", async (name, result) => {
    const lines = await linesOf("callbacks.ts", { args: [name] });
    expect(lines[0]).toMatch(result);
    expect(lines[1]).toBe("[4,6]");
    expect(lines).toHaveLength(2);
  });
});
