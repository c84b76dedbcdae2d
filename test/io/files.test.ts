// Files on disk: all or nothing when saving, and what happens when somebody else changes them.
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import * as mx from "../../src/index.ts";
import { refusal, said, scoped } from "../helpers.ts";
import { makeSafetensors } from "./make-files.ts";
import { scratchFolder } from "./make-gguf.ts";

const scratch = scratchFolder();
afterAll(scratch.remove);
const folder = join(scratch.path, "files");
const at = (name: string): string => join(folder, name);

beforeEach(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
});

const savers: Readonly<Record<string, (path: string, x: mx.Array) => void>> = {
  npy: mx.save,
  npz: (path, x) => mx.savez(path, { x }),
  safetensors: (path, x) => mx.saveSafetensors(path, { x }),
  gguf: (path, x) => mx.saveGguf(path, { x }),
};

const read = (path: string): unknown => {
  const loaded = mx.load(path) as mx.Array | Record<string, mx.Array>;
  return (loaded instanceof mx.Array ? loaded : loaded["x"]!).tolist();
};

describe.each(Object.keys(savers))("saving %s", (format) => {
  const save = savers[format]!;

  scoped("adds the extension where it is missing, replaces what is there, leaves nothing else", () => {
    save(at("a"), mx.array([1]));
    save(at(`a.${format}`), mx.array([2, 3]));
    save(at("größe 重み"), mx.array([4]));
    expect(read(at(`a.${format}`))).toEqual([2, 3]);
    expect(read(at(`größe 重み.${format}`))).toEqual([4]);
    expect(readdirSync(folder).sort()).toEqual([`a.${format}`, `größe 重み.${format}`].sort());
    save(at("n".repeat(240)), mx.array([5]));
    expect(read(at(`${"n".repeat(240)}.${format}`))).toEqual([5]);
  });

  scoped("a link keeps pointing, a file keeps its permissions", () => {
    save(at("real"), mx.array([1]));
    chmodSync(at(`real.${format}`), 0o640);
    symlinkSync(`real.${format}`, at(`link.${format}`));
    save(at(`link.${format}`), mx.array([2]));
    expect(lstatSync(at(`link.${format}`)).isSymbolicLink()).toBe(true);
    expect(read(at(`real.${format}`))).toEqual([2]);
    expect(statSync(at(`real.${format}`)).mode & 0o777).toBe(0o640);
  });

  scoped("wrong places", () => {
    const x = mx.array([1]);
    mkdirSync(at(`folder.${format}`));
    expect(refusal(() => save(at("folder"), x))).toContain("is not a file but a folder");
    expect(refusal(() => save(at("no/such/folder"), x))).toMatch(/MlxError: save\w*: .* cannot be written: ENOENT/);
    writeFileSync(at("file"), "");
    expect(refusal(() => save(at("file/inside"), x))).toMatch(/MlxError: save\w*: .* cannot be written: ENOTDIR/);
    symlinkSync("/dev/full", at(`full.${format}`));
    expect(refusal(() => save(at("full"), x))).toMatch(/is not a file\.$/);
    symlinkSync("nowhere", at(`loose.${format}`));
    save(at("loose"), x);
    expect(read(at(`loose.${format}`))).toEqual([1]);
    expect(refusal(() => save(at("a\0b"), x))).toContain("contains a NUL character");
    expect(readdirSync(folder).sort()).toEqual(
      ["file", `folder.${format}`, `full.${format}`, `loose.${format}`].sort(),
    );
  });

  test("a folder and a file that may not be written to", async () => {
    mx.tidy(() => save(at("old"), mx.array([1])));
    chmodSync(scratch.path, 0o755);
    chmodSync(at(`old.${format}`), 0o444);
    // Root may write everything, so the program becomes somebody else.
    const name = { npy: "save", npz: "savez", safetensors: "saveSafetensors", gguf: "saveGguf" }[format]!;
    const value = format === "npy" ? "mx.array([2])" : "{ x: mx.array([2]) }";
    const lines = await said(`
      if (process.getuid() === 0) process.setuid(65534);
      attempt("old", () => mx.${name}(${JSON.stringify(at("old"))}, ${value}));
      attempt("new", () => mx.${name}(${JSON.stringify(at("new"))}, ${value}));`);
    expect(lines[0]).toContain("cannot be written: EACCES");
    expect(lines[1]).toMatch(/EACCES|\[save\w*\]|permission|gguf_create failed|open/i);
    expect(readdirSync(folder)).toEqual([`old.${format}`]);
    expect(mx.tidy(() => read(at(`old.${format}`)))).toEqual([1]);
  });

  test("a file that grows too large for its place: the old one stays, and no other", async () => {
    mx.tidy(() => save(at("old"), mx.array([1])));
    // A limit on the size of files fails a write in the middle, as a full disk does.
    const name = { npy: "save", npz: "savez", safetensors: "saveSafetensors", gguf: "saveGguf" }[format]!;
    const value = format === "npy" ? "big" : "{ x: big }";
    const program = `
      import * as mx from ${JSON.stringify(join(import.meta.dir, "../../src/index.ts"))};
      process.on("SIGXFSZ", () => undefined);
      const big = mx.random.normal([1000, 1000]);
      try { mx.${name}(${JSON.stringify(at("old"))}, ${value}); console.log("saved"); }
      catch (error) { console.log(String(error).split("\\n")[0]); }`;
    writeFileSync(join(scratch.path, "program.ts"), program);
    const run = Bun.spawnSync([
      "bash",
      "-c",
      `ulimit -f 1000; exec "$0" "$1"`,
      process.execPath,
      join(scratch.path, "program.ts"),
    ]);
    expect(run.stdout.toString()).toMatch(/^MlxError: save/);
    expect(run.exitCode).toBe(0);
    expect(readdirSync(folder)).toEqual([`old.${format}`]);
    expect(mx.tidy(() => read(at(`old.${format}`)))).toEqual([1]);
  });
});

scoped("a place beyond 4 GiB, where 32-bit positions wrap", () => {
  const [begin, end] = [5_000_000_000, 5_000_000_008];
  const header = makeSafetensors({ x: { dtype: "F32", shape: [2], data_offsets: [begin, end] } });
  // All but the header and the last bytes is a hole, which takes no room on the disk.
  writeFileSync(at("far.safetensors"), header);
  const fd = openSync(at("far.safetensors"), "r+");
  writeSync(fd, new Float32Array([1.5, -2]), 0, 8, header.length + begin);
  closeSync(fd);
  for (const lazy of [false, true]) {
    const { x } = mx.load(at("far.safetensors"), { format: "safetensors", lazy });
    expect(x!.tolist()).toEqual([1.5, -2]);
  }
  truncateSync(at("far.safetensors"), header.length + begin + 4);
  expect(refusal(() => mx.load(at("far.safetensors")))).toContain(
    `the tensor "x" ends at byte ${header.length + end}, but the file has only ${header.length + begin + 4}`,
  );
});

describe("a file that changes", () => {
  const big = (): mx.Array => mx.ones([400, 400]);
  const sum = (loaded: unknown): unknown => {
    const x = loaded instanceof mx.Array ? loaded : (loaded as Record<string, mx.Array>)["x"]!;
    return mx.sum(x).item();
  };

  describe.each(Object.keys(savers))("%s", (format) => {
    scoped("what was loaded stays, whatever becomes of the file", () => {
      const path = at(`x.${format}`);
      const changes: (() => void)[] = [
        () => truncateSync(path, 100),
        () => writeFileSync(path, "something else"),
        () => unlinkSync(path),
        () => {
          savers[format]!(at("other"), mx.zeros([3]));
          renameSync(at(`other.${format}`), path);
        },
        () => savers[format]!(path, mx.zeros([3])),
      ];
      for (const change of changes) {
        savers[format]!(path, big());
        const loaded = mx.load(path);
        change();
        expect(sum(loaded)).toBe(160_000);
      }
    });
  });

  scoped("loaded lazily, a replaced or removed file still gives the old one: MLX holds it open", () => {
    for (const format of ["npy", "safetensors"]) {
      const path = at(`x.${format}`);
      savers[format]!(path, big());
      const first = mx.load(path, { lazy: true });
      savers[format]!(path, mx.zeros([3]));
      expect(sum(first)).toBe(160_000);
      savers[format]!(path, big());
      const second = mx.load(path, { lazy: true });
      unlinkSync(path);
      expect(sum(second)).toBe(160_000);
    }
  });

  test("loaded lazily, a truncated file ends no process", async () => {
    for (const format of ["npy", "safetensors"]) {
      const path = at(`x.${format}`);
      mx.tidy(() => savers[format]!(path, big()));
      const [line] = await said(`
        import { truncateSync } from "node:fs";
        const loaded = mx.load(${JSON.stringify(path)}, { lazy: true });
        truncateSync(${JSON.stringify(path)}, 200);
        let end = "a value";
        try { mx.eval(loaded); } catch (error) { end = "an error"; }
        say(end);`);
      expect(["a value", "an error"]).toContain(line!);
    }
  });

  test("damage is found before the data is read, lazily too", () => {
    for (const format of ["npy", "safetensors"]) {
      const path = at(`x.${format}`);
      mx.tidy(() => savers[format]!(path, big()));
      truncateSync(path, 5000);
      for (const lazy of [false, true]) {
        expect(refusal(() => mx.load(path, { lazy }))).toContain("The file is incomplete or damaged.");
      }
    }
  });

  test("a file that may not be read", async () => {
    mx.tidy(() => mx.save(at("secret"), mx.array([1])));
    chmodSync(scratch.path, 0o755);
    chmodSync(at("secret.npy"), 0o000);
    const lines = await said(`if (process.getuid() === 0) process.setuid(65534);
      attempt("load", () => mx.load(${JSON.stringify(at("secret.npy"))}));`);
    expect(lines[0]).toContain("secret.npy cannot be opened: EACCES");
    expect(existsSync(at("secret.npy"))).toBe(true);
    expect(readFileSync(at("secret.npy")).length).toBeGreaterThan(0);
  });
});
