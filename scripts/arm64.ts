// `bun run test:arm64`: builds the libraries for Linux arm64 on a Linux x86-64 machine and runs tests on them under QEMU,
// with the Bun for arm64 of npm. Words on the command line choose test files. It is no part of `bun run test`: it needs
// Debian's cross compiler and emulator, and minutes. An emulator is no arm64 machine: it says that code for arm64, its
// calling convention and its data layouts are right, and nothing of speed or of memory order between cores.
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { cached } from "../codegen/cache.ts";
import { sha256 } from "../native/tools.ts";
import { runTestFile } from "./gate/bun-test.ts";
import { describeEnd, runProcess } from "./gate/process.ts";
import { tail } from "./gate/tests.ts";

const root = resolve(import.meta.dir, "..");
const words = Bun.argv.slice(2);
const total = { passed: 0, failed: 0 };

const bunPin = {
  name: "@oven/bun-linux-aarch64",
  version: "1.4.5",
  /** Of the file bin/bun. */
  sha256: "04778f1f42399a69d086853e9c7af4acf574b2f21a43d0dc673853d8b84a2923",
};
const emulator = "qemu-aarch64-static";
const compiler = "aarch64-linux-gnu-gcc";
/** Where Debian's cross compiler keeps the C library for arm64. */
const sysroot = "/usr/aarch64-linux-gnu";

const patterns = ["test/core/**", "test/transforms/**", "test/io/**", "test/backend/**"];
const single = ["test/native/shim.test.ts", "test/native/exit.test.ts", "test/codegen/abi.test.ts"];

/** What is not run, with the reason; `tests` of a file are left out by a pattern over their names, and counted. */
const skippedFiles = {
  "test/crash": "waits for long computations that an emulator takes minutes for, and `bun --watch` starts Bun itself",
  "test/leak": "counts memory of the whole process, which is the emulator's too",
  "test/llm, test/parity": "thousands of cases; this run is about the platform and not about results",
  "the rest of test/codegen and test/native": "about files and tools, the same on every platform",
};
const skippedTests: Readonly<Record<string, { pattern: string; tests: number; reason: string }>> = {
  "test/core/literal.test.ts": {
    pattern: "resizable",
    tests: 12,
    reason: "QEMU 7.2 answers ENOMEM to mprotect of zero bytes, and Bun then aborts at any resizable ArrayBuffer",
  },
  "test/core/ready.test.ts": {
    pattern: "lets timers run meanwhile",
    tests: 1,
    reason: "8 billion operations on floats in 60 s, where the emulator does 0.05 to 0.08 billion a second",
  },
};

function finish(): never {
  console.log(`${total.passed} passed, ${total.failed} failed`);
  process.exit(total.failed === 0 && total.passed > 0 ? 0 : 1);
}

function fail(text: string): void {
  total.failed++;
  console.log(`FAIL ${text}`);
}

/** Names everything that is missing at once. */
function checkPrerequisites(): void {
  if (process.platform !== "linux" || process.arch !== "x64") {
    const native = process.platform === "linux" && process.arch === "arm64";
    fail(
      `not for ${process.platform}-${process.arch}: this runs on Linux x86-64${native ? "; here `bun run test` tests arm64 itself" : ""}`,
    );
    finish();
  }
  const needed: [found: boolean, what: string, debian: string][] = [
    [Bun.which(emulator) !== null, `${emulator}, the emulator`, "qemu-user-static"],
    [Bun.which(compiler) !== null, `${compiler}, the cross compiler`, "gcc-aarch64-linux-gnu"],
    [Bun.which("aarch64-linux-gnu-g++") !== null, "aarch64-linux-gnu-g++, the cross compiler", "g++-aarch64-linux-gnu"],
    [existsSync(join(sysroot, "lib", "libc.so.6")), `${sysroot}/lib, the C library`, "libc6-arm64-cross"],
    [existsSync(join(sysroot, "lib", "libstdc++.so.6")), `the C++ library in it`, "libstdc++6-arm64-cross"],
  ];
  for (const [found, what, debian] of needed) {
    if (!found) fail(`${what}, is missing (on Debian: apt-get install ${debian})`);
  }
  if (total.failed > 0) finish();
}

/** A command that runs Bun for arm64. The package comes from npm, once, and is checked. */
async function emulatedBun(): Promise<string> {
  const folder = await cached(`bun-linux-aarch64-${bunPin.version}`, async (target) => {
    mkdirSync(target, { recursive: true });
    writeFileSync(join(target, "package.json"), `{ "private": true }\n`);
    const add = ["add", "--exact", "--os", "linux", "--cpu", "arm64", `${bunPin.name}@${bunPin.version}`];
    const result = await runProcess([process.execPath, ...add], { cwd: target, timeout: 300 });
    const problem = describeEnd(result, 300);
    if (problem !== null) throw new Error(`bun add ${bunPin.name}: ${problem}\n${result.output.trim()}`);
    const wrapper = join(target, "bun-arm64");
    const path = `"$(dirname "$0")/node_modules/${bunPin.name}/bin/bun"`;
    writeFileSync(wrapper, `#!/bin/sh\nexec ${emulator} -L ${sysroot} ${path} "$@"\n`);
    chmodSync(wrapper, 0o755);
  });
  const file = join(folder, "node_modules", bunPin.name, "bin", "bun");
  const actual = sha256(file);
  if (actual !== bunPin.sha256) throw new Error(`${file} has sha256 ${actual}, not ${bunPin.sha256}: remove ${folder}`);
  return join(folder, "bun-arm64");
}

async function build(): Promise<string> {
  const command = [process.execPath, "native/build.ts", "--platform", "linux-arm64"];
  const result = await runProcess(command, { cwd: root, timeout: 600, echo: true });
  const problem = describeEnd(result, 600);
  const library = result.output.trimEnd().split("\n").at(-1) ?? "";
  if (problem === null && existsSync(library)) return library;
  throw new Error(`the build for arm64: ${problem ?? "it did not say where the libraries are"}`);
}

async function runFile(file: string, bun: string, env: Record<string, string>): Promise<void> {
  const left = skippedTests[file];
  const args = ["--preload", "./test/arm64/preload.ts"];
  if (left !== undefined) args.push("--test-name-pattern", `^(?!.*${left.pattern})`);
  const options = { root, bun, env, args, timeout: 600, testTimeout: 300, leftOut: left?.tests ?? 0 };
  const verdict = await runTestFile(join(root, file), options);
  total.passed += verdict.passed;
  total.failed += verdict.failed;
  const { summary, seconds } = verdict;
  console.log(`${verdict.failed > 0 ? "FAIL" : "ok  "} ${file}  ${summary} (${seconds.toFixed(1)} s)`);
  if (left !== undefined) console.log(`     left out: ${left.tests} tests named "${left.pattern}". ${left.reason}.`);
  if (verdict.failed === 0) return;
  if (verdict.problem !== null) console.log(`     ${verdict.problem}`);
  for (const line of tail(verdict.output, 60)) console.log(`     ${line}`);
}

checkPrerequisites();
try {
  const library = await build();
  const bun = await emulatedBun();
  const env = { MLX_TS_ARM64_BUN: bun, MLX_TS_LIBRARY: library, CC: compiler };
  const arch = await runProcess([bun, "-p", "process.arch"], { timeout: 60 });
  if (arch.output.trim() !== "arm64") throw new Error(`Bun under ${emulator} does not run: ${arch.output.trim()}`);

  const found = patterns.flatMap((pattern) => [...new Bun.Glob(`${pattern}/*.test.ts`).scanSync({ cwd: root })]);
  const files = [...new Set([...found, ...single])]
    .filter((file) => !file.includes("/fixtures/") && (words.length === 0 || words.some((word) => file.includes(word))))
    .sort();
  for (const file of files) await runFile(file, bun, env);
  if (files.length === 0) fail("no test file was found");
  for (const [what, reason] of Object.entries(skippedFiles)) console.log(`not run: ${what}: ${reason}`);
} catch (error) {
  fail((error as Error).message);
}
finish();
