// Writes npy, safetensors and zip files by hand, right ones and wrong ones.
import { crc32, deflateRawSync } from "node:zlib";
import { Bytes } from "./make-gguf.ts";

const letters = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.charCodeAt(0));

/** An npy file with any text as its header. */
export function makeNpy(header: string, data: Uint8Array, version: readonly [number, number] = [1, 0]): Uint8Array {
  const bytes = new Bytes().u8(0x93).raw(letters("NUMPY")).u8(version[0]).u8(version[1]);
  return (version[0] === 1 ? bytes.u16(header.length) : bytes.u32(header.length)).raw(letters(header)).raw(data).take();
}

/** The header that numpy writes. */
export function npyHeader(descr: string, shape: readonly number[], fortran = false): string {
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
  const text = `{'descr': '${descr}', 'fortran_order': ${fortran ? "True" : "False"}, 'shape': ${tuple}, }`;
  return `${text.padEnd(117)}\n`;
}

/** A safetensors file with any text, or the JSON of any value, as its header. */
export function makeSafetensors(header: unknown, data: Uint8Array = new Uint8Array(0), length?: bigint): Uint8Array {
  const text = new TextEncoder().encode(typeof header === "string" ? header : JSON.stringify(header));
  return new Bytes()
    .u64(length ?? text.length)
    .raw(text)
    .raw(data)
    .take();
}

export interface ZipPart {
  name: string;
  data: Uint8Array;
  deflate?: boolean;
  /** What the table of contents says, where it shall lie. */
  says?: { flags?: number; method?: number; crc?: number; packed?: number; size?: number; at?: number };
  /** The last three numbers stand in a zip64 field. */
  far?: boolean;
}

export function makeZip(
  parts: readonly ZipPart[],
  ends: { far?: boolean; count?: number; comment?: string } = {},
): Uint8Array {
  const file = new Bytes();
  const table = new Bytes();
  let at = 0;
  for (const { name, data, deflate = false, says = {}, far = false } of parts) {
    const packed = deflate ? deflateRawSync(data) : data;
    const encoded = new TextEncoder().encode(name);
    const method = says.method ?? (deflate ? 8 : 0);
    const fields = (to: Bytes, sizes: readonly number[]): Bytes =>
      to
        .u16(20)
        .u16(says.flags ?? 0x800)
        .u16(method)
        .u32(0)
        .u32(says.crc ?? crc32(data))
        .u32(sizes[0]!)
        .u32(sizes[1]!)
        .u16(encoded.length);
    fields(file.u32(0x04034b50), [packed.length, data.length]).u16(0).raw(encoded).raw(packed);
    const sizes = [says.packed ?? packed.length, says.size ?? data.length];
    const place = says.at ?? at;
    fields(table.u32(0x02014b50).u16(20), far ? [0xffffffff, 0xffffffff] : sizes);
    table
      .u16(far ? 28 : 0)
      .u16(0)
      .u16(0)
      .u16(0)
      .u32(0)
      .u32(far ? 0xffffffff : place)
      .raw(encoded);
    if (far) table.u16(1).u16(24).u64(sizes[1]!).u64(sizes[0]!).u64(place);
    at += 30 + encoded.length + packed.length;
  }
  const contents = table.take();
  const count = ends.count ?? parts.length;
  const comment = letters(ends.comment ?? "");
  file.raw(contents);
  if (ends.far === true) {
    file.u32(0x06064b50).u64(44).u16(45).u16(45).u32(0).u32(0).u64(count).u64(count).u64(contents.length).u64(at);
    file
      .u32(0x07064b50)
      .u32(0)
      .u64(at + contents.length)
      .u32(1);
  }
  const far = ends.far === true;
  file
    .u32(0x06054b50)
    .u16(0)
    .u16(0)
    .u16(far ? 0xffff : count)
    .u16(far ? 0xffff : count);
  file.u32(far ? 0xffffffff : contents.length).u32(far ? 0xffffffff : at);
  return file.u16(comment.length).raw(comment).take();
}
