/** One clear sentence for the runtimes that cannot load the native library. Imports nothing, runs anywhere. */

export const minimumBun = "1.4.5";

/** What stands in the way of running here, or null when nothing does. */
export function runtimeProblem(versions: Record<string, string | undefined> | undefined): string | null {
  const version = versions?.["bun"];
  if (version === undefined) {
    const where = versions?.["node"] === undefined ? "a browser or another runtime" : `Node.js ${versions["node"]}`;
    return `mlx-ts calls MLX through bun:ffi and needs Bun ${minimumBun} or newer; this is ${where}. Install Bun (npm i -g bun) and start the program with "bun run".`;
  }
  if (older(version, minimumBun)) {
    return `mlx-ts needs Bun ${minimumBun} or newer; this is Bun ${version}. Run "bun upgrade".`;
  }
  return null;
}

export function requireRuntime(): void {
  const problem = runtimeProblem(globalThis.process?.versions);
  if (problem !== null) throw new Error(problem);
}

function older(version: string, minimum: string): boolean {
  const have = version.split(/[.-]/).map(Number);
  const need = minimum.split(".").map(Number);
  for (let i = 0; i < 3; i++) {
    const difference = (have[i] ?? 0) - (need[i] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
