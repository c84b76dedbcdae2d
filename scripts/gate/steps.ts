// The steps of `bun run test`, in order. Each says what it is, how long it may take and what it needs.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describeEnd, runProcess } from "./process.ts";
import { runTestFiles, tail } from "./tests.ts";

export interface StepOutcome {
  passed: number;
  failed: number;
}

export interface StepContext {
  root: string;
  patterns: readonly string[];
  log: (line: string) => void;
}

export interface Step {
  name: string;
  title: string;
  /** Left out by --fast. */
  slow?: boolean;
  /** The steps after this one cannot run without it. */
  essential?: boolean;
  run: (context: StepContext) => Promise<StepOutcome>;
}

interface CommandOptions {
  timeout: number;
  /** Shows the output while it arrives, for steps that take long. */
  echo?: boolean;
  /** A sentence that helps when the step fails. */
  hint?: string;
}

const bun = process.execPath;

/** A step that is one command: it passes with exit code 0. */
function command(args: readonly string[], options: CommandOptions): Step["run"] {
  return async ({ root, log }) => {
    const result = await runProcess([bun, ...args], {
      cwd: root,
      timeout: options.timeout,
      echo: options.echo ?? false,
    });
    const problem = describeEnd(result, options.timeout);
    if (problem === null) return { passed: 1, failed: 0 };
    log(`  bun ${args.join(" ")}: ${problem}`);
    if (!options.echo) for (const line of tail(result.output, 120)) log(`    ${line}`);
    if (options.hint !== undefined) log(`  ${options.hint}`);
    return { passed: 0, failed: 1 };
  };
}

/** A step whose command prints `N passed, N failed` as its last line and is counted by it. */
function counted(args: readonly string[], options: CommandOptions): Step["run"] {
  return async ({ root, log }) => {
    const result = await runProcess([bun, ...args], { cwd: root, timeout: options.timeout, echo: true });
    const problem = describeEnd(result, options.timeout);
    const totals = /(\d+) passed, (\d+) failed\s*$/.exec(result.output);
    const passed = Number(totals?.[1] ?? 0);
    const failed = Number(totals?.[2] ?? 0);
    if (problem === null && passed > 0 && failed === 0) return { passed, failed };
    log(`  bun ${args.join(" ")}: ${problem ?? (totals === null ? "printed no totals" : "see above")}`);
    return { passed, failed: Math.max(failed, 1) };
  };
}

/** Test files that are a step of their own. */
const apart: Readonly<Record<string, RegExp>> = {
  crash: /^test\/crash\//,
  docs: /^test\/docs\.test\.ts$/,
  package: /^test\/package\//,
};

const titles: Readonly<Record<string, string>> = {
  crash: "crash tests: disposal, Workers, exits, Ctrl-C, reload",
  docs: "code blocks of the documentation",
  package: "the packages, installed from a local registry",
};

export const steps: readonly Step[] = [
  {
    name: "install",
    title: "install dependencies (bun install --frozen-lockfile)",
    essential: true,
    run: command(["install", "--frozen-lockfile"], {
      timeout: 300,
      hint: "This step needs the npm registry. If package.json changed, run `bun install` once and commit bun.lock.",
    }),
  },
  {
    name: "native",
    title: "build the native libraries (bun native/build.ts)",
    essential: true,
    run: command(["native/build.ts"], { timeout: 600, echo: true }),
  },
  {
    name: "codegen",
    title: "generated files match their sources (bun run codegen --check)",
    run: command(["run", "codegen", "--check"], {
      timeout: 120,
      hint: "Run `bun run codegen` and look at the difference.",
    }),
  },
  {
    name: "types",
    title: "type check (tsc)",
    run: command(["--bun", "node_modules/typescript/bin/tsc", "--pretty", "false"], { timeout: 300 }),
  },
  {
    name: "format",
    title: "formatting (bun fmt --check)",
    run: command(["fmt", "--check"], { timeout: 120, hint: "Run `bun fmt`." }),
  },
  {
    name: "tests",
    title: "test files, each in its own process",
    // A pattern on the command line chooses among all files, those of the later steps too.
    run: ({ root, patterns, log }) =>
      runTestFiles({
        root,
        patterns,
        log,
        only: (file) => patterns.length > 0 || !Object.values(apart).some((part) => part.test(file)),
      }),
  },
  ...Object.entries(apart).map(([name, part]) => ({
    name,
    title: titles[name] ?? name,
    run: ({ root, log }: StepContext) => runTestFiles({ root, patterns: [], log, only: (file) => part.test(file) }),
  })),
  {
    name: "leaks",
    title: "leak and slot loops, each in its own process",
    slow: true,
    run: counted(["scripts/leak.ts"], { timeout: 600 }),
  },
  {
    name: "asan",
    title: "core tests under AddressSanitizer",
    slow: true,
    run: counted(["scripts/asan.ts"], { timeout: 600 }),
  },
];

/** What must be there before anything can run; one line for each thing that is missing. */
export function missingPrerequisites(root: string): string[] {
  const missing: string[] = [];
  const [major = 0, minor = 0, patch = 0] = Bun.version.split(".").map(Number);
  if (major * 1e6 + minor * 1e3 + patch < 1_004_005) {
    missing.push(`Bun ${Bun.version} is too old: mlx-ts needs 1.4.5 or newer (npx -y bun@1.4.5 run test)`);
  }
  if (!existsSync(join(root, "bun.lock"))) missing.push("bun.lock is missing: this is not a whole checkout");
  return missing;
}
