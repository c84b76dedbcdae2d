// The gate is what everything else rests on, so it is tested on suites that must not pass.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { judge, runTestFile } from "../../scripts/gate/bun-test.ts";
import { parseJUnit } from "../../scripts/gate/junit.ts";
import { describeEnd, runProcess } from "../../scripts/gate/process.ts";
import { findTestFiles, runTestFiles } from "../../scripts/gate/tests.ts";

const head = `import { afterAll, expect, test } from "bun:test";\n`;
const passing = `${head}test("a", () => expect(1).toBe(1)); test("b", () => expect(2).toBe(2));`;

let root = "";
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "mlx-ts-gate-"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function suite(name: string, source: string): string {
  const file = join(root, "test", name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, source);
  return file;
}

const run = (name: string, source: string, timeout = 20) => runTestFile(suite(name, source), { root, timeout });

describe("one file", () => {
  test("a passing file passes, with its true counts and the runner's own summary", async () => {
    const verdict = await run("good.test.ts", passing);
    expect(verdict).toMatchObject({ file: "test/good.test.ts", passed: 2, failed: 0, problem: null });
    expect(verdict.summary).toContain("2 pass, 0 fail, Ran 2 tests across 1 file");
  });

  test("a failing test fails, and the others still count", async () => {
    const verdict = await run("bad.test.ts", `${passing} test("c", () => expect(1).toBe(2));`);
    expect(verdict).toMatchObject({ passed: 2, failed: 1, problem: null });
    expect(verdict.output).toContain("Expected: 2");
  });

  test.each([
    ["no tests", "zero.test.ts", "export {};", /no test ran/],
    ["process.exit(0) in a test", "exit.test.ts", `${head}test("x", () => process.exit(0));`, /process\.exit/],
    [
      "process.exit(0) after a failure",
      "exit2.test.ts",
      `${head}test("a", () => expect(1).toBe(2)); test("x", () => process.exit(0));`,
      /process\.exit/,
    ],
    [
      "a segmentation fault",
      "segv.test.ts",
      `${passing} test("x", async () => { process.kill(process.pid, "SIGSEGV"); await Bun.sleep(5000); });`,
      /crashed with SIGSEGV/,
    ],
    ["a syntax error", "syntax.test.ts", "const = ;", /no test ran|exit code 1/],
    ["a throw at the top level", "top.test.ts", `${passing} throw new Error("top");`, /exit code 1|no test ran/],
    ["a skipped test", "skip.test.ts", `${passing} test.skip("s", () => {});`, /1 skipped/],
  ])("%s is a failure that names the problem", async (_, name, source, problem) => {
    const verdict = await run(name, source);
    expect(verdict.failed).toBeGreaterThan(0);
    expect(verdict.file).toBe(`test/${name}`);
    expect(verdict.problem).toMatch(problem);
  });

  test("a throw in afterAll is a failure", async () => {
    const verdict = await run("after.test.ts", `${passing} afterAll(() => { throw new Error("late"); });`);
    expect(verdict.failed).toBeGreaterThan(0);
    expect(verdict.output).toContain("late");
  });

  test("a synchronous hang is killed, together with the process that it started", async () => {
    const verdict = await run(
      "hang.test.ts",
      `${head}test("x", () => {
        const child = Bun.spawn(["sleep", "60"]);
        console.log("child " + child.pid);
        while (true);
      });`,
      3,
    );
    expect(verdict.failed).toBeGreaterThan(0);
    expect(verdict.problem).toContain("did not end within 3 s");
    const pid = Number(/child (\d+)/.exec(verdict.output)?.[1]);
    expect(pid).toBeGreaterThan(0);
    expect(await isGone(pid)).toBe(true);
  });

  test("a report left by an earlier run is not taken for this one", () => {
    expect(judge("test/x.test.ts", null, null)).toMatchObject({ passed: 0, failed: 1 });
  });

  test("a report about another file, or one cut short, is a problem", () => {
    const xml = `<testsuites tests="1" failures="0" skipped="0"><testsuite file="test/y.test.ts"/></testsuites>`;
    expect(judge("test/y.test.ts", xml, null)).toEqual({ passed: 1, failed: 0, problem: null });
    expect(judge("test/x.test.ts", xml, null).problem).toContain("does not mention");
    expect(judge("test/y.test.ts", xml.slice(0, 60), null)).toMatchObject({ passed: 0, failed: 1 });
    expect(judge("test/y.test.ts", xml, "crashed with SIGTRAP").failed).toBe(1);
  });

  test("tests may be left out on purpose, exactly as many as announced", () => {
    const xml = `<testsuites tests="5" failures="0" skipped="2"><testsuite file="test/y.test.ts"/></testsuites>`;
    expect(judge("test/y.test.ts", xml, null)).toEqual({ passed: 3, failed: 1, problem: "2 skipped" });
    expect(judge("test/y.test.ts", xml, null, 2)).toEqual({ passed: 3, failed: 0, problem: null });
    expect(judge("test/y.test.ts", xml, null, 3)).toEqual({ passed: 3, failed: 1, problem: "2 skipped, and not 3" });
  });
});

/** True once no such process runs any more (a zombie that nobody waits for counts as gone). */
async function isGone(pid: number): Promise<boolean> {
  for (let i = 0; i < 40; i++) {
    const ps = Bun.spawnSync(["ps", "-o", "stat=", "-p", String(pid)]);
    const state = ps.stdout.toString().trim();
    if (state === "" || state.startsWith("Z")) return true;
    await Bun.sleep(50);
  }
  return false;
}

describe("all files", () => {
  test("totals are the sums, a crash costs one file only, and names are printed", async () => {
    rmSync(join(root, "test"), { recursive: true, force: true });
    suite("a.test.ts", passing);
    suite(
      "b.test.ts",
      `${head}test("x", async () => { process.kill(process.pid, "SIGSEGV"); await Bun.sleep(5000); });`,
    );
    suite("deep/c.test.ts", passing);
    suite("fixtures/not-a-test.test.ts", "throw new Error('must not run');");
    const lines: string[] = [];
    const outcome = await runTestFiles({ root, patterns: [], log: (line) => lines.push(line) });
    expect(outcome).toEqual({ passed: 4, failed: 1 });
    expect(lines.join("\n")).toMatch(/test\/b\.test\.ts: crashed with SIGSEGV/);
    expect(findTestFiles(root)).toEqual(["test/a.test.ts", "test/b.test.ts", "test/deep/c.test.ts"]);
    expect(findTestFiles(root, ["deep"])).toEqual(["test/deep/c.test.ts"]);
  });

  test("no test file at all is a failure", async () => {
    expect(await runTestFiles({ root, patterns: ["no-such-name"], log: () => {} })).toEqual({ passed: 0, failed: 1 });
  });
});

describe("the command", () => {
  const script = join(import.meta.dir, "../../scripts/test.ts");

  test("a failing step gives a non-zero exit code and true totals on the last line", async () => {
    const pattern = "no-test-file-has-this-name";
    const result = await runProcess([process.execPath, script, pattern], { timeout: 60 });
    expect(result.code).toBe(1);
    expect(result.output.trimEnd().split("\n").at(-1)).toBe("0 passed, 1 failed");
  });

  test("a passing run gives exit code 0 and counts every test", async () => {
    const result = await runProcess([process.execPath, script, "test/scripts/junit"], { timeout: 60 });
    expect(result.output).toMatch(/\n[1-9]\d* passed, 0 failed\n$/);
    expect(result.code).toBe(0);
  });

  test("an unknown step is refused by name", async () => {
    const result = await runProcess([process.execPath, script, "--only", "nonsense"], { timeout: 60 });
    expect(result.code).not.toBe(0);
    expect(result.output).toContain('no step is called "nonsense"');
  });

  test("an unknown option is refused in one sentence", async () => {
    const result = await runProcess([process.execPath, script, "--nonsense"], { timeout: 60 });
    expect(result.code).toBe(2);
    expect(result.output).toMatch(/^error: Unknown option '--nonsense'.*\n$/);
  });
});

describe("processes", () => {
  test("a command that does not exist ends with 127 and its name", async () => {
    const result = await runProcess(["mlx-ts-no-such-command"], { timeout: 5 });
    expect(result.code).not.toBe(0);
    expect(result.output).toContain("mlx-ts-no-such-command");
  });

  test("output of both streams is kept, and standard input is closed", async () => {
    const source = `console.log("out"); console.error("err"); console.log((await Bun.stdin.text()).length); process.exit(3)`;
    const result = await runProcess([process.execPath, "-e", source], { timeout: 20 });
    expect(result.output).toContain("out");
    expect(result.output).toContain("err");
    expect(result.output).toContain("0");
    expect(describeEnd(result, 20)).toBe("exit code 3");
  });

  test("exit codes of shells that saw a signal count as a crash", () => {
    const end = { signal: null, timedOut: false, output: "", seconds: 0 };
    expect(describeEnd({ ...end, code: 139 }, 1)).toContain("crashed");
    expect(describeEnd({ ...end, code: 0 }, 1)).toBeNull();
    expect(describeEnd({ ...end, code: null }, 1)).not.toBeNull();
  });
});

test("parseJUnit needs every count", () => {
  expect(() => parseJUnit(`<testsuites tests="1" failures="0"></testsuites>`)).toThrow("skipped");
});
