// Storage views in the hands of careless programs: an error or the right bytes each time, never a crash.
import { expect, test } from "bun:test";
import { linesOf } from "./run.ts";

const expected: Record<string, unknown> = {
  "read after dispose": [true, "TypeError", "DisposedError", "TypeError"],
  "written after dispose": ["TypeError", "TypeError", 0],
  "disposed while the bytes are walked": new Array(9).fill(0),
  "disposed twice, and by three": [true, "DisposedError"],
  "disposed inside of a callback, while the bytes are in use": [[0, 2, 4], 0],
  "exported inside of a callback, and escaped": [[1, 1, 1], true, 0],
  "collected inside of a callback": [[1, 1], 1023],
  "bytes of a forgotten view, while its memory is wanted": 8,
  "a buffer that is resized, cloned and transferred": [16, [0, 1, 2, 3, 0], [0, 1, 2, 3], "DisposedError"],
  "a capsule after its view and array": ["dltensor_versioned", "DisposedError"],
  "a Worker exports and transfers; the bytes outlive it": 1023,
  "bytes go to a Worker, which lets them go": 523_776,
  "a Worker ends with views": "closed",
  "a Worker is terminated with views": 60,
  "the process ends with views, bytes and capsules": 150,
};

test("every case of the fixture is tried", async () => {
  expect((await linesOf("storage.ts", { args: ["--list"] })).sort()).toEqual(Object.keys(expected).sort());
});

test.each(Object.entries(expected))(
  "%s",
  async (name, result) => {
    const lines = await linesOf("storage.ts", { args: [name] });
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([result, [2, 3]]);
  },
  70_000,
);
