/** What runtimes other than Bun get when they import mlx-ts: one clear sentence. */

import { runtimeProblem } from "./backend/runtime.ts";

throw new Error(
  runtimeProblem(globalThis.process?.versions) ?? "mlx-ts: this entry point is for other runtimes than Bun.",
);
