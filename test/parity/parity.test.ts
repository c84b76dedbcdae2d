// The differential cases of the array language against what expectations.json says: every case that does not pass is
// listed there with its reason, and a case that begins to pass must leave the list.
import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import expectations from "./expectations.json" with { type: "json" };
import { makeReport, ofArrayLanguage, type Report } from "./report.ts";
import { runParity } from "./runner.ts";

const { rate, notPassing } = expectations as { rate: number; notPassing: Record<string, string> };

let results: Report["results"] = [];
beforeAll(async () => {
  const file = join(import.meta.dir, "data/cases.jsonl.gz");
  const run = await runParity(file, { kinds: ["call", "dtype", "error"], names: ["mx.", "array."] });
  results = ofArrayLanguage(makeReport(run));
}, 240_000);

const passed = (): Set<string> => new Set(results.flatMap(({ id, status }) => (status === "passed" ? id : [])));

describe("parity with Python MLX", () => {
  test("the cases are all there, of every kind", () => {
    expect(results).toHaveLength(2372);
    expect([...new Set(results.map(({ kind }) => kind))].sort()).toEqual(["call", "dtype", "error"]);
  });

  test("every case that does not pass is listed with its reason", () => {
    const news = results.filter(({ id, status }) => status !== "passed" && !Object.hasOwn(notPassing, id));
    expect(news.map(({ id, status, message }) => `${id} ${status}: ${message}`)).toEqual([]);
    expect(Object.values(notPassing).filter((reason) => reason.length < 20)).toEqual([]);
  });

  test("every listed case still does not pass", () => {
    const ids = passed();
    const known = new Set(results.map(({ id }) => id));
    expect(Object.keys(notPassing).filter((id) => ids.has(id))).toEqual([]);
    expect(Object.keys(notPassing).filter((id) => !known.has(id))).toEqual([]);
  });

  test("the pass rate is the recorded one or better", () => {
    expect(rate).toBeGreaterThanOrEqual(0.97);
    expect(passed().size / results.length).toBeGreaterThanOrEqual(rate);
  });

  test("no case leaves a handle behind", () => {
    expect(results.filter(({ leaked }) => leaked !== undefined).map(({ id, leaked }) => `${id}: ${leaked}`)).toEqual(
      [],
    );
  });
});
