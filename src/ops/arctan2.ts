/** The body of `mx.arctan2`, which takes Arrays alone: Python's refuses scalars, so no dtype is promised beside one. */

import { C, failure, MxArray, pair, produce, refuse, slot, stream, type StreamOptions } from "../core/call.ts";
import { describe } from "../core/describe.ts";

function requireArray(value: unknown, name: string): void {
  if (MxArray.real(value)) return;
  refuse(
    new TypeError(
      `arctan2: ${name} must be an Array, got ${describe(value)}. Make one of a scalar with mx.array(...).`,
    ),
  );
}

export function arctan2Body(a: MxArray, b: MxArray, options: StreamOptions | undefined): MxArray {
  requireArray(a, "a");
  requireArray(b, "b");
  const on = stream(options, "arctan2");
  const both = pair(a, b, "arctan2");
  const out = slot();
  if (C.mlx_arctan2(out, both.a, both.b, on) !== 0) throw failure("arctan2", [a, b]);
  return produce("arctan2", out);
}
