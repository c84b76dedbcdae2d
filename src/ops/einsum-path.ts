/** The order in which an Einstein summation is computed. */

import { type ArrayInput, C, MxArray, str, vector } from "../core/call.ts";
import { MlxError, takeNativeMessage } from "../core/error.ts";
import { backend } from "../core/native.ts";
import { dropTemporaries } from "../core/temporaries.ts";

/** What `mx.einsumPath` gives. */
export type EinsumPath = [path: number[][], report: string];

/**
 * The order in which `einsum` contracts its operands, and MLX's account of what it costs.
 *
 * Each step of the path names the operands that it takes away by their place; its result is put at the end. Nothing is
 * computed. Throws an MlxError for subscripts that do not fit the operands.
 * Python: `mx.einsum_path(subscripts, *operands)`.
 */
export function einsumPath(subscripts: string, ...operands: readonly ArrayInput[]): EinsumPath {
  const text = str(subscripts, "einsumPath", "subscripts");
  const list = vector(operands, "einsumPath", "operands");
  const json = C.mlxts_einsum_path(text, list);
  dropTemporaries();
  if (json === 0 || json === null) throw new MlxError("einsumPath", takeNativeMessage(), shapes(operands));
  const { path, report } = JSON.parse(backend.text(json)) as { path: number[][]; report: string };
  return [path, report];
}

function shapes(operands: readonly ArrayInput[]): string {
  const texts = operands.map((one) => (MxArray.real(one) ? `${one.dtype}[${one.shape.join(", ")}]` : String(one)));
  return texts.length === 0 ? "" : `operands: ${texts.join(", ")}`;
}
