/** Graphs as pictures. */

import { writeFileSync } from "node:fs";
import { str } from "../core/args.ts";
import type { MxArray } from "../core/array.ts";
import { vectorOf } from "../core/closure.ts";
import { describe } from "../core/describe.ts";
import { check, MlxError, takeNativeMessage } from "../core/error.ts";
import { soundHandle } from "../core/evaluate.ts";
import { backend, C } from "../core/native.ts";
import { isOptions } from "../core/options.ts";
import { textAddress } from "../core/scratch.ts";
import { leaves } from "../core/tree.ts";

/**
 * Writes the graph of what was not computed yet behind the outputs, in the DOT language that Graphviz draws.
 *
 * `path` is a file, or a function that takes the text. After the outputs an object may give names to arrays of the
 * graph; the others are named A, B, C. Throws an MlxError for a file that cannot be written.
 * Python: `mx.export_to_dot(file, *args, **kwargs)`.
 *
 * @example
 * mx.exportToDot("graph.dot", x.add(y), { x, y });
 */
export function exportToDot(
  path: string | ((text: string) => void),
  ...outputs: readonly [...arrays: MxArray[], names: Readonly<Record<string, MxArray>>] | readonly MxArray[]
): void {
  const op = "exportToDot";
  if (typeof path !== "function") str(path, op, "path");
  const last = outputs.at(-1);
  const names = isOptions(last) ? (last as Record<string, MxArray>) : {};
  const arrays = leaves<MxArray>(isOptions(last) ? outputs.slice(0, -1) : outputs);
  if (arrays.length === 0) throw new TypeError(`${op}: there must be an output, got ${describe(outputs[0])}.`);
  const text = dotText(arrays, names, op);
  if (typeof path === "function") path(text);
  else write(path, text, op);
}

function dotText(arrays: readonly MxArray[], names: Readonly<Record<string, MxArray>>, op: string): string {
  const namer = C.mlx_node_namer_new();
  const vector = vectorOf(arrays, op);
  try {
    for (const [name, array] of Object.entries(names)) {
      str(name, op, "a name");
      // Graphviz reads what stands in quotes up to the next one.
      const quoted = name.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
      check(C.mlx_node_namer_set_name(namer, soundHandle(array, op), textAddress(quoted)), op);
    }
    check(C.mlxts_check_depth(vector, 0), op);
    const text = C.mlxts_export_to_dot(namer, vector);
    if (text === 0 || text === null) throw new MlxError(op, takeNativeMessage());
    return backend.text(text);
  } finally {
    C.mlx_vector_array_free(vector);
    C.mlx_node_namer_free(namer);
  }
}

function write(path: string, text: string, op: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new MlxError(op, `${path} cannot be written: ${(error as Error).message}`);
  }
}
