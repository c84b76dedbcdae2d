/** Bodies of the convolutions that take more than the generator can say. */

import {
  type ArrayInput,
  bool,
  C,
  failure,
  int,
  ints,
  MxArray,
  pair,
  produce,
  refuse,
  slot,
  stream,
  type StreamOptions,
} from "../core/call.ts";
import { describe } from "../core/describe.ts";
import type { Pointer } from "../backend/types.ts";
import { asList, atLeastOne, nonEmpty, shapeOfInput } from "./args.ts";
import { reshaped, step } from "./steps.ts";
import type { ConvolveMode } from "./types.ts";

type Directions = number | readonly number[];

interface List {
  address: Pointer;
  length: number;
}

function directions(value: unknown, op: string, name: string): List {
  const list = asList(value);
  return { address: ints(list, op, name), length: (list as readonly number[]).length };
}

export function convGeneralBody(
  input: ArrayInput,
  weight: ArrayInput,
  stride: Directions,
  padding: Directions | readonly [readonly number[], readonly number[]],
  kernelDilation: Directions,
  inputDilation: Directions,
  groups: number,
  flip: boolean,
  options: StreamOptions | undefined,
): MxArray {
  const op = "convGeneral";
  const on = stream(options, op);
  const flipped = bool(flip, op, "flip");
  const parts = atLeastOne(int(groups, op, "groups"), op, "groups");
  const steps = directions(stride, op, "stride");
  const ends = Array.isArray(padding) && padding.length === 2 && padding.every(Array.isArray);
  const low = directions(ends ? padding[0] : padding, op, "padding");
  const high = directions(ends ? padding[1] : padding, op, "padding");
  const kernel = directions(kernelDilation, op, "kernelDilation");
  const spread = directions(inputDilation, op, "inputDilation");
  const both = pair(input, weight, op);
  nonEmpty(both.b, op, "weight");
  const out = slot();
  const status = C.mlx_conv_general(
    out,
    both.a,
    both.b,
    steps.address,
    steps.length,
    low.address,
    low.length,
    high.address,
    high.length,
    kernel.address,
    kernel.length,
    spread.address,
    spread.length,
    parts,
    flipped,
    on,
  );
  if (status !== 0) throw failure(op, [input, weight]);
  return produce(op, out);
}

export function convolveBody(
  a: ArrayInput,
  v: ArrayInput,
  mode: ConvolveMode,
  options: StreamOptions | undefined,
): MxArray {
  const op = "convolve";
  const on = stream(options, op);
  const lengths = [vectorLength(a, "a"), vectorLength(v, "v")];
  const kernel = Math.min(...lengths);
  const [before, after] = margins(mode, kernel);
  const both = pair(a, v, op);
  const operands = [a, v];
  // The shorter of the two is the kernel; a convolution runs it backwards, a batch of one with one channel.
  const swap = lengths[0]! < lengths[1]!;
  const [long, short] = swap ? [both.b, both.a] : [both.a, both.b];
  const signal = reshaped(long, [1, -1, 1], on, op, operands);
  const filter = reshaped(short, [1, -1, 1], on, op, operands);
  const one = ints([1], op, "stride");
  const low = ints([before], op, "padding");
  const high = ints([after], op, "padding");
  const out = slot();
  const status = C.mlx_conv_general(out, signal, filter, one, 1, low, 1, high, 1, one, 1, one, 1, 1, true, on);
  const result = step(status, out, op, operands);
  const flat = slot();
  if (C.mlx_reshape(flat, result, ints([-1], op, "shape"), 1, on) !== 0) throw failure(op, operands);
  return produce(op, flat);
}

function vectorLength(value: ArrayInput, name: string): number {
  const [length, ...rest] = shapeOfInput(value, "convolve");
  if (length === undefined || rest.length > 0) {
    refuse(
      new RangeError(
        `convolve: ${name} must have one axis, got ${describe(value)} of ${length === undefined ? 0 : rest.length + 1}.`,
      ),
    );
  }
  if (length === 0) refuse(new RangeError(`convolve: ${name} is empty.`));
  return length as number;
}

/** How many zeros stand before and after the longer operand. */
function margins(mode: unknown, kernel: number): [number, number] {
  if (mode === "full") return [kernel - 1, kernel - 1];
  if (mode === "valid") return [0, 0];
  if (mode === "same") return [kernel >> 1, (kernel - 1) >> 1];
  return refuse(new TypeError(`convolve: mode must be "full", "same" or "valid", got ${describe(mode)}.`));
}
