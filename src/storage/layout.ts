/**
 * What a storage export decides, as pure functions: which bytes of a buffer an array's strides reach, and in which
 * order an export is refused. Nothing here touches native code, so the answers for a Mac are tested on any machine.
 */

/** Where storage lives. Metal's is memory that host and GPU share; CUDA's moves between them. */
export type StorageBackend = "metal" | "cpu" | "cuda";

/** What became of an export: "success", or why there is no view. */
export type StorageStatus =
  | "success"
  | "executionFailed"
  | "metalNotAvailable"
  | "unsupportedBackend"
  | "arrayNotAvailable"
  | "noStorage"
  | "unsupportedLayout"
  | "invalidOffset";

/** How an evaluated array lies in its buffer, as MLX records it. Strides and sizes count elements, the rest bytes. */
export interface StorageLayout {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  /** Bytes of one element. */
  readonly itemsize: number;
  /** Elements of the storage that the array spans, as MLX counts them; a broadcast has fewer than its shape says. */
  readonly dataSize: number;
  /** Bytes from the start of the buffer to the first element in logical order. */
  readonly byteOffset: number;
  /** Bytes of the whole buffer. */
  readonly bufferBytes: number;
  readonly flags: { readonly contiguous: boolean; readonly rowContiguous: boolean; readonly colContiguous: boolean };
}

/** The bytes that an array has and reaches. */
export interface StorageSpan {
  /** Elements times their size: what a copy in logical order takes. */
  readonly logicalNbytes: number;
  /** The same of the elements that MLX counts in the storage. */
  readonly storageSpanNbytes: number;
  /** The first byte of the buffer that any element reaches, and the one behind the last. Equal for an empty array. */
  readonly firstByte: number;
  readonly endByte: number;
  /** Whether that range lies inside of the buffer. */
  readonly inBounds: boolean;
}

/** The bytes that a layout reaches, walked by its strides: a negative one reaches below the first element. */
export function spanOf(layout: StorageLayout): StorageSpan {
  const { shape, strides, itemsize, byteOffset } = layout;
  let size = 1;
  let below = 0;
  let above = 0;
  for (let axis = 0; axis < shape.length; axis++) {
    const length = shape[axis]!;
    const reach = (length - 1) * strides[axis]!;
    size *= length;
    if (reach < 0) below += reach;
    else above += reach;
  }
  const firstByte = size === 0 ? byteOffset : byteOffset + below * itemsize;
  const endByte = size === 0 ? byteOffset : byteOffset + (above + 1) * itemsize;
  return {
    logicalNbytes: size * itemsize,
    storageSpanNbytes: layout.dataSize * itemsize,
    firstByte,
    endByte,
    inBounds: byteOffset >= 0 && firstByte >= 0 && endByte <= layout.bufferBytes,
  };
}

/** What an export asks of an array, each answer only when its turn comes. */
export interface StorageProbe {
  /** Whether an evaluation of the array has failed. */
  failed(): boolean;
  metalAvailable(): boolean;
  backend(): StorageBackend;
  /** Whether the values are there. Never evaluates; may find out that an evaluation has failed. */
  available(): boolean;
  /** Computes the array, or waits for it. The array of a transform that has no value yet stays unavailable. */
  evaluate(): void;
  /** Null when there is no buffer. Only asked for when the values are there. */
  layout(): StorageLayout | null;
}

/** How an export goes about it. */
export interface StorageRequest {
  /** Only Metal's storage will do. */
  readonly metalOnly: boolean;
  /** A copy on the host is asked for where the storage itself is not readable there. */
  readonly host: boolean;
  readonly waitUntilAvailable: boolean;
  readonly requireRowContiguous: boolean;
}

/** What an export comes to: on success with the layout and the span that the view shows. */
export type StorageVerdict =
  | { readonly status: "success"; readonly layout: StorageLayout; readonly span: StorageSpan }
  | { readonly status: Exclude<StorageStatus, "success"> };

/** Decides an export. The order is part of the contract: the buffer is not looked at before the values are there. */
export function decide(probe: StorageProbe, request: StorageRequest): StorageVerdict {
  if (probe.failed()) return { status: "executionFailed" };
  if (request.metalOnly && !probe.metalAvailable()) return { status: "metalNotAvailable" };
  const backend = probe.backend();
  const served = request.metalOnly ? backend === "metal" : backend !== "cuda" || request.host;
  if (!served) return { status: "unsupportedBackend" };
  if (!probe.available()) {
    if (probe.failed()) return { status: "executionFailed" };
    if (!request.waitUntilAvailable) return { status: "arrayNotAvailable" };
    probe.evaluate();
    if (probe.failed()) return { status: "executionFailed" };
    if (!probe.available()) return { status: "arrayNotAvailable" };
  }
  const layout = probe.layout();
  if (layout === null) return { status: "noStorage" };
  const status = layoutStatus(layout, request.requireRowContiguous);
  return status === "success" ? { status, layout, span: spanOf(layout) } : { status };
}

/** The part of the decision that is about the layout alone. */
export function layoutStatus(
  layout: StorageLayout,
  requireRowContiguous: boolean,
): "success" | "unsupportedLayout" | "invalidOffset" {
  if (requireRowContiguous && !layout.flags.rowContiguous) return "unsupportedLayout";
  return spanOf(layout).inBounds ? "success" : "invalidOffset";
}
