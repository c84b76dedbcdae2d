// What the family "storage" computes, with the functions that decide every export.
import { decide, layoutStatus, spanOf, type StorageLayout, type StorageProbe } from "../../src/storage/layout.ts";
import type { Family, Vector } from "./run.ts";

type Inputs = Vector["inputs"];
type Fields = Record<string, unknown>;

/** Statuses as the vectors spell them. */
function spelled(status: string): string {
  return status.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function layoutFields({ requireRowContiguous, ...rest }: Inputs): Fields {
  const layout = rest as StorageLayout;
  const { logicalNbytes, storageSpanNbytes, firstByte, endByte, inBounds } = spanOf(layout);
  const naiveEnd = layout.byteOffset + storageSpanNbytes;
  return {
    status: spelled(layoutStatus(layout, requireRowContiguous)),
    ...{ logicalNbytes, storageSpanNbytes, firstByte, endByte, naiveEnd },
    naiveInBounds: naiveEnd <= layout.bufferBytes,
    trueInBounds: inBounds,
  };
}

const plain: StorageLayout = {
  ...{ shape: [1], strides: [1], itemsize: 4, dataSize: 1, byteOffset: 0, bufferBytes: 4 },
  flags: { contiguous: true, rowContiguous: true, colContiguous: true },
};

/** An array in the state that the inputs name; the rest of it is ordinary. */
function decision(inputs: Inputs): Fields {
  const { status = "available", eventValid = false, eventSignaled = true, waitUntilAvailable = false } = inputs;
  let evaluated = false;
  const probe: StorageProbe = {
    failed: () => false,
    metalAvailable: () => true,
    backend: () => "metal",
    available: () => evaluated || status === "available" || (status === "evaluated" && (!eventValid || eventSignaled)),
    evaluate: () => {
      evaluated = true;
    },
    layout: () => (inputs.metalBufferPtr === null ? null : plain),
  };
  const request = { metalOnly: false, host: false, waitUntilAvailable, requireRowContiguous: true };
  return { status: spelled(decide(probe, request).status), evaluated };
}

function storage(inputs: Inputs): Fields {
  if ("strides" in inputs) return layoutFields(inputs);
  // The C library's blocks are aligned to 16 bytes, and MLX puts its header before the elements.
  if ("header" in inputs) return { rawPtrMod16: inputs.header % 16 };
  return decision(inputs);
}

export const storageFamilies: Readonly<Record<string, Family>> = { storage };
