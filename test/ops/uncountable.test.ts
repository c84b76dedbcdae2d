// Shapes with more elements than MLX counts. A broadcast holds one element, so that such shapes cost nothing to make; MLX
// lets the count wrap, and what then evaluates or prints the array ends the process. This file's would die of it.
import { describe, expect, test } from "bun:test";
import { functions as C } from "../../src/ffi.ts";
import * as mx from "../../src/index.ts";
import { refusal, said, scoped } from "../helpers.ts";

const wide = (...shape: number[]): mx.Array => mx.broadcastTo(mx.array(1), shape);
const indices = (...shape: number[]): mx.Array => mx.broadcastTo(mx.array(0, { dtype: "int32" }), shape);
const most = 2147483647;
const four = [65536, 65536, 65536, 65536];

const shapes: Record<string, () => unknown> = {
  ones: () => mx.ones(four),
  zeros: () => mx.zeros([most, most, most]),
  full: () => mx.full(four, 1),
  eye: () => mx.eye(most, most),
  tri: () => mx.tri(most, most),
  empty: () => mx.empty(four),
  broadcastTo: () => mx.broadcastTo(mx.array(1), four),
  asStrided: () => mx.asStrided(mx.array([1]), four, [0, 0, 0, 0]),
  "random.normal": () => mx.random.normal(four),
  "random.uniform": () => mx.random.uniform({ shape: four }),
  "random.randint": () => mx.random.randint(0, 10, four),
  "random.bernoulli": () => mx.random.bernoulli(0.5, four),
  "random.truncatedNormal": () => mx.random.truncatedNormal(0, 1, four),
  "random.gumbel": () => mx.random.gumbel(four),
  "random.laplace": () => mx.random.laplace(four),
  "random.categorical": () => mx.random.categorical(mx.ones([4]), { shape: four }),
};

const grown: Record<string, () => unknown> = {
  add: () => mx.add(wide(65536, 65536, 1, 1), wide(1, 1, 65536, 65536)),
  where: () => mx.where(wide(65536, 65536, 1, 1), wide(1, 1, 65536, 65536), 0),
  outer: () => mx.outer(wide(most), wide(most)),
  matmul: () => mx.matmul(wide(most, 1), wide(1, most)),
  inner: () => mx.inner(wide(most, 2), wide(most, 2)),
  meshgrid: () => mx.meshgrid(wide(most), wide(most), wide(most)),
  broadcastArrays: () => mx.broadcastArrays(wide(65536, 65536, 1, 1), wide(1, 1, 65536, 65536)),
  take: () => mx.take(wide(65536, 2), indices(65536, 65536, 65536), 1),
  divmod: () => mx.divmod(wide(65536, 65536, 1, 1), wide(1, 1, 65536, 65536)),
  stack: () => mx.stack(new Array<mx.Array>(64).fill(wide(65536, 65536, 4194304))),
  tile: () => mx.tile(wide(65536, 65536, 16384), [16384, 1, 1]),
  repeat: () => mx.repeat(wide(65536, 65536, 16384), 16384, 0),
  pad: () =>
    mx.pad(wide(65536, 65536, 1), [
      [0, 0],
      [0, 0],
      [1_000_000_000, 0],
    ]),
  get: () => wide(65536, 2).get("...", indices(65536, 65536, 65536)),
};

for (const [name, run] of Object.entries({ ...shapes, ...grown })) {
  scoped(`${name} refuses a shape that MLX cannot count, and frees what it made`, () => {
    // The library and the random state are there from here on.
    mx.tidy(() => void mx.random.normal([1]));
    const before = C.mlxts_live_handles();
    const message = mx.tidy(() => refusal(run));
    expect(message).toStartWith("RangeError: ");
    expect(message).toMatch(/the shape \[[\d, .]+\] has 2\^60 elements or more/);
    expect(C.mlxts_live_handles()).toBe(before);
  });
}

test("each of MLX's own lengths past 32 bits is an error too", () => {
  mx.tidy(() => {
    for (const run of [
      () => mx.reshape(wide(65536, 65536), [-1]),
      () => mx.flatten(wide(65536, 65536)),
      () => mx.tile(wide(65536), [65536]),
      () => mx.repeat(wide(65536), 65537),
      () => mx.concatenate([wide(most), wide(most), wide(3)]),
      () => mx.kron(wide(65536), wide(65537)),
      () => mx.pad(wide(most), 1),
      () => mx.diag(wide(65536), most),
      () => mx.fft.irfft(wide(most)),
      () => mx.conv1d(wide(1, 4, 1), wide(1, 1, 1), { padding: 1073741824 }),
      () => mx.convTranspose1d(wide(1, most, 1), wide(1, 1, 1), { stride: most }),
      () => mx.tensordot(wide(65536, 65536, 2), wide(65536, 65536, 2), [[2], [2]]),
      () => mx.einsum("abi,cdi->abcd", wide(65536, 65536, 2), wide(65536, 65536, 2)),
      () => mx.cumsum(wide(65536, 65536)),
      () => mx.sort(wide(65536, 65536), null),
    ]) {
      expect(refusal(run)).toStartWith("MlxError: ");
    }
    // This one MLX lets wrap.
    expect(refusal(() => mx.view(wide(most), "uint8"))).toBe(
      "RangeError: view: the shape [-4] has a length past 2147483647, where MLX's count wraps.",
    );
  });
});

describe("what MLX makes in between", () => {
  scoped("is looked at before an evaluation, which spoils nothing", () => {
    const a = wide(1048576, 1, most);
    const b = wide(1, 1048576, most);
    const product = mx.vecdot(a, b);
    expect(product.shape).toEqual([1048576, 1048576]);
    for (const run of [() => mx.eval(product), () => mx.asyncEval(product), () => product.get(0, 0).item()]) {
      expect(refusal(run)).toMatch(
        /^MlxError: .*an array in between \(Multiply\) has more elements than MLX can count$/,
      );
    }
    expect(product.entry.poison).toBeNull();
    expect(mx.add(a.get(0, 0, 0), 1).item()).toBe(2);
  });
});

describe("arrays that are large and countable", () => {
  scoped("are read and printed as ever", () => {
    const large = wide(most, 536870911);
    expect(large.size).toBe(most * 536870911);
    expect(large.get(most - 1, 536870910).item()).toBe(1);
    expect(String(large)).toStartWith("array([[1, 1, 1, ..., 1, 1, 1]");
    expect(mx.zeros([0, most, most, most]).size).toBe(0);
  });

  scoped("are not printed where the text has no end", () => {
    const many = mx.broadcastTo(mx.array(1), new Array<number>(40).fill(2));
    const message = "toString: the text of an array of 40 axes would show 1099511627776 elements: print a part of it.";
    expect(refusal(() => String(many))).toBe(`RangeError: ${message}`);
    expect(Bun.inspect(many)).toBe(`Array(no text: ${message})`);
    const deep = mx.ones(new Array<number>(100_000).fill(1));
    expect(refusal(() => String(deep))).toStartWith("RangeError: toString: the text of an array of 100000 axes");
    expect(String(mx.ones(new Array<number>(200).fill(1)))).toContain("1");
  });
});

test("a Worker and an asynchronous evaluation refuse them as well", async () => {
  const lines = await said(`
    const wide = (...shape) => mx.broadcastTo(mx.array(1), shape);
    const product = mx.vecdot(wide(1048576, 1, ${most}), wide(1, 1048576, ${most}));
    await product.ready().then(() => say("ready"), (error) => say(error.message));
    attempt("add", () => mx.add(wide(65536, 65536, 1, 1), wide(1, 1, 65536, 65536)));
  `);
  expect(lines[0]).toContain("an array in between (Multiply) has more elements than MLX can count");
  expect(lines[1]).toContain("2^60 elements or more");
});
