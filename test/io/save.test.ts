// Saving and loading again: every dtype, every kind of stride, empty and single values, trees, metadata, names.
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as mx from "../../src/index.ts";
import { broadcast, refusal, scoped, sliced, strided, transposed, untyped } from "../helpers.ts";
import { scratchFolder } from "./make-gguf.ts";

const folder = scratchFolder();
afterAll(folder.remove);
const at = (name: string): string => join(folder.path, name);

const dtypes: readonly mx.Dtype[] = [
  ...(["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"] as const),
  ...(["float16", "bfloat16", "float32", "float64", "complex64"] as const),
];

const cpu = { stream: "cpu" } as const;

/** Twelve distinct values, the same for every dtype up to what it can hold. */
function sample(dtype: mx.Dtype): mx.Array {
  if (dtype === "bool") return mx.array(Array.from({ length: 12 }, (_, i) => i % 3 === 0)).reshape(3, 4);
  if (dtype === "complex64") {
    return mx.array(Array.from({ length: 12 }, (_, i) => ({ re: i, im: -i / 2 }))).reshape(3, 4);
  }
  return mx.arange(12).reshape(3, 4).astype(dtype, cpu);
}

type Pair = [save: (name: string, array: mx.Array) => void, load: (name: string) => mx.Array];

const one = (loaded: unknown): mx.Array => (loaded as Record<string, mx.Array>)["x"]!;
const viaBytes = (bytes: Uint8Array, format: mx.LoadFormat): unknown => mx.loadFromBytes(bytes, { format });

/** Each way of saving with each way of loading. */
const ways: Readonly<Record<string, Pair>> = {
  npy: [mx.save, (name) => mx.load(name) as mx.Array],
  "npy, lazily": [mx.save, (name) => mx.load(name, { lazy: true }) as mx.Array],
  npz: [(name, x) => mx.savez(name, { x }), (name) => one(mx.load(name, "npz"))],
  "compressed npz": [(name, x) => mx.savezCompressed(name, { x }), (name) => one(mx.load(name, "npz"))],
  safetensors: [(name, x) => mx.saveSafetensors(name, { x }), (name) => one(mx.load(name, "safetensors"))],
  "safetensors, lazily": [
    (name, x) => mx.saveSafetensors(name, { x }),
    (name) => one(mx.load(name, "safetensors", false, { lazy: true })),
  ],
  gguf: [(name, x) => mx.saveGguf(name, { x }), (name) => one(mx.load(name, "gguf"))],
};

const extensionOf = (way: string): string => /npy|npz|safetensors|gguf/.exec(way)![0];

/** Formats that have no place for some dtypes. */
const lacking = (way: string, dtype: mx.Dtype): boolean =>
  (extensionOf(way) === "safetensors" && dtype === "float64") ||
  (way === "gguf" && !["float32", "float16", "int8", "int16", "int32"].includes(dtype));

function same(got: mx.Array, wanted: mx.Array): void {
  expect(got.dtype).toBe(wanted.dtype);
  expect(got.shape).toEqual(wanted.shape);
  expect(got.tolist()).toEqual(wanted.tolist());
}

describe.each(Object.keys(ways))("%s", (way) => {
  const [save, load] = ways[way]!;
  const file = at(`file.${extensionOf(way)}`);
  const roundTrip = (array: mx.Array): void => {
    save(file, array);
    same(load(file), array);
  };

  scoped("every dtype, or a refusal that names the array", () => {
    for (const dtype of dtypes) {
      const x = sample(dtype);
      if (lacking(way, dtype)) expect(refusal(() => save(file, x))).toContain(`"x" is ${dtype}`);
      else roundTrip(x);
    }
  });

  scoped("views of every stride", () => {
    for (const dtype of dtypes.filter((name) => !lacking(way, name))) {
      const x = sample(dtype);
      const cube = x.reshape(2, 3, 2);
      roundTrip(x.T);
      roundTrip(transposed(cube, [2, 0, 1]));
      roundTrip(transposed(cube, [1, 0, 2]));
      roundTrip(sliced(x, [2, 3], [-4, -5], [-1, -2]));
      roundTrip(sliced(x, [0, 1], [3, 4], [2, 2]));
      roundTrip(broadcast(x, [2, 3, 4]));
      roundTrip(broadcast(sliced(x, [0, 0], [3, 1], [1, 1]), [3, 5]));
      roundTrip(strided(x, [3, 3], [2, 1], 3));
    }
  });

  scoped("nothing, one value, many axes", () => {
    for (const shape of [[0], [0, 3], [3, 0, 2], [], [1], [1, 1, 1, 1, 1, 1, 1, 1]]) roundTrip(mx.ones(shape));
  });

  scoped("more than passes through one buffer", () => {
    const x = mx
      .arange(300 * 401)
      .reshape(300, 401)
      .astype("int32");
    roundTrip(x);
    roundTrip(x.T);
    if (way.includes("npz") || way === "gguf") return;
    save(file, mx.zeros([17_000_000], { dtype: "int8" }).add(mx.array(1, { dtype: "int8" })));
    const back = load(file);
    expect(back.shape).toEqual([17_000_000]);
    expect(mx.sum(back.astype("int32")).item()).toBe(17_000_000);
  });
});

describe("to bytes", () => {
  scoped("the bytes are those of the file", () => {
    const x = sample("float32").T;
    const bits = sample("bfloat16");
    mx.save(at("x.npy"), x);
    same(viaBytes(mx.saveToBytes(x), "npy") as mx.Array, x);
    mx.savez(at("x.npz"), x, { bits });
    same((viaBytes(mx.savezToBytes(x, { bits }), "npz") as Record<string, mx.Array>)["arr_0"]!, x);
    same((viaBytes(mx.savezCompressedToBytes(x, { bits }), "npz") as Record<string, mx.Array>)["bits"]!, bits);
    mx.saveSafetensors(at("x.safetensors"), { x, bits }, { metadata: { a: "b" } });
    const read = (name: string): Uint8Array<ArrayBuffer> => Uint8Array.from(readFileSync(at(name)));
    expect(mx.saveToBytes(x)).toEqual(read("x.npy"));
    expect(mx.savezToBytes(x, { bits })).toEqual(read("x.npz"));
    expect(mx.saveSafetensorsToBytes({ x, bits }, { metadata: { a: "b" } })).toEqual(read("x.safetensors"));
  });

  scoped("bytes of any container, which may change after loading", () => {
    const x = sample("int32");
    for (const big of [false, true]) {
      const array = big ? mx.arange(50_000) : x;
      const bytes = mx.saveToBytes(array);
      const shared = (): SharedArrayBuffer => {
        const copy = new SharedArrayBuffer(bytes.length);
        new Uint8Array(copy).set(bytes);
        return copy;
      };
      const inside = new Uint8Array(bytes.length + 9);
      inside.set(bytes, 5);
      const forms: (ArrayBufferLike | ArrayBufferView)[] = [
        bytes.slice(),
        bytes.slice().buffer,
        shared(),
        new Uint8Array(shared()),
        new DataView(inside.buffer, 5, bytes.length),
        Buffer.from(bytes),
      ];
      for (const form of forms) {
        const loaded = mx.loadFromBytes(form, { format: "npy" });
        new Uint8Array(ArrayBuffer.isView(form) ? form.buffer : form).fill(0);
        same(loaded, array);
      }
    }
    const tensors = mx.saveSafetensorsToBytes({ x });
    const loaded = mx.loadFromBytes(tensors, { format: "safetensors" });
    tensors.fill(0);
    same(loaded["x"]!, x);
  });

  test("wrong arguments", () => {
    const odd = untyped<(...args: unknown[]) => unknown>(mx.loadFromBytes);
    expect(refusal(() => odd("text", { format: "npy" }))).toBe(
      `TypeError: loadFromBytes: bytes must be an ArrayBuffer or a view of one, got "text".`,
    );
    const none = new Uint8Array(0);
    expect(refusal(() => odd(none, {}))).toContain("format must be one of npy, npz, safetensors, gguf, got undefined");
    expect(refusal(() => odd(none, { format: "npy", lazy: true }))).toContain(`unknown option "lazy"`);
    expect(refusal(() => odd(none, { format: "npz", returnMetadata: true }))).toContain("an npz file has no metadata");
    expect(refusal(() => odd(none, { format: "npy" }))).toContain(
      "MlxError: loadFromBytes: the bytes: not an npy file",
    );
    expect(refusal(() => odd(none, { format: "gguf" }))).toContain(
      "MlxError: loadFromBytes: the bytes: not a GGUF file",
    );
  });

  scoped("gguf bytes leave no temporary file", () => {
    mx.saveGguf(at("b.gguf"), { x: sample("float32") }, { metadata: { who: "me" } });
    const bytes = readFileSync(at("b.gguf"));
    const usual = process.env["TMPDIR"];
    const own = at("temporary");
    mkdirSync(own);
    process.env["TMPDIR"] = own;
    try {
      const [arrays, metadata] = mx.loadFromBytes(bytes, { format: "gguf", returnMetadata: true });
      refusal(() => mx.loadFromBytes(bytes.subarray(0, 90), { format: "gguf" }));
      expect(readdirSync(own)).toEqual([]);
      same(arrays["x"]!, sample("float32"));
      expect(metadata).toEqual({ who: "me" });
    } finally {
      if (usual === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = usual;
    }
  });
});

describe("trees and names", () => {
  scoped("nested objects, lists, Maps and state have dotted names, in their order", () => {
    const x = mx.array([1]);
    const state = { [mx.treeState]: { get: () => ({ m: x }), set: () => undefined } };
    const tree = { z: x, layers: [{ w: x, b: x }, [x]], map: new Map([["k", x]]), state, a: x };
    const names = ["z", "layers.0.w", "layers.0.b", "layers.1.0", "map.k", "state.m", "a"];
    mx.saveSafetensors(at("t.safetensors"), tree);
    expect(Object.keys(mx.load(at("t.safetensors"), "safetensors"))).toEqual(names);
    expect(Object.keys(mx.load(at("t.safetensors"), "safetensors", false, { lazy: true }))).toEqual(names);
    mx.savez(at("t.npz"), tree);
    expect(Object.keys(mx.load(at("t.npz"), "npz"))).toEqual(names);
    mx.saveGguf(at("t.gguf"), tree);
    expect(Object.keys(mx.load(at("t.gguf"), "gguf")).sort()).toEqual(names.toSorted());
  });

  scoped("names in any script, and names that objects have of their own", () => {
    const names = ["größe", "重み", "😀.weight", "with space", 'quo"te', "__proto__", "constructor", "new\nline"];
    const tree = Object.fromEntries(names.map((name, i) => [name, mx.array([i])]));
    mx.saveSafetensors(at("n.safetensors"), tree);
    mx.savez(at("n.npz"), tree);
    mx.saveGguf(at("n.gguf"), tree);
    for (const file of ["n.safetensors", "n.npz", "n.gguf"]) {
      const loaded = mx.load(at(file)) as unknown as Record<string, mx.Array>;
      expect(Object.keys(loaded).sort()).toEqual(names.toSorted());
      for (const [i, name] of names.entries()) {
        expect(Object.getOwnPropertyDescriptor(loaded, name)!.value.tolist()).toEqual([i]);
      }
    }
  });

  scoped("what cannot be saved is named", () => {
    const x = mx.array([1]);
    const refused = (tree: unknown): string => refusal(() => mx.saveSafetensors(at("no.safetensors"), tree));
    expect(refused(x)).toContain("TypeError: saveSafetensors: an array needs a name");
    expect(refused({ a: { b: 3 } })).toBe(
      `TypeError: saveSafetensors: "a.b" must be an Array, or an object or a list of Arrays, got 3.`,
    );
    expect(refused({ a: null })).toContain(`"a" must be an Array`);
    expect(refused(7)).toContain("the tree must be an Array");
    expect(refused({ "a.b": x, a: { b: x } })).toContain(`two arrays of the tree are called "a.b"`);
    expect(refused({ "a\0": x })).toContain("contains a NUL character");
    expect(refused({ "a\ud800": x })).toContain("half of a character");
    expect(refused({ __metadata__: x })).toContain("no array can be called __metadata__");
    const loop: Record<string, unknown> = { x };
    loop["self"] = loop;
    expect(refused(loop)).toContain(`the tree holds itself, at "self"`);
    expect(refusal(() => mx.savez(at("no"), x, { arr_0: x }))).toContain(`two arrays are called "arr_0"`);
    expect(refusal(() => mx.save(at("no"), untyped({ x })))).toContain(
      "TypeError: save: expected an Array, got an object",
    );
    expect(existsSync(at("no.safetensors"))).toBe(false);
  });

  scoped("metadata of safetensors", () => {
    const x = mx.array([1]);
    const metadata = { format: "mlx", ключ: "значение\n", empty: "" };
    mx.saveSafetensors(at("m"), { x }, { metadata });
    expect(mx.load(at("m.safetensors"), { returnMetadata: true })[1]).toEqual(metadata);
    expect(mx.load(at("m.safetensors"), { returnMetadata: true, lazy: true })[1]).toEqual(metadata);
    const refused = (value: unknown): string => refusal(() => mx.saveSafetensors(at("m"), { x }, untyped(value)));
    expect(refused({ metadata: { n: 3 } })).toContain(`the metadata "n" must be a text, got 3`);
    expect(refused({ metadata: ["a"] })).toContain("metadata must be an object of texts");
    expect(refused({ meta: {} })).toContain(`unknown option "meta"`);
  });

  scoped("metadata of gguf", () => {
    const x = mx.array([1]);
    const values = {
      name: "tiny é",
      list: ["a", "", "ü"],
      none: [],
      every: mx.arange(10).get("::3"),
      flag: mx.array(true),
      flags: mx.array([true, false]).get("::-1"),
      big: mx.array(2n ** 63n, { dtype: "uint64" }),
      half: mx.array([0.5]),
    };
    mx.saveGguf(at("m.gguf"), { x }, { metadata: values });
    const [, loaded] = mx.load(at("m.gguf"), { returnMetadata: true });
    const plain = (tree: object): unknown =>
      Object.fromEntries(
        Object.entries(tree).map(([key, v]) => [key, v instanceof mx.Array ? [v.dtype, v.tolist()] : v]),
      );
    expect(plain(loaded)).toEqual(plain(values));
    const refused = (value: unknown): string =>
      refusal(() => mx.saveGguf(at("m"), { x }, untyped({ metadata: { key: value } })));
    expect(refused(3)).toContain(`the metadata "key" must be a text, a list of texts or an Array`);
    expect(refused(["a", 1])).toContain("must be a text, a list of texts or an Array");
    expect(refused(mx.zeros([2, 2]))).toContain("has 2 axes");
    expect(refused(mx.zeros([0]))).toContain("is an empty Array");
    expect(refused(mx.array([1]).astype("float16"))).toContain("is float16, which MLX does not write");
    expect(refusal(() => mx.saveGguf(at("m"), { x }, { metadata: { "general.alignment": "64" } }))).toContain(
      "is MLX's to choose",
    );
    expect(refusal(() => mx.saveGguf(at("m"), { deep: mx.ones([1, 1, 1, 1, 1, 1, 1, 1, 1]) }))).toContain(
      `"deep" has 9 axes`,
    );
  });
});

describe("arrays that cannot be saved", () => {
  test("a disposed one", () => {
    const gone = mx.array([1]);
    gone.dispose();
    const saves: ((name: string, x: mx.Array) => void)[] = [
      mx.save,
      (name, x) => mx.savez(name, { x }),
      (name, x) => mx.saveSafetensors(name, { x }),
      (name, x) => mx.saveGguf(name, { x }),
    ];
    for (const save of saves) expect(refusal(() => save(at("gone"), gone))).toContain("DisposedError: save");
    expect(readdirSync(folder.path).filter((name: string) => name.includes("gone"))).toEqual([]);
  });
});
