// What the checks on an NVIDIA GPU share: cases that each run in a process of their own.
import * as mx from "../../src/index.ts";

/** Resolves to what was seen; throws when that is wrong. */
export type CudaCase = () => string | Promise<string>;

/** Registers the cases of a file and runs the one that the command line names. `--list` prints the names. */
export async function cudaCases(cases: Readonly<Record<string, CudaCase>>): Promise<void> {
  const name = Bun.argv[2] ?? "--list";
  if (name === "--list") {
    console.log(Object.keys(cases).join("\n"));
    return;
  }
  const run = cases[name];
  if (run === undefined) throw new Error(`no case is called "${name}"`);
  if (!mx.cuda.isAvailable()) throw new Error("this library or machine has no CUDA");
  console.log(`seen: ${await run()}`);
}

export function expect(condition: boolean, what: string): void {
  if (!condition) throw new Error(`not so: ${what}`);
}

/** The text of what `run` throws. */
export function thrown(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    const { name, message } = error as Error;
    return `${name}: ${message}`;
  }
  throw new Error("nothing was thrown");
}

/** The largest difference of two arrays, relative to the largest value of the second. */
export function difference(a: mx.Array, b: mx.Array): number {
  return mx.tidy(() => {
    const on = { stream: "cpu" } as const;
    const [x, y] = [a, b].map((one) => mx.astype(one, "float32", on)) as [mx.Array, mx.Array];
    const gap = Number(mx.max(mx.abs(mx.subtract(x, y, on), on), on).item());
    return gap / Math.max(1e-30, Number(mx.max(mx.abs(y, on), on).item()));
  });
}
