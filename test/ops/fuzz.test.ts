// Every public operation with thousands of wrong arguments: a result, or an error of ours that names the operation.
import { expect, test } from "bun:test";
import { python } from "../../codegen/emit-all-ops.ts";
import { camelName } from "../../codegen/op-names.ts";
import { elsewhere } from "../../codegen/accounts.ts";
import * as mx from "../../src/index.ts";

type Loose = (...args: unknown[]) => unknown;

// MLX does not check index arrays: wrong ones read, and in this one write, wherever they lead.
const unchecked = new Set(["putAlongAxis"]);

const operations: [string, Loose][] = ["core", "linalg", "fft", "random", "fast"].flatMap((module) => {
  const space = (module === "core" ? mx : (mx as unknown as Record<string, unknown>)[module]) as Record<string, Loose>;
  return Object.keys(python.modules[module]!.functions)
    .filter((name) => elsewhere[module === "core" ? name : `${module}.${name}`] === undefined)
    .map(camelName)
    .filter((name) => !unchecked.has(name))
    .map((name): [string, Loose] => [module === "core" ? name : `${module}.${name}`, space[name]!]);
});

/** A small generator, so that a failure can be repeated. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4294967296;
  };
}

const shapes = [[], [0], [1], [3], [2, 3], [3, 3], [0, 3], [2, 0], [2, 2, 3], [1, 1, 4, 4], [2, 64]];
const dtypes: readonly mx.Dtype[] = [
  "bool",
  "uint8",
  "uint32",
  "int32",
  "int64",
  "float16",
  "bfloat16",
  "float32",
  "float64",
  "complex64",
];
const odd: readonly unknown[] = [
  undefined, null, true, false, "x", "", "edge", "reflect", "causal", "fro", "affine", "mxfp4", "ij,jk->ik", 0.5, -1.5,
  NaN, Infinity, -Infinity, 1e300, 2 ** 53, 10n, 2n ** 63n, {}, { axis: 0 }, { axis: [0] }, { stream: "cpu" },
  { strem: 1 }, { re: 1, im: 2 }, mx.float(2), "float32", "int8", () => 1, Symbol.iterator, new Date(0),
  new Float32Array(3), [undefined], ["a"], [1.5], [null], [NaN], [[1], [2]], [[0, 1], [1]], new Map(), /x/, new Proxy({}, {}),
]; // prettier-ignore
const integers = [0, 1, -1, 2, 3, -2, -3, 4, 7, 64];

test("wrong arguments give errors of ours, and right ones by chance give arrays", () => {
  const random = generator(20260101);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const array = (): mx.Array => {
    const shape = pick(shapes);
    const size = shape.reduce((product, length) => product * length, 1);
    const made = mx.arange(size).reshape(shape).astype(pick(dtypes));
    if (random() > 0.95) made.dispose();
    return made;
  };
  const value = (): unknown => {
    const which = random();
    if (which < 0.4) return array();
    if (which < 0.6) return pick(integers);
    if (which < 0.75) return Array.from({ length: Math.floor(random() * 4) }, () => pick(integers));
    if (which < 0.8) return Array.from({ length: Math.floor(random() * 3) }, array);
    return pick(odd);
  };
  let results = 0;
  const strange: string[] = [];
  for (let i = 0; i < 6000; i++) {
    mx.tidy(() => {
      const [name, operation] = pick(operations);
      const args = Array.from({ length: Math.floor(random() * 5) }, value);
      try {
        const made = [operation(...args)].flat().filter((item) => item instanceof mx.Array);
        for (const item of made) if (item.size < 100_000) mx.eval(item);
        results++;
      } catch (error) {
        const ours = [TypeError, RangeError, mx.MlxError, mx.DisposedError].some((kind) => error instanceof kind);
        // An evaluation that fails is reported by eval.
        const named = /^[\w.]+: /.test((error as Error).message);
        if (!ours || !named) strange.push(`${name}: ${String(error)}`);
      }
    });
  }
  expect(strange).toEqual([]);
  expect(results).toBeGreaterThan(300);
}, 60_000);
