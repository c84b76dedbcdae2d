// Runs a fixture in a process of its own and judges how it ended.
import { join, resolve } from "node:path";
import { describeEnd, type ProcessResult, runProcess } from "../../scripts/gate/process.ts";

export const root: string = resolve(import.meta.dir, "../..");
const fixtures = join(import.meta.dir, "fixtures");

export interface FixtureOptions {
  args?: readonly string[];
  /** Seconds until it counts as hanging. */
  timeout?: number;
  env?: Record<string, string | undefined>;
}

/** Runs `fixtures/NAME` under this Bun. */
export function runFixture(name: string, options: FixtureOptions = {}): Promise<ProcessResult> {
  return runProcess([process.execPath, join(fixtures, name), ...(options.args ?? [])], {
    cwd: root,
    timeout: options.timeout ?? 60,
    env: { NO_COLOR: "1", ...options.env },
  });
}

/** The lines that a fixture printed; throws with its whole output when it did not end well. */
export async function linesOf(name: string, options: FixtureOptions = {}): Promise<string[]> {
  const result = await runFixture(name, options);
  const problem = describeEnd(result, options.timeout ?? 60);
  if (problem !== null) throw new Error(`${name} ${options.args?.join(" ") ?? ""}: ${problem}\n${result.output}`);
  return result.output.trimEnd().split("\n");
}
