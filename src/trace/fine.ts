/**
 * Fine mode: what an operation has built is evaluated at once, primitive by primitive, and each is timed alone. While
 * that happens all arrays of the graph are held, so that no primitive may write into its operand's storage: a result in
 * an operand's storage is a view.
 */

import type { Pointer } from "../backend/types.ts";
import { type MxArray, wrapArray } from "../core/array.ts";
import { check } from "../core/error.ts";
import { evaluateOne } from "../core/evaluate.ts";
import type { Handle } from "../core/handle.ts";
import { insideNative } from "../core/ledger.ts";
import { backend, C } from "../core/native.ts";
import { privateSlot } from "../core/slots.ts";
import { formOfHandle } from "./arrays.ts";
import { now } from "./clock.ts";
import type { ArrayForm, Sample, RecordedView } from "./record.ts";

/** A primitive that was evaluated. */
export interface Evaluated {
  readonly name: string;
  readonly start: number;
  readonly duration: number;
  readonly inputs: readonly ArrayForm[];
  readonly outputs: readonly ArrayForm[];
  readonly sample: Sample;
}

interface Node {
  readonly array: MxArray;
  readonly inputs: MxArray[];
  /** All results of the primitive, this one among them. */
  readonly outputs: MxArray[];
  readonly name: string;
}

const UNSCHEDULED = 0;

/**
 * Whether an array must not be evaluated now: inside of a transform's function that would take from the graph what is
 * traced. MLX's own mark is not enough, since an inner transform takes it off its arrays while the outer one needs them.
 */
export function isTraced(array: Handle): boolean {
  return insideNative() || C.mlxts_array_is_tracer(array.entry.handle) === 1;
}

/** Numbers storages. MLX's own identity of one is an address, which comes again when the storage is gone. */
export class Storages {
  readonly #ids = new Map<number, { id: number; place: string }>();
  #last = 0;

  #place(handle: Pointer): string {
    return `${C.mlxts_array_native_buffer(handle)}+${C.mlxts_array_buffer_size(handle)}`;
  }

  #view({ entry: { handle } }: MxArray, anew: boolean): RecordedView {
    const storageId = C.mlxts_array_storage_id(handle);
    const place = this.#place(handle);
    let known = this.#ids.get(storageId);
    if (anew || known === undefined || known.place !== place)
      this.#ids.set(storageId, (known = { id: ++this.#last, place }));
    return { bufferId: known.id, storageId, dataSize: C.mlxts_array_data_size(handle) };
  }

  /** The view of an array that is there. */
  read(array: MxArray): RecordedView {
    return this.#view(array, false);
  }

  /** The view of an array that was made just now, in a storage of its own. */
  write(array: MxArray): RecordedView {
    return this.#view(array, true);
  }
}

// Not of the ring: a graph may have more arrays than that has slots, and the operation around may use one.
const made = privateSlot();

/** Wraps a handle that the caller disposes. */
function held(all: MxArray[], call: (out: Pointer) => number): MxArray {
  made.clear();
  check(call(made.address), "trace");
  const array = wrapArray(made.read());
  all.push(array);
  return array;
}

/** The primitives that an array waits for, operands before what is made of them. Every array goes into `all`. */
function pending(root: Handle, all: MxArray[]): Node[] {
  const order: Node[] = [];
  const seen = new Set<number>();
  const visit: { array: MxArray; node: Node | null }[] = [];
  const enter = (array: MxArray): void => {
    const { handle } = array.entry;
    // What runs in the background already is waited for by what reads it.
    if (C.mlxts_array_status(handle) !== UNSCHEDULED) return;
    const primitive = C.mlxts_array_primitive_id(handle);
    // Data, or a result of a primitive that is in the list already.
    if (primitive === 0 || seen.has(primitive)) return;
    seen.add(primitive);
    visit.push({ array, node: null });
  };
  enter(held(all, (out) => copy(out, root.entry.handle)));
  while (visit.length > 0) {
    const { array, node } = visit.pop()!;
    if (node !== null) {
      order.push(node);
      continue;
    }
    const { handle } = array.entry;
    const name = backend.text(C.mlxts_array_primitive(handle));
    const inputs: MxArray[] = [];
    for (let i = 0; i < C.mlxts_array_num_inputs(handle); i++) {
      inputs.push(held(all, (out) => C.mlxts_array_input(out, handle, i)));
    }
    const outputs: MxArray[] = [];
    for (let i = 0; i < C.mlxts_array_num_outputs(handle); i++) {
      outputs.push(held(all, (out) => C.mlxts_array_output(out, handle, i)));
    }
    visit.push({ array, node: { array, inputs, outputs, name } });
    // The first operand is visited first: it is the last one in.
    for (const input of inputs.toReversed()) enter(input);
  }
  return order;
}

function copy(out: Pointer, handle: Pointer): number {
  return C.mlx_array_set(out, handle);
}

function sample(node: Node, storages: Storages): Sample {
  const inputs = node.inputs.filter(({ entry }) => C.mlxts_array_storage_id(entry.handle) !== 0);
  const before = new Set(inputs.map(({ entry }) => C.mlxts_array_storage_id(entry.handle)));
  const made = node.outputs.filter(({ entry }) => {
    const storage = C.mlxts_array_storage_id(entry.handle);
    return storage !== 0 && !before.has(storage);
  });
  const dispatches = made.length > 0 ? 1 : 0;
  // A view binds nothing.
  if (dispatches === 0) return { dispatches, reads: [], writes: [] };
  return {
    dispatches,
    reads: inputs.map((array) => storages.read(array)),
    writes: made.map((array) => storages.write(array)),
  };
}

/** Evaluates what an array waits for, one primitive after the other. Throws as an evaluation does. */
export function evaluateFinely(
  root: Handle,
  operation: string,
  storages: Storages,
  each: (evaluated: Evaluated) => void,
): void {
  const all: MxArray[] = [];
  try {
    for (const node of pending(root, all)) {
      const start = now();
      evaluateOne(node.array, operation);
      const duration = now() - start;
      const forms = (arrays: MxArray[]): ArrayForm[] => arrays.map(({ entry }) => formOfHandle(entry.handle));
      const { name, inputs, outputs } = node;
      each({
        name,
        start,
        duration,
        inputs: forms(inputs),
        outputs: forms(outputs),
        sample: sample(node, storages),
      });
    }
  } finally {
    for (const array of all) array.dispose();
  }
}
