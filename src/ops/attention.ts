/** Bodies of `mx.fast.rope` and `mx.fast.scaledDotProductAttention`. */

import {
  type ArrayInput,
  bool,
  C,
  failure,
  float,
  input,
  int,
  MxArray,
  nullable,
  optionalFloat,
  produce,
  refuse,
  slot,
  str,
  stream,
  type StreamOptions,
} from "../core/call.ts";
import { describe } from "../core/describe.ts";
import { shapeOfInput } from "./args.ts";

export function ropeBody(
  a: ArrayInput,
  dims: number,
  traditional: boolean,
  base: number | null,
  scale: number,
  offset: number | MxArray,
  freqs: ArrayInput | null,
  options: StreamOptions | undefined,
): MxArray {
  const op = "fast.rope";
  const on = stream(options, op);
  const width = int(dims, op, "dims");
  const interleaved = bool(traditional, op, "traditional");
  const theta = optionalFloat(base, op, "base");
  const factor = float(scale, op, "scale");
  const at = MxArray.real(offset) ? input(offset, op, "offset") : int(offset, op, "offset");
  const x = input(a, op, "a");
  const periods = nullable(freqs, op, "freqs");
  const out = slot();
  const status = MxArray.real(offset)
    ? C.mlx_fast_rope_dynamic(out, x, width, interleaved, theta, factor, at, periods, on)
    : C.mlx_fast_rope(out, x, width, interleaved, theta, factor, at, periods, on);
  if (status !== 0) throw failure(op, [a, freqs]);
  return produce(op, out);
}

export function scaledDotProductAttentionBody(
  q: ArrayInput,
  k: ArrayInput,
  v: ArrayInput,
  scale: number,
  mask: "causal" | MxArray | null,
  sinks: ArrayInput | null,
  forceFused: boolean,
  options: StreamOptions | undefined,
): MxArray {
  const op = "fast.scaledDotProductAttention";
  const on = stream(options, op);
  const factor = float(scale, op, "scale");
  const fused = bool(forceFused, op, "forceFused");
  const mode = str(MxArray.real(mask) ? "array" : maskWord(mask, op), op, "mask");
  const queries = input(q, op, "q");
  const keys = input(k, op, "k");
  const values = input(v, op, "v");
  // MLX divides the heads of the queries by those of the keys.
  if (shapeOfInput(k, op)[1] === 0) refuse(new RangeError(`${op}: k has no heads.`));
  const masks = MxArray.real(mask) ? input(mask, op, "mask") : 0;
  const drains = nullable(sinks, op, "sinks");
  const out = slot();
  const status = C.mlx_fast_scaled_dot_product_attention(
    out,
    queries,
    keys,
    values,
    factor,
    mode,
    masks,
    drains,
    fused,
    on,
  );
  if (status !== 0) throw failure(op, [q, k, v, mask, sinks]);
  return produce(op, out);
}

function maskWord(mask: unknown, op: string): string {
  if (mask === null) return "";
  if (mask === "causal") return mask;
  return refuse(new TypeError(`${op}: mask must be "causal", an Array or null, got ${describe(mask)}.`));
}
