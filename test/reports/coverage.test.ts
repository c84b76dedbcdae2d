// Every report has a test whose title begins with its number, or waits for a room of the library that is not there yet.
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../helpers.ts";
import pending from "./pending.json";

/** The reports that were collected, by the numbers they were given. */
const reports = [
  ...[1, 2, 3, 4, 5, 6, 8, 9, 11, 12, 14, 16, 17, 18, 20, 22, 23, 25, 26, 27, 30, 31, 32, 35, 36, 38, 39, 40, 42, 43],
  47,
].map((number) => `B${String(number).padStart(2, "0")}`);

const waiting = pending as Record<string, { room: string; reason: string }>;

test("every report is tested or pending, and none is both", () => {
  const titles = [...new Bun.Glob("*.test.ts").scanSync({ cwd: import.meta.dir })]
    .map((file) => readFileSync(join(import.meta.dir, file), "utf8"))
    .flatMap((text) => [...text.matchAll(/\b(?:test|describe|scoped)\("(B\d\d): /g)].map(([, id]) => id!));
  expect([...new Set([...titles, ...Object.keys(waiting)])].sort()).toEqual(reports);
  expect(Object.keys(waiting).filter((id) => titles.includes(id))).toEqual([]);
});

test("what is pending waits for a room that is not there", () => {
  for (const [id, { room, reason }] of Object.entries(waiting)) {
    expect(reason.length).toBeGreaterThan(20);
    // When this fails, the room has come: write the report's test and take it off the list.
    expect({ id, room, exists: existsSync(join(root, room)) }).toEqual({ id, room, exists: false });
  }
});
