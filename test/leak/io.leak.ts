// Every way of loading and saving, 10,000 times each, also where it fails: handles return to where they were, memory
// stays flat, and no descriptor of a file stays open.
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as mx from "../../src/index.ts";
import { type Finding, leakCases, measureLoop } from "./measure.ts";

// Warmed for long: the heaps of the engine and of C reach their size late, above all on a busy machine.
const bounds = { iterations: 10_000, warm: 6_000, growth: 20 };

// A disk would spend the time on waiting for each saved file; memory does not.
const place = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
// GGUF bytes pass through a file of the library's own.
process.env["TMPDIR"] = place;
const folder = mkdtempSync(join(place, "mlx-ts-leak-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);

const x = mx.keep(mx.arange(12).reshape(3, 4).astype("float32"));
const view = mx.keep(x.T);
const large = mx.keep(mx.ones([160, 160]));
const tree = { x, layers: [{ w: view, b: large }] };
const metadata = { name: "tiny", n: mx.keep(mx.array([1, 2])), list: ["a", "b"] };
mx.eval(tree, metadata);

mx.save(at("x.npy"), large);
mx.savez(at("x.npz"), tree);
mx.savezCompressed(at("y.npz"), tree);
mx.saveSafetensors(at("x.safetensors"), tree, { metadata: { a: "b" } });
mx.saveGguf(at("x.gguf"), tree, { metadata });

const read = async (name: string): Promise<Uint8Array> => Bun.file(at(name)).bytes();
const bytes = { npy: await read("x.npy"), npz: await read("x.npz"), packed: await read("y.npz") };
const more = { safetensors: await read("x.safetensors"), gguf: await read("x.gguf") };

/** The file with its last part gone. */
function shortened(name: string, whole: Uint8Array): string {
  writeFileSync(at(name), whole.subarray(0, whole.length - 64));
  return at(name);
}

/** Runs what must throw an MlxError. */
function fails(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (error instanceof mx.MlxError) return;
    throw error;
  }
  throw new Error("nothing was thrown");
}

/** Loads, computes and frees. */
function take(loaded: unknown): void {
  mx.eval(loaded);
  mx.dispose(loaded);
}

const withMetadata = { returnMetadata: true } as const;

const steps: Record<string, () => void> = {
  "load npy": () => take(mx.load(at("x.npy"))),
  "load npy lazily": () => take(mx.load(at("x.npy"), { lazy: true })),
  "load npz": () => take(mx.load(at("x.npz"))),
  "load compressed npz": () => take(mx.load(at("y.npz"))),
  "load safetensors": () => take(mx.load(at("x.safetensors"), withMetadata)),
  "load safetensors lazily": () => take(mx.load(at("x.safetensors"), { ...withMetadata, lazy: true })),
  "load safetensors lazily and never compute": () => mx.dispose(mx.load(at("x.safetensors"), { lazy: true })),
  "load gguf": () => take(mx.load(at("x.gguf"), withMetadata)),
  "load npy from bytes": () => take(mx.loadFromBytes(bytes.npy, { format: "npy" })),
  "load npz from bytes": () => take(mx.loadFromBytes(bytes.npz, { format: "npz" })),
  "load compressed npz from bytes": () => take(mx.loadFromBytes(bytes.packed, { format: "npz" })),
  "load safetensors from bytes": () => take(mx.loadFromBytes(more.safetensors, { format: "safetensors" })),
  "load gguf from bytes": () => take(mx.loadFromBytes(more.gguf, { format: "gguf", ...withMetadata })),
  "save npy": () => mx.save(at("s.npy"), view),
  "save npz": () => mx.savez(at("s.npz"), x, tree),
  "save compressed npz": () => mx.savezCompressed(at("s.npz"), x, tree),
  "save safetensors": () => mx.saveSafetensors(at("s.safetensors"), tree, { metadata: { a: "b" } }),
  "save gguf": () => mx.saveGguf(at("s.gguf"), tree, { metadata }),
  "save to bytes": () => {
    mx.saveToBytes(view);
    mx.savezToBytes(x, tree);
    mx.savezCompressedToBytes(x, tree);
    mx.saveSafetensorsToBytes(tree);
  },
};

const damaged = {
  npy: shortened("short.npy", bytes.npy),
  npz: shortened("short.npz", bytes.npz),
  safetensors: shortened("short.safetensors", more.safetensors),
  gguf: shortened("short.gguf", more.gguf),
};
for (const [format, path] of Object.entries(damaged))
  steps[`refuse a damaged ${format}`] = () => fails(() => mx.load(path));
steps["refuse damage in the last entry of an npz"] = () => {
  const wrong = bytes.npz.slice();
  const last = wrong.length - 400;
  wrong[last] = wrong[last]! ^ 255;
  try {
    mx.dispose(mx.loadFromBytes(wrong, { format: "npz" }));
  } catch (error) {
    if (!(error instanceof mx.MlxError)) throw error;
  }
};
steps["fail to save"] = () => {
  fails(() => mx.save(at("no/x"), x));
  fails(() => mx.savez(at("no/x"), x));
  fails(() => mx.saveSafetensors(at("no/x"), tree));
  fails(() => mx.saveGguf(at("no/x"), tree, { metadata }));
};

/** Descriptors of files that are open, where the system lists them. MLX closes a lazily read one a little later. */
const openFiles = (): number => (process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0);

function withFiles(step: () => void): Finding[] {
  step();
  const before = openFiles();
  const findings = measureLoop(bounds, step);
  for (let wait = 0; wait < 100 && openFiles() > before; wait++) Bun.sleepSync(20);
  const left = openFiles() - before;
  return [...findings, { ok: left <= 0, text: `${Math.max(left, 0)} open files left` }];
}

await leakCases(Object.fromEntries(Object.entries(steps).map(([name, step]) => [name, () => withFiles(step)])));
