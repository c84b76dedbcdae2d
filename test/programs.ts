// What the programs of `runProgram` call: one line for each thing they have to say.

/** Prints a value on a line of its own. */
export function say(...values: unknown[]): void {
  console.log(...values.map((value) => (typeof value === "string" ? value : Bun.inspect(value))));
}

/** Runs `run` and says what it gave, or what it threw. */
export function attempt(label: string, run: () => unknown): void {
  try {
    say(`${label}: ${JSON.stringify(run())}`);
  } catch (error) {
    say(`${label}: ${error instanceof Error ? `${error.name}: ${error.message}` : `threw ${String(error)}`}`);
  }
}
