/** Loading safetensors files. */

import { C, type MxArray, str } from "../core/call.ts";
import { check } from "../core/error.ts";
import { takeArrayMap } from "../core/map.ts";
import { tidy } from "../core/scope.ts";
import { readSlot, slot } from "../core/slots.ts";
import { readSafetensorsHeader } from "./safetensors-header.ts";
import type { ByteSource } from "./source.ts";
import { readTensor } from "./tensor.ts";

export type WithTexts = [arrays: Record<string, MxArray>, metadata: Record<string, string>];

function textsOf(metadata: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries(metadata);
}

/** The arrays of a safetensors file by name, read now, in the order of its header. */
export function readSafetensors(source: ByteSource, stream: number): WithTexts {
  const { tensors, metadata } = readSafetensorsHeader(source);
  const arrays = tidy(() => {
    const read: Record<string, MxArray> = Object.create(null);
    for (const [name, entry] of tensors) {
      read[name] = readTensor(source, { ...entry, part: `the tensor ${JSON.stringify(name)}` }, stream);
    }
    return read;
  });
  return [arrays, textsOf(metadata)];
}

/** The same arrays, which MLX reads from the path when they are evaluated. */
export function readSafetensorsLazily(source: ByteSource, path: string, stream: number): WithTexts {
  const header = readSafetensorsHeader(source);
  const arrays = slot();
  const metadata = slot();
  check(C.mlx_load_safetensors(arrays, metadata, str(path, source.operation, "path"), stream), source.operation);
  const handle = readSlot(arrays);
  C.mlx_map_string_to_string_free(readSlot(metadata));
  const loaded = takeArrayMap(handle, source.operation);
  const ordered: Record<string, MxArray> = Object.create(null);
  for (const name of header.tensors.keys()) ordered[name] = loaded[name]!;
  return [ordered, textsOf(header.metadata)];
}
