/** The findings of `mlx-ts doctor`. */

import os from "node:os";
import manifest from "../package.json" with { type: "json" };
import { loadLibrary } from "./core/native.ts";
import { selfTest } from "./core/self-test.ts";
import * as mx from "./index.ts";

export interface Finding {
  name: string;
  ok: boolean;
  detail: string;
}

type Check = () => string;

const gigabytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

const checks: Record<string, Check> = {
  runtime: () => `mlx-ts ${manifest.version}, Bun ${Bun.version}, ${process.platform}-${process.arch}`,
  library: () => {
    const found = loadLibrary();
    return `${found.folder} (from ${found.source})`;
  },
  versions: () => {
    const { mlx, mlxc } = mx.versions();
    return `MLX ${mlx}, mlx-c ${mlxc}`;
  },
  device: () => {
    using device = mx.defaultDevice();
    const others = mx.isAvailable("gpu") ? "a GPU is available" : "no GPU in this build or machine";
    return `default ${device}; ${others}`;
  },
  blas: () => `${mx.blasName()}, ${mx.blasThreads()} thread(s); ${os.availableParallelism()} core(s)`,
  memory: () => {
    mx.array(0).dispose();
    const budget = `forgotten arrays are collected past ${gigabytes(mx.memory().budget || os.totalmem() / 4)}`;
    return `${gigabytes(os.totalmem())} in the machine, MLX's limit ${gigabytes(mx.memoryLimit())}; ${budget}`;
  },
  "native calls": () => {
    const wrong = selfTest(20_000);
    if (wrong > 0) throw new Error(`${wrong} of 80,000 values came back wrong from native code: do not trust results`);
    return "80,000 values went to native code and back unchanged";
  },
  computing: () => {
    const product = mx.tidy(() => {
      const a = mx.array([
        [1, 2],
        [3, 4],
      ]);
      return mx.matmul(a, a).tolist();
    });
    if (JSON.stringify(product) !== "[[7,10],[15,22]]")
      throw new Error(`[[1,2],[3,4]] squared gave ${JSON.stringify(product)}`);
    return "a matrix product came out right";
  },
};

/** Runs every check; one that throws is a finding, not the end. Without the library, what needs it is not tried. */
export function examine(): Finding[] {
  const findings: Finding[] = [];
  let library = true;
  for (const [name, check] of Object.entries(checks)) {
    if (!library) {
      findings.push({ name, ok: false, detail: "not examined: it needs the library" });
      continue;
    }
    try {
      findings.push({ name, ok: true, detail: check() });
    } catch (error) {
      findings.push({ name, ok: false, detail: (error as Error).message });
      if (name === "library") library = false;
    }
  }
  return findings;
}

export function report(findings: readonly Finding[]): string {
  const lines = findings.map(({ name, ok, detail }) => `${ok ? "ok     " : "PROBLEM"} ${name.padEnd(13)} ${detail}`);
  const bad = findings.filter((finding) => !finding.ok).length;
  lines.push("", bad === 0 ? "Everything works." : `${bad} problem(s), see above.`);
  return lines.join("\n");
}
