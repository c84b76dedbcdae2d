// `bun run test:asan`: builds the libraries with AddressSanitizer and runs under it the core tests, with a leak check at
// the end of each file, then the programs of the crash tests and the differential cases. Words on the command line
// choose test files, and then nothing else runs. First it shows that the sanitizer sees a use after free, a double
// free and a leak: a checker that cannot fail checks nothing.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type FileVerdict, runTestFile } from "./gate/bun-test.ts";
import { describeEnd, runProcess } from "./gate/process.ts";
import { tail } from "./gate/tests.ts";
import { runParity } from "../test/parity/runner.ts";

const root = resolve(import.meta.dir, "..");
const words = Bun.argv.slice(2);
const total = { passed: 0, failed: 0 };

function finish(): never {
  console.log(`${total.passed} passed, ${total.failed} failed`);
  process.exit(total.failed === 0 && total.passed > 0 ? 0 : 1);
}

function fail(text: string): void {
  total.failed++;
  console.log(`FAIL ${text}`);
}

/** The path of a library of the compiler, or null when the compiler or the library is missing. */
async function compilerLibrary(name: string): Promise<string | null> {
  const result = await runProcess(["g++", `-print-file-name=${name}`], { timeout: 20 });
  const path = result.output.trim();
  return result.code === 0 && path.includes("/") && existsSync(path) ? path : null;
}

if (process.platform !== "linux") {
  console.log("The AddressSanitizer run needs Linux.");
  fail(`not available on ${process.platform}`);
  finish();
}
const runtime = await compilerLibrary("libasan.so");
// Bun has no C++ runtime of its own to offer: without it, the sanitizer finds no function to throw exceptions with.
const cpp = await compilerLibrary("libstdc++.so.6");
if (runtime === null || cpp === null) {
  fail("g++ or its libasan is missing (on Debian: apt-get install g++)");
  finish();
}

const build = await runProcess([process.execPath, "native/build.ts", "--asan"], {
  cwd: root,
  timeout: 600,
  echo: true,
});
const problem = describeEnd(build, 600);
const library = build.output.trimEnd().split("\n").at(-1) ?? "";
if (problem !== null || !existsSync(library)) {
  fail(`the build with AddressSanitizer: ${problem ?? "it did not say where the libraries are"}`);
  finish();
}

const env = {
  LD_PRELOAD: `${runtime} ${cpp}`,
  ASAN_OPTIONS: "detect_container_overflow=0:handle_segv=2:detect_leaks=1",
  LSAN_OPTIONS: `suppressions=${join(root, "test/asan/leaks.supp")}:print_suppressions=0`,
  MLX_TS_ASAN_RUNTIME: runtime,
  // A g++ that leaves the sanitizer behind: compile asks for one.
  PATH: `${join(root, "test/asan/bin")}:${process.env["PATH"] ?? ""}`,
  MLX_TS_ASAN_CXX: Bun.which("g++") ?? "g++",
  MLX_TS_LIBRARY: library,
};

function run(file: string): Promise<FileVerdict> {
  return runTestFile(join(root, file), { root, timeout: 120, env, args: ["--preload", "./test/asan/preload.ts"] });
}

const report = /ERROR: (?:Address|Leak)Sanitizer|AddressSanitizer: CHECK failed/;

const proofs = {
  "use-after-free": /heap-use-after-free/,
  "double-free": /double-free|use-after-free/,
  leak: /detected memory leaks/,
};
for (const [name, expected] of Object.entries(words.length > 0 ? {} : proofs)) {
  const verdict = await run(`test/asan/fixtures/${name}.test.ts`);
  if (verdict.failed > 0 && expected.test(verdict.output)) {
    total.passed++;
    console.log(`ok   the sanitizer reports a ${name} (${verdict.seconds.toFixed(1)} s)`);
  } else {
    fail(`the sanitizer does not report a ${name}`);
    for (const line of tail(verdict.output, 40)) console.log(`     ${line}`);
  }
}

const files = [...new Bun.Glob("test/{asan,core,storage,transforms}/**/*.test.ts").scanSync({ cwd: root })]
  .filter((file) => !file.includes("/fixtures/") && (words.length === 0 || words.some((word) => file.includes(word))))
  .sort();
for (const file of files) {
  const verdict = await run(file);
  total.passed += verdict.passed;
  total.failed += verdict.failed;
  const reported = report.test(verdict.output);
  if (reported && verdict.failed === 0) fail(`${file}: the sanitizer reported something`);
  const leaks = /leak check[^\n]*/.exec(verdict.output)?.[0] ?? "no leak check";
  console.log(
    `${verdict.failed > 0 ? "FAIL" : "ok  "} ${file}  ${verdict.summary}, ${leaks} (${verdict.seconds.toFixed(1)} s)`,
  );
  if (verdict.failed === 0 && !reported) continue;
  if (verdict.problem !== null) console.log(`     ${verdict.problem}`);
  for (const line of tail(verdict.output, 100)) console.log(`     ${line}`);
}
if (files.length === 0) fail("no test file was found");
if (words.length > 0) finish();

// Programs end without a leak check: what they own at the end is no leak.
const programEnv = {
  ...env,
  ASAN_OPTIONS: env.ASAN_OPTIONS.replace("detect_leaks=1", "detect_leaks=0"),
  NO_COLOR: "1",
};

/** Every case that a program of the crash tests knows; their results are judged by the crash tests themselves. */
async function runProgram(name: string): Promise<void> {
  const file = join(root, "test/crash/fixtures", name);
  const list = await runProcess([process.execPath, file, "--list"], { cwd: root, timeout: 60, env: programEnv });
  const cases = list.output.trim().split("\n");
  const before = { ...total };
  for (const one of cases) {
    const result = await runProcess([process.execPath, file, one], { cwd: root, timeout: 120, env: programEnv });
    if (!result.timedOut && result.signal === null && !report.test(result.output)) {
      total.passed++;
      continue;
    }
    fail(`${name} ${one}: ${describeEnd(result, 120) ?? "the sanitizer reported something"}`);
    for (const line of tail(result.output, 60)) console.log(`     ${line}`);
  }
  console.log(`ok   ${name}: ${total.passed - before.passed} of ${cases.length} cases without a report`);
}
for (const name of ["callbacks.ts", "workers.ts", "storage.ts", "exits.ts"]) await runProgram(name);

const parity = await runParity(join(root, "test/parity/data/cases.jsonl.gz"), {
  kinds: ["call", "dtype", "error"],
  names: ["mx.", "array."],
  env: programEnv,
});
const reported = parity.results.filter(({ message }) => report.test(message) || message.startsWith("the process "));
for (const { id, message } of reported) fail(`parity case ${id}: ${message}`);
if (reported.length === 0) total.passed++;
console.log(
  `${reported.length === 0 ? "ok  " : "FAIL"} ${parity.results.length} parity cases, ${reported.length} reports`,
);
finish();
