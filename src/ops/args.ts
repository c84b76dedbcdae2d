/** The calling convention of generated operations: the trailing options, and conversions that need more than core's. */

import {
  type ArrayInput,
  C,
  checkOptions,
  type IndexInput,
  indexInput,
  int,
  ints,
  isOptions,
  optionalInt,
  refuse,
} from "../core/call.ts";
import { describe } from "../core/describe.ts";
import { MxArray } from "../core/array.ts";
import { DisposedError } from "../core/error.ts";
import { backend } from "../core/native.ts";
import type { Pointer } from "../backend/types.ts";

/** Options by name, their values not checked yet. */
export type Given = Readonly<Record<string, unknown>>;

const streamName: readonly string[] = ["stream"];

/** Checks the options of an operation that has no other than the stream. */
export function onlyStream(options: unknown, op: string): void {
  checkOptions(options, streamName, op);
}

/**
 * Checks the options object that follows the positional arguments. The first `taken` names have been given by
 * position; giving them again is an error, and so is a name that is not among `names`.
 */
export function trailing(options: unknown, op: string, names: readonly string[], taken: number): Given {
  checkOptions(options, names, op);
  const given = options as Given;
  for (let i = 0; i < taken; i++) {
    if (given[names[i]!] !== undefined) {
      refuse(new TypeError(`${op}: ${names[i]} is given twice, by position and as an option.`));
    }
  }
  return given;
}

/** Refuses arguments after the options object; `later` is the first of them. */
export function nothingAfter(later: unknown, op: string): void {
  if (later !== undefined) {
    refuse(new TypeError(`${op}: nothing may follow the options object, got ${describe(later)}.`));
  }
}

/**
 * A copy of a list, lists in it included; anything else as it is. Made before an operand is looked at: a list may be a
 * Proxy, which can run anything and answer differently each time.
 */
export function listOf<T>(value: T): T {
  return Array.isArray(value) ? (copied(value, 0) as T) : value;
}

function copied(list: readonly unknown[], depth: number): unknown[] {
  const copy: unknown[] = [];
  const { length } = list;
  for (let i = 0; i < length; i++) {
    const item = list[i];
    // Past what any parameter has, a list is refused anyhow: it may hold itself.
    copy.push(typeof item === "object" && depth < 4 && Array.isArray(item) ? copied(item, depth + 1) : item);
  }
  return copy;
}

/** An integer for a shape of one axis. Anything else is left to the conversion of lists. */
export function asList(value: unknown): unknown {
  return typeof value === "number" ? [value] : value;
}

/** One integer for all of `length` directions, or a list with one for each. */
export function tuple(value: unknown, length: number, op: string, name: string): readonly number[] {
  if (!Array.isArray(value)) return new Array<number>(length).fill(int(value, op, name));
  if (value.length !== length) {
    refuse(
      new RangeError(`${op}: ${name} must be an integer or a list of ${length} integers, got ${describe(value)}.`),
    );
  }
  return value.map((item, i) => int(item, op, `${name}[${i}]`));
}

/** Lengths of axes, of which one may be -1: it is what is left. */
export function lengths(value: unknown, op: string, name: string): Pointer {
  const address = ints(value, op, name);
  const list = value as readonly number[];
  for (let i = 0; i < list.length; i++) {
    if (list[i]! < -1) refuse(new RangeError(`${op}: ${name}[${i}] must be -1 or more, got ${list[i]}.`));
  }
  if (list.includes(-1) && list.includes(0)) {
    refuse(new RangeError(`${op}: ${name} [${list.join(", ")}] leaves -1 open, since it has a 0.`));
  }
  return address;
}

/** An optional integer that must be 1 or more. */
export function optionalCount(value: unknown, op: string, name: string): number {
  if (value === undefined || value === null) return 0;
  return optionalInt(atLeastOne(int(value, op, name), op, name), op, name);
}

/** Refuses counts below 1, by which MLX would divide. */
export function atLeastOne(value: number, op: string, name: string): number {
  return value >= 1 ? value : refuse(new RangeError(`${op}: ${name} must be 1 or more, got ${value}.`));
}

/** Refuses an array without elements, where MLX would divide by a length. */
export function nonEmpty(array: Pointer, op: string, name: string): void {
  if (C.mlx_array_size(array) === 0) refuse(new RangeError(`${op}: ${name} has no elements.`));
}

/** Refuses the one mode in which both factors of a product cannot be quantized: MLX reads anywhere on a GPU then. */
export function blockMode(mode: Pointer, op: string, name: string): void {
  if (backend.text(mode) !== "affine") return;
  refuse(new RangeError(`${op}: ${name} must be "mxfp4", "mxfp8" or "nvfp4", got "affine".`));
}

/** Refuses scales or biases that have not one row for each row of the quantized array: MLX reads on past their end. */
export function sameRows(array: Pointer, op: string, name: string, weights: Pointer): void {
  // 0 is the empty array: there are none.
  if (array === 0 || array === weights) return;
  const ndim = C.mlx_array_ndim(weights);
  const shape = (handle: Pointer): number[] =>
    Array.from({ length: C.mlx_array_ndim(handle) }, (_, axis) => C.mlx_array_dim(handle, axis));
  const [own, wanted] = [shape(array), shape(weights)];
  if (own.length === ndim && own.slice(0, -1).every((length, axis) => length === wanted[axis])) return;
  const got = `[${own.join(", ")}]`;
  refuse(
    new RangeError(
      `${op}: ${name} of shape ${got} must have one row for each of w's, of shape [${wanted.join(", ")}].`,
    ),
  );
}

const COUNTABLE = 2147483647;

/**
 * Refuses matrices whose elements MLX's factorisations cannot count: they multiply the sides in 32 bits and end the
 * process where that overflows.
 */
export function countable(array: Pointer, op: string, name: string): void {
  const [rows, columns] = sides(array);
  if (rows * columns > COUNTABLE) uncountable(rows, columns, op, name);
}

/** The same where the result holds factors that are square in the longer side. */
export function countableFactors(array: Pointer, op: string, name: string): void {
  const [rows, columns] = sides(array);
  if (Math.max(rows, columns) ** 2 > COUNTABLE) uncountable(rows, columns, op, name);
}

function sides(array: Pointer): [rows: number, columns: number] {
  const ndim = C.mlx_array_ndim(array);
  return ndim < 2 ? [0, 0] : [C.mlx_array_dim(array, ndim - 2), C.mlx_array_dim(array, ndim - 1)];
}

function uncountable(rows: number, columns: number, op: string, name: string): never {
  const size = `matrices of ${rows} x ${columns}`;
  refuse(
    new RangeError(`${op}: ${name} holds ${size}: MLX counts the elements of a factor in 32 bits, and that is more.`),
  );
}

/** An index array, or the empty handle where there is none. */
export function nullableIndex(value: unknown, op: string, name: string): Pointer {
  return value === undefined || value === null ? 0 : indexInput(value as IndexInput, op, name);
}

/** The arguments of a method that takes its list as bare numbers: `a.reshape(2, 3)`, `a.reshape(2, 3, { stream })`. */
export function spread(args: IArguments): { list: number[]; options: object | undefined } {
  const list = Array.from(args) as unknown[];
  const options = isOptions(list.at(-1)) ? (list.pop() as object) : undefined;
  return { list: list as number[], options };
}

/** Splits `f(a, b, ..., options?)`. */
export function withOptions<T>(args: readonly unknown[]): { items: readonly T[]; options: unknown } {
  const last = args.at(-1);
  return isOptions(last)
    ? { items: args.slice(0, -1) as T[], options: last }
    : { items: args as T[], options: undefined };
}

/** The shape of an operand; a scalar has no axes. */
export function shapeOfInput(value: ArrayInput, op: string): readonly number[] {
  if (!MxArray.real(value)) return [];
  if (value.disposed) refuse(new DisposedError(op, "Array"));
  return value.shape;
}

/** The length of an axis that is counted from either end. Throws a RangeError where there is none. */
export function axisLength(shape: readonly number[], axis: number, op: string): number {
  const length = shape.at(axis);
  if (axis >= shape.length || axis < -shape.length || length === undefined) {
    refuse(
      new RangeError(`${op}: axis ${axis} is out of range for an array of ${shape.length} ${plural(shape.length)}.`),
    );
  }
  return length as number;
}

function plural(count: number): string {
  return count === 1 ? "axis" : "axes";
}
