/** Bodies of the operations on lists of arrays. */

import {
  type ArrayInput,
  C,
  failure,
  int,
  MxArray,
  produce,
  produceVector,
  slot,
  stream,
  type StreamOptions,
  vector,
} from "../core/call.ts";
import { axisLength, shapeOfInput } from "./args.ts";

export function concatenateBody(
  arrays: readonly ArrayInput[],
  axis: number | null,
  options: StreamOptions | undefined,
): MxArray {
  const on = stream(options, "concatenate");
  const at = axis === null ? null : int(axis, "concatenate", "axis");
  // MLX gives a single array back without looking at the axis.
  if (at !== null && Array.isArray(arrays) && arrays.length === 1)
    axisLength(shapeOfInput(arrays[0]!, "concatenate"), at, "concatenate");
  const list = vector(arrays, "concatenate", "arrays");
  const out = slot();
  const status = at === null ? C.mlx_concatenate(out, list, on) : C.mlx_concatenate_axis(out, list, at, on);
  if (status !== 0) throw failure("concatenate", arrays);
  return produce("concatenate", out);
}

export function dependsBody(
  inputs: MxArray | readonly MxArray[],
  dependencies: MxArray | readonly MxArray[],
): MxArray | MxArray[] {
  const single = MxArray.real(inputs);
  // MLX takes the first without looking whether there is one.
  if (Array.isArray(inputs) && inputs.length === 0) return [];
  const first = vector(single ? [inputs] : inputs, "depends", "inputs");
  const second = vector(MxArray.real(dependencies) ? [dependencies] : dependencies, "depends", "dependencies");
  const out = slot();
  if (C.mlx_depends(out, first, second) !== 0) throw failure("depends", [inputs, dependencies].flat());
  const results = produceVector("depends", out);
  return single ? results[0]! : results;
}
