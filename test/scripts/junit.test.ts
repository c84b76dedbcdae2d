import { expect, test } from "bun:test";
import { parseJUnit } from "../../scripts/gate/junit.ts";

test("counts and files are read, skipped tests do not count as executed", () => {
  const xml = `<?xml version="1.0"?>
    <testsuites name="bun test" tests="5" assertions="0" failures="1" skipped="2" time="0.1">
      <testsuite name="a" file="test/a &amp; b.test.ts" tests="3"><testsuite name="inner" file="test/a &amp; b.test.ts"/></testsuite>
      <testsuite name="c" file="test/c.test.ts" tests="2"/>
    </testsuites>`;
  const files = ["test/a & b.test.ts", "test/c.test.ts"];
  expect(parseJUnit(xml)).toEqual({ executed: 3, failed: 1, skipped: 2, files });
});

test("an empty or truncated report is refused", () => {
  expect(() => parseJUnit("")).toThrow("empty or cut short");
  expect(() => parseJUnit(`<testsuites tests="1" failures="0" skipped="0">`)).toThrow("empty or cut short");
});
