// Headers: what is understood, and what each kind of damage is called, before native code or memory is involved.
import { describe, expect, test } from "bun:test";
import * as mx from "../../src/index.ts";
import { countKeys } from "../../src/io/json-keys.ts";
import { refusal, scoped } from "../helpers.ts";
import { floats } from "./make-gguf.ts";
import { makeNpy, makeSafetensors, makeZip, npyHeader } from "./make-files.ts";

const because = (bytes: Uint8Array, format: mx.LoadFormat): string =>
  refusal(() => mx.loadFromBytes(bytes, { format })).replace("MlxError: loadFromBytes: the bytes: ", "");

describe("npy", () => {
  const load = (bytes: Uint8Array): mx.Array => mx.loadFromBytes(bytes, { format: "npy" });
  const data = floats([1, 2, 3, 4, 5, 6]);
  const six = [
    [1, 2, 3],
    [4, 5, 6],
  ];

  scoped("headers in any layout that Python would read", () => {
    const headers = [
      "{'descr':'<f4','fortran_order':False,'shape':(2,3)}\n",
      `{"shape": (2, 3), "descr": "<f4", "fortran_order": False}`,
      "  { 'shape' : ( 2 , 3 , ) , 'fortran_order' : False , 'descr' : '<f4' , }   \n",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }",
    ];
    for (const header of headers) expect(load(makeNpy(header, data)).tolist()).toEqual(six);
    for (const version of [
      [1, 0],
      [2, 0],
      [3, 0],
    ] as const) {
      expect(load(makeNpy(npyHeader("<f4", [2, 3]), data, version)).tolist()).toEqual(six);
    }
  });

  scoped("either order of axes and of bytes", () => {
    expect(load(makeNpy(npyHeader("<f4", [3, 2], true), data)).T.tolist()).toEqual(six);
    const swapped = (size: number, bytes: Uint8Array): Uint8Array => {
      const copy = Buffer.from(bytes);
      return size === 2 ? copy.swap16() : size === 4 ? copy.swap32() : copy.swap64();
    };
    expect(load(makeNpy(npyHeader(">f4", [2, 3]), swapped(4, data))).tolist()).toEqual(six);
    const doubles = new Uint8Array(new Float64Array([1.5, -2]).buffer);
    expect(load(makeNpy(npyHeader(">f8", [2]), swapped(8, doubles))).tolist()).toEqual([1.5, -2]);
    const shorts = new Uint8Array(new Int16Array([1, -2]).buffer);
    expect(load(makeNpy(npyHeader(">i2", [2], true), swapped(2, shorts))).tolist()).toEqual([1, -2]);
    expect(load(makeNpy(npyHeader(">c8", [1]), swapped(4, floats([1, 2])))).tolist()).toEqual([{ re: 1, im: 2 }]);
    expect(load(makeNpy(npyHeader(">u1", [1]), new Uint8Array([7]))).tolist()).toEqual([7]);
  });

  scoped("bytes behind the array are nobody's", () => {
    expect(load(makeNpy(npyHeader("<f4", [2]), data)).tolist()).toEqual([1, 2]);
  });

  test("damage", () => {
    const npy = (header: string): string => because(makeNpy(header, data), "npy");
    expect(because(new Uint8Array(5), "npy")).toContain("not an npy file");
    expect(because(makeNpy(npyHeader("<f4", [7]), data), "npy")).toBe(
      "float32[7] needs 28 bytes, but only 24 follow the header. The file is incomplete or damaged.",
    );
    const whole = makeNpy(npyHeader("<f4", [6]), data);
    for (const end of [6, 9, 40, 127]) expect(because(whole.slice(0, end), "npy")).toMatch(/not an npy|ends inside/);
    expect(npy(npyHeader("<f4", [4_000_000_000]))).toContain("an axis of length 4000000000, more than MLX can index");
    expect(npy(npyHeader("<f4", Array(40).fill(2 ** 31 - 1)))).toContain("bytes, but only 24 follow the header");
    expect(npy(npyHeader("<c16", [1]))).toContain(`elements of the kind "<c16"`);
    expect(npy(npyHeader("|O", [1]))).toContain(`elements of the kind "|O"`);
    expect(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}")).toContain(
      "records of several fields",
    );
    expect(npy("{'descr': '<f4', 'fortran_order': False}")).toContain("must have the names");
    expect(npy("{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}")).toContain("has descr twice");
    expect(npy("{'descr': '<f4', 'fortran_order': 1, 'shape': (1,)}")).toContain("has no value at character");
    expect(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}")).toContain("has no integer");
    expect(npy("{'descr': '<f4', 'fortran_order': False, 'shape': 'x'}")).toContain("has no tuple for shape");
    expect(npy("{'descr': True, 'fortran_order': False, 'shape': (1,)}")).toContain("has no text for descr");
    expect(npy("{'descr': '<f4', 'fortran_order': (1,), 'shape': (1,)}")).toContain("has no truth value");
    expect(npy(`${npyHeader("<f4", [1])}x`)).toContain("goes on after its end");
    expect(npy("")).toContain("has no dictionary");
    expect(because(makeNpy(npyHeader("<f4", [1]), data, [4, 0]), "npy")).toContain("npy version 4.0");
    expect(because(makeNpy(npyHeader("<f4", [1]), data, [1, 1]), "npy")).toContain("npy version 1.1");
    const long = makeNpy(" ".repeat(70_000), data, [2, 0]);
    expect(because(long, "npy")).toContain("announces 70000 bytes, more than the 65536");
  });
});

describe("safetensors", () => {
  const entry = (over: object = {}): object => ({ a: { dtype: "F32", shape: [2], data_offsets: [0, 8], ...over } });
  const damage = (header: unknown, data = floats([1, 2])): string =>
    because(makeSafetensors(header, data), "safetensors");

  scoped("dtypes that only files have, and those without a place", () => {
    const bytes = new Uint8Array([1, 2]);
    const of = (dtype: string): Uint8Array =>
      makeSafetensors({ a: { dtype, shape: [2], data_offsets: [0, 2] } }, bytes);
    for (const dtype of ["F8_E4M3", "F8_E8M0"]) {
      const a = mx.loadFromBytes(of(dtype), { format: "safetensors" })["a"]!;
      expect([a.dtype, a.tolist()]).toEqual(["uint8", [1, 2]]);
    }
    for (const dtype of ["F64", "F8_E5M2", "F4", "f32", "constructor"]) {
      expect(because(of(dtype), "safetensors")).toContain(`the tensor "a" is "${dtype}", which MLX cannot read`);
    }
  });

  scoped("holes, spaces and empty tensors are no damage", () => {
    const header = {
      b: { dtype: "F32", shape: [1], data_offsets: [8, 12] },
      none: { dtype: "F32", shape: [0, 2147483647, 2147483647], data_offsets: [8, 8] },
      a: { dtype: "U8", shape: [1], data_offsets: [0, 1] },
    };
    const arrays = mx.loadFromBytes(makeSafetensors(`${JSON.stringify(header)}   `, floats([0, 1, 2])), {
      format: "safetensors",
    });
    expect(Object.keys(arrays)).toEqual(["b", "none", "a"]);
    expect(arrays["b"]!.tolist()).toEqual([2]);
    expect(arrays["none"]!.shape).toEqual([0, 2147483647, 2147483647]);
    expect(mx.loadFromBytes(makeSafetensors({}), { format: "safetensors" })).toEqual({});
    const none = mx.loadFromBytes(makeSafetensors({ __metadata__: null }), {
      format: "safetensors",
      returnMetadata: true,
    });
    expect(none).toEqual([{}, {}]);
  });

  test("damage", () => {
    expect(because(new Uint8Array(7), "safetensors")).toContain("the file ends inside the length of the header");
    for (const length of [3n, 200n, 2n ** 53n + 1n, 2n ** 64n - 1n]) {
      expect(because(makeSafetensors("{}", undefined, length), "safetensors")).toContain(`a header of ${length} bytes`);
    }
    expect(because(makeSafetensors("{}", undefined, 1n), "safetensors")).toContain("its header is no JSON text");
    expect(damage("[]")).toContain("its header is no JSON object");
    expect(damage("\ufeff{}")).toContain("no JSON text");
    expect(because(Uint8Array.from([4, 0, 0, 0, 0, 0, 0, 0, 0x7b, 0x22, 0xff, 0x7d]), "safetensors")).toContain(
      "not UTF-8",
    );
    expect(damage("[".repeat(100_000))).toContain("no JSON text");
    expect(damage(entry({ data_offsets: [0, 4] }))).toBe(
      `the tensor "a" is F32[2] and needs 8 bytes, but its place is 0 to 4.`,
    );
    expect(damage(entry({ data_offsets: [4, 12] }))).toContain("ends at byte");
    expect(damage(entry({ data_offsets: [8, 0] }))).toContain("its place is 8 to 0");
    for (const offsets of [[0], [0, 8, 16], "08", [0, 8.5], [-8, 0], [0, 2 ** 60], [0, "8"], null]) {
      expect(damage(entry({ data_offsets: offsets }))).toContain("no pair of positions");
    }
    for (const shape of [2, [2.5], [-1], ["2"], null, [2 ** 60], [[2]]]) {
      expect(damage(entry({ shape }))).toContain("a shape that is no list of lengths");
    }
    expect(damage(entry({ shape: [2 ** 31] }))).toContain("an axis of length 2147483648, more than MLX can index");
    expect(damage(entry({ shape: Array(40).fill(2 ** 31 - 1) }))).toContain("bytes, but its place is 0 to 8");
    expect(damage({ a: 3 })).toContain(`the tensor "a" is described by no object`);
    expect(damage({ "a\0b": { dtype: "U8", shape: [1], data_offsets: [0, 1] } })).toContain("a NUL character");
    expect(damage('{"\\ud800":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}')).toContain("half of a character");
    expect(damage({ __metadata__: { n: 1 } })).toContain(`the metadata key "n" has no text`);
    expect(damage({ __metadata__: [] })).toContain("__metadata__ is no object");
    const one = JSON.stringify({ dtype: "F32", shape: [1], data_offsets: [0, 4] });
    expect(damage(`{"a":${one},"a":${one}}`)).toBe("the header has a name twice.");
    expect(damage(`{"a":${one},"\\u0061":${one}}`)).toBe("the header has a name twice.");
    expect(damage('{"a":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}}')).toContain("a name twice");
    const two = { a: JSON.parse(one), b: { dtype: "F32", shape: [1], data_offsets: [2, 6] } };
    expect(damage(two)).toBe(`the tensors "a" and "b" share bytes.`);
  });

  test("names are counted as JSON has them", () => {
    expect(countKeys('{"a\\"b:" : {"x":1,"y":[{"z":1}]}, "b":"c:", "d" :[":"]}', 2)).toBe(5);
    expect(countKeys("{}", 2)).toBe(0);
  });
});

describe("npz", () => {
  const npy = makeNpy(npyHeader("<f4", [2]), floats([1, 2]));
  const load = (bytes: Uint8Array): Record<string, mx.Array> => mx.loadFromBytes(bytes, { format: "npz" });
  const values = (bytes: Uint8Array): unknown =>
    Object.fromEntries(Object.entries(load(bytes)).map(([name, array]) => [name, array.tolist()]));

  scoped("stored, deflated, with 64-bit fields, with a comment", () => {
    const parts = [
      { name: "a.npy", data: npy },
      { name: "b", data: npy, deflate: true },
    ];
    const wanted = { a: [1, 2], b: [1, 2] };
    expect(values(makeZip(parts))).toEqual(wanted);
    expect(values(makeZip(parts, { comment: "PK\x05\x06 and more than that is here" }))).toEqual(wanted);
    const far = parts.map((part) => ({ ...part, far: true }));
    expect(values(makeZip(far, { far: true }))).toEqual(wanted);
    expect(values(makeZip([]))).toEqual({});
  });

  test("damage", () => {
    const says = (says: object, deflate = false): string =>
      because(makeZip([{ name: "a.npy", data: npy, deflate, says }]), "npz");
    expect(because(new Uint8Array(10), "npz")).toContain("not an npz file");
    expect(because(npy, "npz")).toContain("not an npz file");
    const whole = makeZip([{ name: "a.npy", data: npy }]);
    expect(because(whole.slice(0, -1), "npz")).toContain("its end is missing");
    expect(because(whole.slice(8), "npz")).toContain("in the table of contents is damaged");
    expect(says({ flags: 1 })).toContain(`the entry "a.npy" is encrypted`);
    expect(says({ method: 12 })).toContain("is compressed by method 12");
    expect(says({ crc: 5 })).toContain("do not have the checksum");
    expect(says({ crc: 5 }, true)).toContain("do not have the checksum");
    expect(says({ size: 5 })).toContain("announces 5 bytes, which 136 stored ones cannot be");
    expect(says({ size: 4_000_000_000 }, true)).toMatch(
      /announces 4000000000 bytes, which \d+ deflated ones cannot be/,
    );
    expect(says({ size: 100 }, true)).toContain("cannot be decompressed to 100 bytes");
    expect(says({ size: 200 }, true)).toContain("decompresses to 136 bytes instead of 200");
    expect(says({ packed: 20 }, true)).toContain("cannot be decompressed");
    expect(says({ at: 7 })).toContain("does not begin where it should");
    expect(says({ at: 4_000_000_000 })).toContain("lies outside of the file");
    expect(says({ packed: 5000, size: 5000 })).toContain("lies outside of the file");
    expect(because(makeZip([{ name: "a", data: npy }], { count: 2 }), "npz")).toContain("does not fit");
    const same = [
      { name: "a.npy", data: npy },
      { name: "a.npy", data: npy },
    ];
    expect(because(makeZip(same), "npz")).toContain(`the entry "a.npy" is there twice`);
    expect(because(makeZip([same[0]!, { name: "a", data: npy }]), "npz")).toContain(
      `two of its entries are called "a"`,
    );
    const overlapping = Array.from({ length: 9 }, (_, i) => ({ name: `${i}`, data: new Uint8Array(0) }));
    const bomb = makeZip([
      { name: "x", data: npy },
      ...overlapping.map((part) => ({ ...part, says: { at: 0, packed: 136, size: 136 } })),
    ]);
    expect(because(bomb, "npz")).toContain("its entries share bytes");
    expect(because(makeZip([{ name: "a.txt", data: floats([1, 2, 3]) }]), "npz")).toContain(
      `the entry "a.txt": not an npy file`,
    );
  });

  scoped("an error inside of one entry leaves none of the others", () => {
    const before = mx.memory().liveHandles;
    const parts = [
      { name: "a.npy", data: npy },
      { name: "b.npy", data: npy.slice(0, -1) },
    ];
    expect(because(makeZip(parts), "npz")).toContain(`the entry "b.npy": float32[2] needs 8 bytes`);
    expect(mx.memory().liveHandles).toBe(before);
  });
});
