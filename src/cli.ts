#!/usr/bin/env bun
/** `bunx mlx-ts doctor`: what is installed, what works, and what to do about the rest. */

import { runtimeProblem } from "./backend/runtime.ts";

const usage = `usage: mlx-ts doctor [--json]

  doctor   prints the runtime, the native library, devices, BLAS and memory, and tests that computing works`;

async function main(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  if (command === "--help" || command === "-h" || command === "help") {
    console.log(usage);
    return 0;
  }
  if (command !== "doctor" || rest.some((arg) => arg !== "--json")) {
    console.error(command === undefined ? usage : `mlx-ts: unknown arguments "${args.join(" ")}"\n\n${usage}`);
    return 2;
  }
  const problem = runtimeProblem(globalThis.process?.versions);
  if (problem !== null) {
    console.error(problem);
    return 1;
  }
  const { examine, report } = await import("./doctor.ts");
  const findings = examine();
  console.log(rest.includes("--json") ? JSON.stringify(findings, null, 2) : report(findings));
  return findings.every((finding) => finding.ok) ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
