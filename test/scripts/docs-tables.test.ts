// The generated tables of docs/: as the API has it, and no function of Python's unaccounted for.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { absent, renamed } from "../../codegen/api-names.ts";
import { accounts, droppedKeywords, keywords, withTables } from "../../scripts/docs-tables.ts";
import { camelName } from "../../codegen/op-names.ts";
import { caught, root } from "../helpers.ts";

test("docs/from-python.md holds its tables, and they are up to date", () => {
  const text = readFileSync(join(root, "docs/from-python.md"), "utf8");
  expect(text.match(/<!-- generated: \S+ -->/g)).toEqual(["<!-- generated: names -->", "<!-- generated: keywords -->"]);
  expect(withTables(text, "from-python.md")).toBe(text);
});

describe("every function is accounted for:", () => {
  const functions = (...names: string[]) => ({ core: { functions: Object.fromEntries(names.map((n) => [n, []])) } });

  test("under its own name, renamed, or absent with a reason", () => {
    const has = (_: string, name: string): boolean => ["expandDims", "withStream"].includes(name);
    const { same, renamedHere, absentHere } = accounts(functions("expand_dims", "stream", "from_dlpack"), has);
    expect([[...same], renamedHere, absentHere]).toEqual([[["core", 1]], ["stream"], ["from_dlpack"]]);
    for (const [, reason] of Object.values(renamed)) expect(reason.length).toBeGreaterThan(10);
    for (const reason of Object.values(absent)) expect(reason.length).toBeGreaterThan(10);
  });
  test("one that is nowhere is an error, and so is an exception that is none", () => {
    expect(caught(() => accounts(functions("new_thing"), () => false)).message).toContain("mx.new_thing is nowhere");
    expect(caught(() => accounts(functions("from_dlpack"), () => true)).message).toContain("take it off");
    expect(caught(() => accounts(functions("stream"), () => true)).message).toContain("take it off");
  });
});

test("a table that does not exist is an error", () => {
  expect(caught(() => withTables("<!-- generated: other -->\n<!-- end -->", "a.md")).message).toContain('"other"');
});

test("every keyword of the table is an option of the source", () => {
  const files = [...new Bun.Glob("{generated,src}/**/*.ts").scanSync({ cwd: root })];
  const source = files.map((file) => readFileSync(join(root, file), "utf8")).join("\n");
  const taken = (name: string): boolean => new RegExp(`\\b${camelName(name)}\\?: `).test(source);
  expect([...keywords().keys()].filter((name) => !taken(name))).toEqual([]);
  expect(Object.keys(droppedKeywords).filter(taken)).toEqual([]);
});
