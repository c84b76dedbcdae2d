/**
 * The bytes that MLX computed, handed on without a copy: to a file, and to another library.
 *
 *   bun examples/export-bytes.ts [FILE]
 *
 * Writes a tensor as safetensors, straight out of MLX's memory, and lets BoringSSL hash the same memory. FILE (default:
 * one in a temporary folder, which is removed) can be read by whatever reads safetensors.
 */

import { createHash } from "node:crypto";
import { closeSync, fstatSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as mx from "mlx-ts";

/** Writes all of the bytes: one call may write fewer. */
function writeAll(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
}

/** A safetensors file of one tensor: the length of a JSON text, the text, and the bytes as they are. */
function writeTensor(path: string, name: string, view: mx.StorageView): void {
  if (view.dtype !== "float32") throw new TypeError(`this example writes float32, not ${view.dtype}`);
  const entry = { dtype: "F32", shape: view.shape, data_offsets: [0, view.logicalNbytes] };
  const json = JSON.stringify({ [name]: entry });
  const text = new TextEncoder().encode(json.padEnd(Math.ceil(json.length / 8) * 8));
  const length = new DataView(new ArrayBuffer(8));
  length.setBigUint64(0, BigInt(text.length), true);
  const file = openSync(path, "w");
  try {
    writeAll(file, new Uint8Array(length.buffer));
    writeAll(file, text);
    writeAll(file, view.bytes); // MLX's own memory
    if (fstatSync(file).size !== 8 + text.length + view.bytes.length) throw new Error(`${path} is not whole`);
  } finally {
    closeSync(file);
  }
}

if (process.argv[2]?.startsWith("-")) {
  console.log(
    "usage: bun examples/export-bytes.ts [FILE]\n  FILE   where the 64 MB go (default: a file that is removed)",
  );
  process.exit(process.argv[2] === "--help" ? 0 : 1);
}

const folder = mkdtempSync(join(tmpdir(), "export-bytes-"));
const path = process.argv[2] ?? join(folder, "waves.safetensors");
try {
  // 64 MB. The export computes nothing unless it is told to.
  using waves = mx.tidy(() => mx.sin(mx.linspace(0, 100, 4096 * 4096)).reshape([4096, 4096]));
  console.log(`before it is computed: ${waves.tryExportStorage().status}`);
  using view = waves.exportStorage({ waitUntilAvailable: true });
  console.log(`${view}`);

  const before = process.memoryUsage.rss();
  writeTensor(path, "waves", view);
  const hash = createHash("sha256").update(view.bytes).digest("hex"); // BoringSSL reads MLX's memory
  const grown = (process.memoryUsage.rss() - before) / 2 ** 20;
  console.log(`written and hashed ${view.bytes.length / 2 ** 20} MB; the process grew by ${Math.round(grown)} MB`);

  using again = mx.load(path, "safetensors")["waves"]!;
  using same = mx.arrayEqual(again, waves);
  mx.eval(again);
  using readBack = again.exportStorage();
  console.log(`the file holds the tensor: ${same.item()}`);
  console.log(`the hashes agree: ${createHash("sha256").update(readBack.bytes).digest("hex") === hash}`);

  // What is revoked cannot be read any more.
  const { bytes } = view;
  view.dispose();
  console.log(`after dispose: ${bytes.length} bytes`);
} finally {
  rmSync(folder, { recursive: true });
}
