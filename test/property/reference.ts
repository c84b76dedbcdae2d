// A reference for indexing: arrays as a shape and a function of positions, read and written one element at a time. It
// follows NumPy's rules, and knows nothing of how the library does it.

/** A place in an array: one number an axis. */
export type Position = readonly number[];

/** An array of numbers in row-major order. */
export interface Grid {
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

/** One part of an index. `text` is a slice; `list` an index array, whose nested form the caller makes. */
export type RefPart =
  | { readonly kind: "integer"; readonly at: number }
  | { readonly kind: "slice"; readonly text: string }
  | { readonly kind: "list"; readonly index: Grid }
  | { readonly kind: "ellipsis" }
  | { readonly kind: "newaxis" };

/** What an index selects: a shape, and the position in the source for each of its elements, in row-major order. */
export interface Selection {
  readonly shape: readonly number[];
  readonly sources: readonly Position[];
}

export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1);
}

/** All positions of a shape, in row-major order. */
export function positions(shape: readonly number[]): Position[] {
  return shape.reduce<Position[]>(
    (before, length) => before.flatMap((position) => Array.from({ length }, (_, i) => [...position, i])),
    [[]],
  );
}

/** The place of a position in row-major order. */
export function offsetOf(position: Position, shape: readonly number[]): number {
  return position.reduce((offset, at, axis) => offset * shape[axis]! + at, 0);
}

export function elementAt(grid: Grid, position: Position): number {
  return grid.values[offsetOf(position, grid.shape)]!;
}

export function makeGrid(shape: readonly number[], element: (position: Position) => number): Grid {
  return { shape, values: positions(shape).map(element) };
}

/** Nested lists, as `tolist` gives them. */
export function nested(grid: Grid): unknown {
  const build = (prefix: number[]): unknown =>
    prefix.length === grid.shape.length
      ? elementAt(grid, prefix)
      : Array.from({ length: grid.shape[prefix.length]! }, (_, i) => build([...prefix, i]));
  return build([]);
}

/** The shape that shapes broadcast to, or null where they do not go together. */
export function broadcastShape(...shapes: (readonly number[])[]): number[] | null {
  const result: number[] = [];
  for (let back = 1; back <= Math.max(0, ...shapes.map((shape) => shape.length)); back++) {
    let common = 1;
    for (const shape of shapes) {
      const length = shape[shape.length - back] ?? 1;
      if (length === 1 || length === common) continue;
      if (common !== 1) return null;
      common = length;
    }
    result.unshift(common);
  }
  return result;
}

/** The element that an array, broadcast to a shape, has at a position of that shape. */
export function broadcastElement(grid: Grid, position: Position): number {
  const skipped = position.length - grid.shape.length;
  return elementAt(
    grid,
    grid.shape.map((length, axis) => (length === 1 ? 0 : position[skipped + axis]!)),
  );
}

/** The elements of one axis that a slice selects, found by walking: no arithmetic on lengths. */
export function slicePositions(text: string, length: number): number[] {
  const [first = "", second = "", third = ""] = text.split(":").map((bound) => bound.trim());
  const step = third === "" ? 1n : BigInt(third);
  const n = BigInt(length);
  const fromEnd = (bound: string): bigint => (BigInt(bound) < 0n ? BigInt(bound) + n : BigInt(bound));
  const found: number[] = [];
  if (step > 0n) {
    const start = first === "" ? 0n : fromEnd(first) < 0n ? 0n : fromEnd(first);
    const stop = second === "" ? n : fromEnd(second);
    for (let at = start; at < stop && at < n; at += step) found.push(Number(at));
  } else {
    const start = first === "" ? n - 1n : fromEnd(first) >= n ? n - 1n : fromEnd(first);
    const stop = second === "" ? -1n : fromEnd(second);
    for (let at = start; at > stop && at >= 0n; at += step) found.push(Number(at));
  }
  return found;
}

/** One axis of the result while it is put together. */
type OutAxis = { kind: "one" } | { kind: "walk"; source: number; at: number[] } | { kind: "index"; axis: number };

/**
 * What an index selects from a shape. Index arrays, with the integers beside them, broadcast together; their axes take
 * the place of the first where they all stand together, and the front otherwise. An ellipsis that stands for no axis
 * separates nothing: that is MLX's rule, where NumPy's differs.
 */
export function select(shape: readonly number[], parts: readonly RefPart[]): Selection {
  const consumed = parts.filter(({ kind }) => kind !== "newaxis" && kind !== "ellipsis").length;
  const missing = shape.length - consumed;
  const whole: RefPart = { kind: "slice", text: ":" };
  const spelled = parts.flatMap((part) =>
    part.kind === "ellipsis" ? new Array<RefPart>(missing).fill(whole) : [part],
  );
  if (!parts.some(({ kind }) => kind === "ellipsis")) spelled.push(...new Array<RefPart>(missing).fill(whole));

  const isAdvanced = spelled.some(({ kind }) => kind === "list");
  const indices: { source: number; index: Grid }[] = [];
  const fixed: { source: number; at: number }[] = [];
  const out: OutAxis[] = [];
  const places: { part: number; out: number }[] = [];
  let source = 0;
  for (const [position, part] of spelled.entries()) {
    if (part.kind === "newaxis") out.push({ kind: "one" });
    else if (part.kind === "slice") {
      out.push({ kind: "walk", source, at: slicePositions(part.text, shape[source]!) });
      source++;
    } else if (part.kind === "integer" && !isAdvanced) fixed.push({ source, at: wrap(part.at, shape[source++]!) });
    else if (part.kind === "integer" || part.kind === "list") {
      const index = part.kind === "list" ? part.index : { shape: [], values: [part.at] };
      places.push({ part: position, out: out.length });
      indices.push({ source: source++, index });
    }
  }
  const indexShape = broadcastShape(...indices.map(({ index }) => index.shape))!;
  if (indices.length > 0) {
    const together = places.at(-1)!.part - places[0]!.part === places.length - 1;
    const axes = indexShape.map((_, axis): OutAxis => ({ kind: "index", axis }));
    out.splice(together ? places[0]!.out : 0, 0, ...axes);
  }
  const resultShape = out.map((axis) =>
    axis.kind === "one" ? 1 : axis.kind === "walk" ? axis.at.length : indexShape[axis.axis]!,
  );
  const sources = positions(resultShape).map((position) => {
    const from = new Array<number>(shape.length).fill(0);
    const along = new Array<number>(indexShape.length).fill(0);
    for (const { source: axis, at } of fixed) from[axis] = at;
    for (const [i, axis] of out.entries()) {
      if (axis.kind === "walk") from[axis.source] = axis.at[position[i]!]!;
      if (axis.kind === "index") along[axis.axis] = position[i]!;
    }
    for (const { source: axis, index } of indices) from[axis] = wrap(broadcastElement(index, along), shape[axis]!);
    return from;
  });
  return { shape: resultShape, sources };
}

function wrap(at: number, length: number): number {
  return at < 0 ? at + length : at;
}

/** Reads an index. */
export function read(grid: Grid, parts: readonly RefPart[]): Grid {
  const { shape, sources } = select(grid.shape, parts);
  return { shape, values: sources.map((source) => elementAt(grid, source)) };
}

/** Writes an index: every place meets its value in row-major order, a repeated one several times. */
export function write(
  grid: Grid,
  parts: readonly RefPart[],
  value: Grid,
  meet: (before: number, value: number) => number,
): Grid {
  const { shape, sources } = select(grid.shape, parts);
  const values = [...grid.values];
  for (const [i, position] of positions(shape).entries()) {
    const at = offsetOf(sources[i]!, grid.shape);
    values[at] = meet(values[at]!, broadcastElement(withoutLeadingOnes(value, shape.length), position));
  }
  return { shape: grid.shape, values };
}

/** Axes of length 1 in front, more than the place has, do not count. */
function withoutLeadingOnes(value: Grid, ndim: number): Grid {
  return value.shape.length > ndim
    ? { shape: value.shape.slice(value.shape.length - ndim), values: value.values }
    : value;
}

/** Writes where a mask over the leading axes is true: one value for each place, or one for each element in order. */
export function writeMask(grid: Grid, mask: Grid, value: Grid, inOrder: boolean): Grid {
  let taken = 0;
  const values = positions(grid.shape).map((position, i) => {
    if (elementAt(mask, position.slice(0, mask.shape.length)) === 0) return grid.values[i]!;
    return inOrder ? value.values[taken++]! : broadcastElement(value, position.slice(mask.shape.length));
  });
  return { shape: grid.shape, values };
}

/** The grid with its axes in another order. */
export function transposed(grid: Grid, axes: readonly number[]): Grid {
  return makeGrid(
    axes.map((axis) => grid.shape[axis]!),
    (position) => {
      const from = new Array<number>(axes.length);
      for (const [i, axis] of axes.entries()) from[axis] = position[i]!;
      return elementAt(grid, from);
    },
  );
}
