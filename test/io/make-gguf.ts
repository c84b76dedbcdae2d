// Writes GGUF files by hand, right ones and wrong ones.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Little-endian bytes, appended. */
export class Bytes {
  #parts: Uint8Array[] = [];

  #number(size: number, write: (view: DataView) => void): this {
    const view = new DataView(new ArrayBuffer(size));
    write(view);
    this.#parts.push(new Uint8Array(view.buffer));
    return this;
  }

  u8 = (value: number): this => this.#number(1, (view) => view.setUint8(0, value));
  u16 = (value: number): this => this.#number(2, (view) => view.setUint16(0, value, true));
  u32 = (value: number): this => this.#number(4, (view) => view.setUint32(0, value, true));
  u64 = (value: number | bigint): this => this.#number(8, (view) => view.setBigUint64(0, BigInt(value), true));
  i64 = (value: number | bigint): this => this.#number(8, (view) => view.setBigInt64(0, BigInt(value), true));
  f32 = (value: number): this => this.#number(4, (view) => view.setFloat32(0, value, true));
  f64 = (value: number): this => this.#number(8, (view) => view.setFloat64(0, value, true));

  raw(bytes: Uint8Array): this {
    this.#parts.push(bytes);
    return this;
  }

  letters(text: string): this {
    return this.raw(new TextEncoder().encode(text));
  }

  text(text: string): this {
    const bytes = new TextEncoder().encode(text);
    return this.u64(bytes.length).raw(bytes);
  }

  get length(): number {
    return this.#parts.reduce((sum, part) => sum + part.length, 0);
  }

  take(): Uint8Array {
    return Uint8Array.from(this.#parts.flatMap((part) => [...part]));
  }
}

/** The number of a kind of value, and its bytes. */
export type Value = readonly [kind: number, write: (bytes: Bytes) => void];

export const uint32 = (value: number): Value => [4, (bytes) => bytes.u32(value)];
export const float32 = (value: number): Value => [6, (bytes) => bytes.f32(value)];
export const bool = (value: boolean): Value => [7, (bytes) => bytes.u8(value ? 1 : 0)];
export const text = (value: string): Value => [8, (bytes) => bytes.text(value)];
export const list = (kind: number, length: number, write: (bytes: Bytes) => void): Value => [
  9,
  (bytes) => write(bytes.u32(kind).u64(length)),
];
export const texts = (values: readonly string[]): Value =>
  list(8, values.length, (bytes) => values.forEach((value) => bytes.text(value)));
export const int32s = (values: readonly number[]): Value =>
  list(5, values.length, (bytes) => values.forEach((value) => bytes.u32(value)));

export interface Tensor {
  name: string;
  /** As in the file: the contiguous axis first. */
  dims: readonly (number | bigint)[];
  type: number;
  data?: Uint8Array;
  /** Default: behind the tensor before. */
  offset?: number | bigint;
}

export interface Parts {
  magic?: string;
  version?: number;
  tensorCount?: number | bigint;
  entryCount?: number | bigint;
  metadata?: readonly (readonly [key: string, value: Value])[];
  tensors?: readonly Tensor[];
  alignment?: number;
}

/** The bytes of a GGUF file. Every part may be wrong on purpose. */
export function makeGguf({ metadata = [], tensors = [], alignment = 32, ...parts }: Parts): Uint8Array {
  const header = new Bytes().letters(parts.magic ?? "GGUF").u32(parts.version ?? 3);
  header.u64(parts.tensorCount ?? tensors.length).u64(parts.entryCount ?? metadata.length);
  for (const [key, [kind, write]] of metadata) write(header.text(key).u32(kind));
  const data = new Bytes();
  for (const { name, dims, type, data: bytes = new Uint8Array(0), offset } of tensors) {
    header.text(name).u32(dims.length);
    for (const dim of dims) header.u64(dim);
    header.u32(type).u64(offset ?? data.length);
    data.raw(bytes);
    pad(data, alignment);
  }
  pad(header, alignment);
  return header.raw(data.take()).take();
}

function pad(bytes: Bytes, alignment: number): void {
  bytes.raw(new Uint8Array((alignment - (bytes.length % alignment)) % alignment));
}

/** The bytes of float32 numbers. */
export function floats(values: readonly number[]): Uint8Array {
  return new Uint8Array(new Float32Array(values).buffer);
}

/** A folder for files of one test file, and its end. */
export function scratchFolder(): { write(name: string, bytes: Uint8Array): string; path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "mlx-ts-test-"));
  return {
    path,
    write(name, bytes): string {
      const file = join(path, name);
      writeFileSync(file, bytes);
      return file;
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}
