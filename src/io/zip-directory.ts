/** The table of contents of a zip file, for npz. What a table says is checked before memory is taken for it. */

import { type ByteSource, DAMAGED, PartSource } from "./source.ts";

export interface ZipEntry {
  readonly name: string;
  readonly deflated: boolean;
  readonly crc: number;
  /** Bytes in the file, and of what they stand for. */
  readonly packed: number;
  readonly size: number;
  /** Where the entry's own header begins. */
  readonly at: number;
}

const END = 0x06054b50;
const END64_PLACE = 0x07064b50;
const END64 = 0x06064b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
/** Sizes that stand in an entry's zip64 field instead. */
const ELSEWHERE = 0xffffffff;
/** The end record and the longest comment behind it. */
const LONGEST_END = 22 + 65535;
/** No deflated byte stands for more than this many. */
const BEST_RATIO = 1032;

/** A view over a part of the file that is small for certain. */
function viewOf(source: ByteSource, at: number, length: number, part: string): DataView {
  return new DataView(source.read(at, length, part).buffer);
}

/** A 64-bit number; those that no file reaches become one that is refused by every comparison with a size. */
function u64(view: DataView, at: number): number {
  return Number(view.getBigUint64(at, true));
}

interface Place {
  count: number;
  size: number;
  at: number;
}

function findDirectory(source: ByteSource): Place {
  const length = Math.min(source.size, LONGEST_END);
  const start = source.size - length;
  const view = viewOf(source, start, length, "the end record");
  for (let at = length - 22; at >= 0; at--) {
    if (view.getUint32(at, true) !== END || at + 22 + view.getUint16(at + 20, true) !== length) continue;
    if (view.getUint16(at + 4, true) !== view.getUint16(at + 6, true)) {
      throw source.error("a zip file in several parts, which cannot be read.");
    }
    const place = {
      count: view.getUint16(at + 10, true),
      size: view.getUint32(at + 12, true),
      at: view.getUint32(at + 16, true),
    };
    const far = place.count === 0xffff || place.size === ELSEWHERE || place.at === ELSEWHERE;
    return far ? findFarDirectory(source, start + at) : place;
  }
  throw source.error(`not an npz file: it is no zip file, or its end is missing. ${DAMAGED}`);
}

/** The zip64 form of the end record, which the one at `end` leaves the numbers to. */
function findFarDirectory(source: ByteSource, end: number): Place {
  const part = "the zip64 end record";
  if (end < 20) throw source.error(`${part} is missing. ${DAMAGED}`);
  const locator = viewOf(source, end - 20, 20, part);
  const at = u64(locator, 8);
  if (locator.getUint32(0, true) !== END64_PLACE || at + 56 > end) throw source.error(`${part} is missing. ${DAMAGED}`);
  const record = viewOf(source, at, 56, part);
  if (record.getUint32(0, true) !== END64) throw source.error(`${part} is missing. ${DAMAGED}`);
  return { count: u64(record, 32), size: u64(record, 40), at: u64(record, 48) };
}

/** The entries in the order of the table. Throws an MlxError for a file that is not whole, or not understood. */
export function readZipDirectory(source: ByteSource): ZipEntry[] {
  const { count, size, at } = findDirectory(source);
  if (at + size > source.size || count * 46 > size) {
    throw source.error(`the table of contents does not fit into the file. ${DAMAGED}`);
  }
  const view = viewOf(source, at, size, "the table of contents");
  const entries = new Map<string, ZipEntry>();
  let packed = 0;
  for (let i = 0, next = 0; i < count; i++) {
    if (next + 46 > size || view.getUint32(next, true) !== ENTRY) {
      throw source.error(`entry ${i + 1} of ${count} in the table of contents is damaged.`);
    }
    const variable = [28, 30, 32].map((field) => view.getUint16(next + field, true)) as [number, number, number];
    const length = 46 + variable[0] + variable[1] + variable[2];
    if (next + length > size) throw source.error(`entry ${i + 1} of ${count} in the table of contents is cut short.`);
    const entry = readEntry(source, new DataView(view.buffer, next, length), variable[0], variable[1]);
    if (entries.has(entry.name)) throw source.error(`the entry ${JSON.stringify(entry.name)} is there twice.`);
    entries.set(entry.name, entry);
    packed += entry.packed;
    next += length;
  }
  if (packed > source.size) throw source.error(`its entries share bytes: together they are longer than the file.`);
  return [...entries.values()];
}

function readEntry(source: ByteSource, view: DataView, nameLength: number, extraLength: number): ZipEntry {
  const flags = view.getUint16(8, true);
  const method = view.getUint16(10, true);
  const bytes = new Uint8Array(view.buffer, view.byteOffset + 46, nameLength);
  const name = new TextDecoder("utf-8").decode(bytes);
  const fail = (what: string): never => {
    throw source.error(`the entry ${JSON.stringify(name)} ${what}`);
  };
  if ((flags & 1) !== 0) fail("is encrypted.");
  if (method !== 0 && method !== 8)
    fail(`is compressed by method ${method}; only stored and deflated ones can be read.`);
  const far = new FarField(view, 46 + nameLength, extraLength);
  const size = far.number(view.getUint32(24, true));
  const packed = far.number(view.getUint32(20, true));
  const at = far.number(view.getUint32(42, true));
  if (!(at + 30 + nameLength + packed <= source.size)) fail(`lies outside of the file. ${DAMAGED}`);
  if (method === 0 ? size !== packed : size > packed * BEST_RATIO) {
    fail(`announces ${size} bytes, which ${packed} ${method === 0 ? "stored" : "deflated"} ones cannot be. ${DAMAGED}`);
  }
  return { name, deflated: method === 8, crc: view.getUint32(16, true), packed, size, at };
}

/** The zip64 field of an entry: the numbers that did not fit, in order. */
class FarField {
  readonly #view: DataView;
  #at = 0;
  #end = 0;

  constructor(view: DataView, start: number, length: number) {
    this.#view = view;
    for (let at = start; at + 4 <= start + length;) {
      const size = view.getUint16(at + 2, true);
      if (view.getUint16(at, true) === 1) {
        this.#at = at + 4;
        this.#end = Math.min(at + 4 + size, start + length);
        return;
      }
      at += 4 + size;
    }
  }

  /** The number itself, or the one it refers to; infinite when that is missing. */
  number(near: number): number {
    if (near !== ELSEWHERE) return near;
    if (this.#at + 8 > this.#end) return Number.POSITIVE_INFINITY;
    this.#at += 8;
    return u64(this.#view, this.#at - 8);
  }
}

/** The bytes of an entry as they are in the file, still packed. */
export function packedBytes(source: ByteSource, entry: ZipEntry): ByteSource {
  const part = `the entry ${JSON.stringify(entry.name)}`;
  const local = viewOf(source, entry.at, 30, part);
  if (local.getUint32(0, true) !== LOCAL) throw source.error(`${part} does not begin where it should. ${DAMAGED}`);
  const start = entry.at + 30 + local.getUint16(26, true) + local.getUint16(28, true);
  source.require(start, entry.packed, part);
  return new PartSource(source, `${source.name}: ${part}`, start, entry.packed);
}
