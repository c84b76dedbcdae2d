/** Tracing a whole process by its environment. */

import { resolve } from "node:path";
import { processKey } from "./clock.ts";
import { sessionVariable } from "./file.ts";
import { record, type Recording, type RecordOptions } from "./recording.ts";

let recording: Recording | null = null;

/**
 * Begins the recording that MLX_TS_TRACE=FILE asks for, which lasts as long as the thread. MLX_TS_TRACE_FINE=1 makes it
 * fine, MLX_TS_TRACE_LIMIT=N keeps N events. Workers and child processes inherit the variables and write to the same
 * file. Called when mlx-ts is loaded; later calls do nothing.
 */
export function startFromEnvironment(): void {
  const path = process.env["MLX_TS_TRACE"];
  if (recording !== null || path === undefined || path === "") return;
  process.env[sessionVariable] ??= processKey();
  // For children that begin in another folder.
  process.env["MLX_TS_TRACE"] = resolve(path);
  const options: RecordOptions = { path, fine: flag("MLX_TS_TRACE_FINE") };
  const limit = process.env["MLX_TS_TRACE_LIMIT"];
  if (limit !== undefined && limit !== "") {
    if (!/^[1-9]\d{0,14}$/.test(limit)) {
      throw new RangeError(`MLX_TS_TRACE_LIMIT is "${limit}": give a whole number of events.`);
    }
    options.limit = Number(limit);
  }
  recording = record(options);
}

function flag(name: string): boolean {
  const value = process.env[name] ?? "";
  if (value === "" || value === "0") return false;
  if (value === "1") return true;
  throw new RangeError(`${name} is "${value}": give 1 or 0.`);
}
