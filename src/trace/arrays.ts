/** Native arrays in words. Reads what the handle knows; evaluates nothing. */

import { deviceTypeCodes } from "../../generated/enums.ts";
import type { Pointer } from "../backend/types.ts";
import { dtypeNames } from "../core/dtype.ts";
import { backend, C } from "../core/native.ts";
import { check } from "../core/error.ts";
import { readSlot, readSlotI32, slot } from "../core/slots.ts";
import { arrayHandles } from "../core/vector.ts";
import type { ArrayForm } from "./record.ts";

/** The form of a live array. */
export function formOfHandle(handle: Pointer): ArrayForm {
  const ndim = C.mlx_array_ndim(handle);
  const address = ndim > 0 ? C.mlx_array_shape(handle) : 0;
  const shape: number[] = [];
  for (let i = 0; i < ndim; i++) shape.push(backend.readI32(address, i * 4));
  return {
    shape,
    dtype: dtypeNames[C.mlx_array_dtype(handle)]!,
    elements: Number(C.mlx_array_size(handle)),
    bytes: Number(C.mlx_array_nbytes(handle)),
  };
}

/**
 * The forms of the arrays of a vector. Takes no slot of the ring an array: the call that is watched has its result in
 * one that is not read yet, and a list of thousands would come round to it.
 */
export function formsOfVector(vector: Pointer): ArrayForm[] {
  return arrayHandles(vector, "trace").map((handle) => {
    const form = formOfHandle(handle);
    C.mlx_array_free(handle);
    return form;
  });
}

// Streams by number: MLX numbers them through the whole process, and never anew.
const streams = new Map<number, string>();

/** "cpu 0": device and number of a stream. */
export function streamText(stream: Pointer): string {
  const index = slot();
  check(C.mlx_stream_get_index(index, stream), "trace");
  const number = readSlotI32(index);
  let text = streams.get(number);
  if (text === undefined) {
    const out = slot();
    check(C.mlx_stream_get_device(out, stream), "trace");
    const device = readSlot(out);
    const type = slot();
    check(C.mlx_device_get_type(type, device), "trace");
    text = `${readSlotI32(type) === deviceTypeCodes.gpu ? "gpu" : "cpu"} ${number}`;
    C.mlx_device_free(device);
    streams.set(number, text);
  }
  return text;
}

/** "float32[2, 3]" */
export function formText({ dtype, shape }: ArrayForm): string {
  return `${dtype}[${shape.join(", ")}]`;
}
