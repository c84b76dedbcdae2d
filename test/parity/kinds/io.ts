// Kind `io`: loading files that MLX and numpy wrote, and saving and loading again.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compare } from "../compare.ts";
import { type Case, Unsupported } from "../format.ts";
import { decode } from "../literals.ts";
import { camelCase, resolveFunction } from "../names.ts";

// The process that runs cases gets the folder of the files as its last argument; empty stands for our own.
const files = Bun.argv[4] || join(import.meta.dir, "../data/files");
const exact = { rtol: 0, atol: 0 };

type Arrays = Record<string, unknown>;

export function runIo(one: Case): string | null {
  if (one.op === "load") return runLoad(one);
  if (one.op === "roundtrip") return runRoundTrip(one);
  throw new Unsupported(`the io operation ${String(one.op)}`);
}

/** The file is read in each way there is: now, later, and from its bytes. */
function runLoad(one: Case): string | null {
  const path = join(files, String(one.file).replace(/^files\//, ""));
  const options = renamed(one.kwargs);
  const format = path.slice(path.lastIndexOf(".") + 1);
  const [load, fromBytes] = [resolveFunction("mx.load"), resolveFunction("mx.loadFromBytes")];
  const bytes = readFileSync(path);
  return (
    check(one, load(path, options)) ??
    check(one, load(path, { ...options, lazy: true })) ??
    check(one, fromBytes(bytes, { ...options, format }))
  );
}

function check(one: Case, loaded: unknown): string | null {
  if (one.metadata === undefined) return compare(one.expect, loaded, exact);
  const [arrays, metadata] = loaded as [unknown, unknown];
  return compare(one.expect, arrays, exact) ?? compare(one.metadata, metadata, exact, "metadata");
}

function runRoundTrip(one: Case): string | null {
  const arrays = decode(one.arrays, false) as Arrays;
  const options = renamed(one.kwargs);
  const folder = mkdtempSync(join(tmpdir(), "mlx-ts-parity-"));
  try {
    const path = join(folder, `file.${String(one.format)}`);
    saveAs(String(one.format), path, arrays, options);
    const load = resolveFunction("mx.load");
    if (one.format === "npy") return compare(one.expect, { x: load(path) }, exact);
    if (options["metadata"] === undefined) return compare(one.expect, load(path), exact);
    const [loaded, metadata] = load(path, { returnMetadata: true }) as [unknown, unknown];
    return compare(one.expect, loaded, exact) ?? compare(options["metadata"], metadata, exact, "metadata");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function saveAs(format: string, path: string, arrays: Arrays, options: Arrays): void {
  switch (format) {
    case "npy":
      resolveFunction("mx.save")(path, arrays["x"]);
      return;
    case "npz":
      resolveFunction("mx.savez")(path, arrays);
      return;
    case "safetensors":
      resolveFunction("mx.saveSafetensors")(path, arrays, options);
      return;
    case "gguf":
      resolveFunction("mx.saveGguf")(path, arrays, options);
      return;
    default:
      throw new Unsupported(`the file format ${format}`);
  }
}

function renamed(kwargs: unknown): Arrays {
  const entries = Object.entries((kwargs ?? {}) as Arrays);
  return Object.fromEntries(entries.map(([key, value]) => [camelCase(key), value]));
}
