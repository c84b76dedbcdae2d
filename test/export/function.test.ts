// Functions in files: what comes back, from Python and to Python, named inputs, several traces, errors, damage.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pythonWithMlx } from "../../bench/python-env.ts";
import { runProcess } from "../../scripts/gate/process.ts";
import * as mx from "../../src/index.ts";
import { caught, refusal, said, scoped, untyped } from "../helpers.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mlx-ts-export-"));
  folders.push(folder);
});
const folders: string[] = [];
afterAll(() => folders.forEach((one) => rmSync(one, { recursive: true, force: true })));

const place = (name: string): string => join(folder, name);

describe("a function that was exported", () => {
  scoped("computes the same again, with the arrays that it closed over", () => {
    const weight = mx.array([
      [1, 2],
      [3, 4],
    ]);
    const fn = (x: mx.Array, y: mx.Array): mx.Array[] => [x.matmul(weight).add(y), mx.softmax(x, { axis: -1 })];
    mx.exportFunction(place("f.mlxfn"), fn, [mx.zeros([1, 2]), mx.zeros([2])]);
    using imported = mx.importFunction(place("f.mlxfn"));
    const [x, y] = [mx.array([[1, -1]]), mx.array([10, 20])];
    const results = imported(x, y);
    expect(results.map((one) => one.tolist())).toEqual(fn(x, y).map((one) => one.tolist()));
    expect(imported.metadata).toBe("");
    expect(readdirSync(folder)).toEqual(["f.mlxfn"]);
  });

  scoped("takes named arrays, a text beside it, and other shapes where it was exported so", () => {
    const fn = (x: mx.Array, { scale, shift }: { scale: mx.Array; shift: mx.Array }): mx.Array =>
      x.multiply(scale).add(shift);
    const kwargs = { shift: mx.zeros([2]), scale: mx.zeros([2]) };
    mx.exportFunction(place("k.mlxfn"), fn, [mx.zeros([2])], { kwargs, shapeless: true, metadata: '{"größe": 1}' });
    using imported = mx.importFunction(place("k.mlxfn"));
    expect(imported.metadata).toBe('{"größe": 1}');
    const [y] = imported(mx.array([1, 2, 3]), { scale: mx.array([2, 2, 2]), shift: mx.array([0, 1, 0]) });
    expect(y!.tolist()).toEqual([2, 5, 6]);
  });

  scoped("can have several traces, and lists those that there are", () => {
    {
      using exporter = mx.exporter(place("s.mlxfn"), (...xs: mx.Array[]) => xs.reduce((a, b) => a.add(b)));
      exporter.add(mx.array(1));
      exporter.add(mx.array(1), mx.array(2));
      expect(readdirSync(folder)).toHaveLength(1);
      expect(readdirSync(folder)).not.toContain("s.mlxfn");
    }
    expect(readdirSync(folder)).toEqual(["s.mlxfn"]);
    using imported = mx.importFunction(place("s.mlxfn"));
    expect(imported(mx.array(5)).map((one) => one.item())).toEqual([5]);
    expect(imported(mx.array(5), mx.array(6)).map((one) => one.item())).toEqual([11]);
    const message = refusal(() => imported(mx.array([5])));
    expect(message).toStartWith("MlxError: importedFunction: [import_function::call] No imported function found");
    expect(message).toContain("Function with 2 positional inputs and 0 keyword inputs");
    expect(refusal(() => imported(mx.array(5, { dtype: "int32" })))).toContain("1: () int32");
  });

  scoped("is of use in transforms: it is a graph like any other", () => {
    mx.exportFunction(place("g.mlxfn"), (x: mx.Array) => x.square().sum(), [mx.zeros([3])]);
    using imported = mx.importFunction(place("g.mlxfn"));
    const gradient = mx.grad((x: mx.Array) => imported(x)[0]!)(mx.array([1, 2, 3]));
    expect(gradient.tolist()).toEqual([2, 4, 6]);
  });

  scoped("survives the replacement of its file, and its results survive it", () => {
    const big = mx.full([1000], 3);
    mx.exportFunction(place("r.mlxfn"), (x: mx.Array) => x.add(big), [mx.zeros([1000])]);
    const imported = mx.importFunction(place("r.mlxfn"));
    mx.exportFunction(place("r.mlxfn"), (x: mx.Array) => x, [mx.zeros([1])]);
    const [y] = imported(mx.ones([1000]));
    imported.dispose();
    expect(y!.sum().item()).toBe(4000);
    expect(refusal(() => imported(mx.ones([1000])))).toStartWith("DisposedError: importedFunction: ");
  });
});

describe("errors", () => {
  scoped("what the function throws comes out, the former file stays, nothing is left beside it", () => {
    mx.exportFunction(place("a.mlxfn"), (x: mx.Array) => x.add(1), [mx.zeros([2])]);
    const error = new Error("mine");
    const fail = (): mx.Array => {
      throw error;
    };
    expect(caught(() => mx.exportFunction(place("a.mlxfn"), fail, [mx.zeros([2])]))).toBe(error);
    expect(refusal(() => mx.exportFunction(place("a.mlxfn"), () => untyped(3), [mx.zeros([2])]))).toContain(
      "the function must return an Array or a list of Arrays, got 3.",
    );
    expect(
      refusal(() =>
        mx.exportFunction(
          place("a.mlxfn"),
          untyped(async () => mx.zeros([1])),
          [mx.zeros([2])],
        ),
      ),
    ).toContain("TypeError");
    expect(readdirSync(folder)).toEqual(["a.mlxfn"]);
    using imported = mx.importFunction(place("a.mlxfn"));
    expect(imported(mx.array([1, 2]))[0]!.tolist()).toEqual([2, 3]);
  });

  scoped("an exporter whose trace failed refuses the next and writes nothing", () => {
    let fail = false;
    const exporter = mx.exporter(place("x.mlxfn"), (x: mx.Array) => {
      if (fail) throw new Error("mine");
      return x.add(1);
    });
    exporter.add(mx.array(1));
    fail = true;
    expect(refusal(() => exporter.add(mx.array([1])))).toBe("Error: mine");
    fail = false;
    expect(refusal(() => exporter.add(mx.array([1])))).toContain("an earlier trace failed");
    exporter.close();
    exporter.close();
    expect(readdirSync(folder)).toEqual([]);
    expect(refusal(() => exporter.add(mx.array(1)))).toStartWith("DisposedError: exporter: ");
  });

  scoped("the function cannot close its exporter, or export itself", () => {
    let inside: () => void = () => {};
    const exporter = mx.exporter(place("y.mlxfn"), (x: mx.Array) => {
      inside();
      return x.add(1);
    });
    inside = () => exporter.close();
    expect(refusal(() => exporter.add(mx.array(1)))).toContain("cannot be closed by the function that it runs");
    exporter.close();
    const again = mx.exporter(place("y.mlxfn"), (x: mx.Array) => {
      again.add(x);
      return x;
    });
    expect(refusal(() => again.add(mx.array(1)))).toContain("cannot export itself");
    again.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  scoped("bad arguments are refused before anything is written", () => {
    const fn = (x: mx.Array): mx.Array => x;
    const x = mx.zeros([1]);
    const bad: [() => unknown, string][] = [
      [() => mx.exportFunction(untyped(3), fn, [x]), "TypeError: exportFunction: path must be a string, got 3."],
      [() => mx.exportFunction(place("a"), untyped(1), [x]), "TypeError: exportFunction: "],
      [() => mx.exportFunction(place("a"), fn, untyped(x)), "TypeError: exportFunction: args must be a list of Arrays"],
      [
        () => mx.exportFunction(place("a"), fn, [untyped(1)]),
        "TypeError: exportFunction: args must be a list of Arrays",
      ],
      [
        () => mx.exportFunction(place("a"), fn, [x], { kwargs: { y: untyped(1) } }),
        "TypeError: exportFunction: y must be",
      ],
      [
        () => mx.exportFunction(place("a"), fn, [x], untyped({ shapless: true })),
        "TypeError: exportFunction: unknown option",
      ],
      [
        () => mx.exportFunction(place("a"), fn, [x], { metadata: "a\0" }),
        "TypeError: exportFunction: metadata contains a NUL",
      ],
      [() => mx.exportFunction(place("no/a"), fn, [x]), "MlxError: exportFunction: "],
      [() => mx.importFunction(place("none")), `MlxError: importFunction: there is no file ${place("none")}.`],
      [() => mx.importFunction(folder), `MlxError: importFunction: ${folder} is not a file but a folder.`],
      [() => mx.importFunction(place("a"), untyped({ trust: true })), "TypeError: importFunction: unknown option"],
    ];
    for (const [run, message] of bad) expect(refusal(run)).toStartWith(message);
    expect(readdirSync(folder)).toEqual([]);
    mkdirSync(place("d"));
    expect(refusal(() => mx.exportFunction(place("d"), fn, [x]))).toContain("is not a file but a folder");
    expect(readdirSync(folder)).toEqual(["d"]);
  });
});

describe("Python and we read each other's files", () => {
  let python = "";
  beforeAll(() => {
    python = pythonWithMlx("stock");
  }, 300_000);

  test("both ways, with named inputs and metadata", async () => {
    mx.exportFunction(
      place("ours.mlxfn"),
      (x: mx.Array, { b }: { b: mx.Array }) => [x.add(b), x.exp()],
      [mx.zeros([2])],
      {
        kwargs: { b: mx.zeros([2]) },
        metadata: "from here",
      },
    );
    const script = `
import sys, mlx.core as mx
folder = sys.argv[1]
f, text = mx.import_function(folder + "/ours.mlxfn", return_metadata=True)
y, z = f(mx.array([0.0, 1.0]), b=mx.array([1.0, 2.0]))
print(text, y.tolist(), z.tolist())
mx.export_function(folder + "/theirs.mlxfn", lambda x, *, b: x * b - 1, mx.zeros((2,)), b=mx.zeros((2,)), metadata="from Python")
`;
    const { output, code } = await runProcess([python, "-c", script, folder], { timeout: 60 });
    expect(output.trim()).toBe("from here [1.0, 3.0] [1.0, 2.7182817459106445]");
    expect(code).toBe(0);
    mx.tidy(() => {
      const path = place("theirs.mlxfn");
      expect(refusal(() => mx.importFunction(path))).toStartWith(
        `MlxError: importFunction: ${path} has no checksum, as files have that mlx-ts wrote.`,
      );
      using theirs = mx.importFunction(path, { trusted: true });
      expect(theirs.metadata).toBe("from Python");
      expect(theirs(mx.array([2, 3]), { b: mx.array([4, 5]) })[0]!.tolist()).toEqual([7, 14]);
    });
  }, 90_000);
});

test("clearStreams is refused once a function was imported; a Worker's result fails with MLX's words", async () => {
  mx.exportFunction(place("f.mlxfn"), (x: mx.Array) => x.add(1), [mx.zeros([2])]);
  const lines = await said(`
    const path = ${JSON.stringify(place("f.mlxfn"))};
    mx.clearStreams();
    const f = mx.importFunction(path);
    attempt("clear", () => mx.clearStreams());
    attempt("call", () => f(mx.array([1, 2]))[0].tolist());
    const index = ${JSON.stringify(new URL("../../src/index.ts", import.meta.url).pathname)};
    const source = \`
      import * as mx from "\${index}";
      try {
        postMessage(mx.importFunction("\${path}")(mx.array([1, 2]))[0].tolist());
      } catch (error) {
        postMessage(error.message);
      }
    \`;
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "application/typescript" })));
    const answer = await new Promise((resolve) => (worker.onmessage = (event) => resolve(event.data)));
    worker.terminate();
    say(answer);
  `);
  expect(lines).toEqual([
    expect.stringContaining(
      "clear: MlxError: clearStreams: MLX computes imported functions on streams that it makes once",
    ),
    "call: [2,3]",
    expect.stringMatching(/^tolist: There is no Stream\(cpu, \d+\) in current thread\.$/),
  ]);
});

describe("damage", () => {
  test("any changed or missing byte is refused: 3,000 files in one process", async () => {
    mx.exportFunction(place("f.mlxfn"), (x: mx.Array, y: mx.Array) => x.exp().add(y.multiply(2.5)), [
      mx.zeros([2]),
      mx.zeros([2]),
    ]);
    const lines = await said(
      `
      const { readFileSync, writeFileSync } = await import("node:fs");
      const [whole, path] = ${JSON.stringify([place("f.mlxfn"), place("damaged.mlxfn")])};
      const bytes = readFileSync(whole);
      let seed = 12345;
      const random = (n) => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0, (seed >>> 8) % n);
      const reasons = new Map();
      for (let i = 0; i < 3000; i++) {
        let damaged = Buffer.from(bytes);
        if (i % 3 === 0) damaged = damaged.subarray(0, random(bytes.length));
        else for (let k = 0; k <= random(3); k++) damaged[random(bytes.length)] ^= 1 + random(255);
        if (damaged.equals(bytes)) continue;
        writeFileSync(path, damaged);
        let reason = "IMPORTED";
        try { mx.importFunction(path).dispose(); } catch (error) {
          reason = error.name + ": " + error.message.replace(path, "FILE").replace(/\\d+/g, "N").slice(0, 60);
        }
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      }
      for (const [reason, count] of reasons) say(reason, count);
      say(mx.memory().liveHandles);
    `,
      { timeout: 120 },
    );
    expect(lines.filter((line) => !line.startsWith("MlxError: importFunction: FILE "))).toEqual([lines.at(-1)!]);
    expect(lines.join("\n")).toContain("is damaged: it does not fit its checksu");
    expect(lines.join("\n")).toContain("is truncated");
  }, 150_000);

  test("a trusted file is checked as far as its head", () => {
    const header = (parts: readonly (string | number | bigint)[]): Buffer =>
      Buffer.concat(
        parts.map((part) => {
          const bytes = Buffer.alloc(typeof part === "bigint" ? 8 : typeof part === "number" ? 4 : 0);
          if (typeof part === "bigint") bytes.writeBigUInt64LE(part);
          else if (typeof part === "number") bytes.writeInt32LE(part);
          return typeof part === "string" ? Buffer.from(part, "latin1") : bytes;
        }),
      );
    const start = [6n, "0.32.2", 1, "\0", 0n, 0n];
    const bad: [Buffer, string][] = [
      [Buffer.alloc(0), "is truncated"],
      [Buffer.from("not a function"), "it claims"],
      [header([6n, "zero.x", 1, "\0"]), "it does not begin with a version of MLX"],
      [header([6n, "0.32.2", -1, "\0"]), "it claims -1 functions"],
      [header([6n, "0.32.2", 1, "\x07", 0n, 0n]), "the mark of a shapeless function is 7"],
      [header([6n, "0.32.2", 1, "\0", 1n << 60n]), "bytes of metadata"],
      [header([...start, 1n, 77n, 1n, 1n, -5, 10, "\x04", 1n, 78n]), "input 0 has an axis of length -5"],
      [header([...start, 1n, 77n, 1n, 1n, 5, 99, "\x04", 1n, 78n]), "input 0 has dtype 99 of 4 bytes"],
      [header([...start, 1n, 77n, 0n, 0n, 0n, 0n]), "its 1 inputs do not fit 0 shapes"],
      [header([...start, 0n, 0n, 0n, 0n]), "its function has no output"],
      [header([...start, 0n, 0n, 1n, 78n, 0n]), "its function computes nothing"],
    ];
    for (const [bytes, reason] of bad) {
      writeFileSync(place("bad.mlxfn"), bytes);
      const message = refusal(() => mx.importFunction(place("bad.mlxfn"), { trusted: true }));
      expect(message).toStartWith("MlxError: importFunction: ");
      expect(message).toContain(reason);
    }
    expect(readFileSync(place("bad.mlxfn")).length).toBeGreaterThan(0);
  });
});
