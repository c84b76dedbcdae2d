// Checked by tsc, never run: what the types must accept, and what they must refuse. A line under `@ts-expect-error`
// that begins to type-check is an error itself.
import * as mx from "../../src/index.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>): void => undefined;

declare const x: mx.Array;

export function accepted(): void {
  same<typeof mx.float32, "float32">(true);
  const dtype: mx.Dtype = mx.bfloat16;
  same<ReturnType<typeof mx.add>, mx.Array>(true);
  same<typeof x.shape, number[]>(true);

  mx.array(
    [
      [1, 2],
      [3, 4],
    ],
    { dtype },
  );
  mx.array(new Float16Array(4), { shape: [2, 2] });
  mx.array([1n, 2n]);
  mx.array([true]);
  mx.array({ re: 1, im: 2 });
  for (const scalar of [2, 2n, true, { re: 0, im: 1 }, mx.float(2)] as const) {
    mx.add(x, scalar);
    mx.add(scalar, x);
    x.multiply(scalar);
  }
  mx.sum(x);
  mx.sum(x, 0);
  mx.sum(x, [0, 1], true);
  mx.sum(x, { axis: 0, keepDims: true });
  mx.sum(x, { axis: [0, 1], stream: "cpu" });
  x.sum({ axis: -1 });
  x.reshape(2, 3);
  x.reshape([2, 3]);
  x.transpose();
  x.transpose(1, 0);
  mx.softmax(x, { axis: -1, precise: true });
  mx.zeros([2, 3], { dtype: mx.int32 });
  mx.random.normal([2], { key: mx.random.key(1), loc: 0, scale: 1 });
  mx.take(x, [0, 2], { axis: 0 });

  using owned = mx.add(x, 1);
  same<typeof owned, mx.Array>(true);
  same<ReturnType<typeof mx.tidy<mx.Array>>, mx.Array>(true);
  const pair: [mx.Array, number] = mx.tidy((): [mx.Array, number] => [x.add(1), 2]);
  mx.dispose({ tree: [pair[0], { x }] });

  same<ReturnType<typeof npyOf>, mx.Array>(true);
  same<ReturnType<typeof namedOf>, Record<string, mx.Array>>(true);
  same<ReturnType<typeof lazyOf>, Record<string, mx.Array>>(true);
  const [arrays, metadata] = mx.load("x.bin", { format: "gguf", returnMetadata: true });
  same<typeof arrays, Record<string, mx.Array>>(true);
  same<typeof metadata, Record<string, mx.Metadata>>(true);
  const [named] = mx.load("x.bin", "safetensors", { returnMetadata: true });
  same<typeof named, Record<string, mx.Array>>(true);
  mx.saveSafetensors("x", { nested: [x] }, { metadata: { a: "b" } });

  const gradient = mx.valueAndGrad((w: mx.Array) => w.sum());
  using result = gradient(x);
  same<(typeof result)[0], mx.Array>(true);
}

const npyOf = (path: string) => mx.load(path, "npy");
const namedOf = (path: string) => mx.load(path, { format: "safetensors" });
const lazyOf = (path: string) => mx.load(path, "safetensors", { lazy: true });

export function refused(): void {
  // @ts-expect-error: an unknown file format
  mx.load("x", { format: "zip" });
  // @ts-expect-error: bytes have no name to take the format from
  mx.loadFromBytes(new Uint8Array(1), {});
  // @ts-expect-error: one array, not a tree
  mx.save("x.npy", { x });
  // @ts-expect-error: metadata of safetensors are texts
  mx.saveSafetensors("x", { x }, { metadata: { n: 1 } });
  // @ts-expect-error: text is no array
  mx.add(x, "text");
  // @ts-expect-error: a missing operand
  mx.add(x);
  // @ts-expect-error: an unknown dtype
  mx.zeros([2], { dtype: "float31" });
  // @ts-expect-error: an option in Python's spelling
  mx.sum(x, { keepdims: true });
  // @ts-expect-error: an option that the function does not have
  mx.exp(x, { axis: 0 });
  // @ts-expect-error: an axis that is no number
  mx.sum(x, { axis: "0" });
  // @ts-expect-error: a promise would outlive its scope
  mx.tidy(async () => x);
  // @ts-expect-error: an unknown device
  mx.add(x, 1, { stream: "tpu" });
  // @ts-expect-error: a shape is a list
  mx.zeros("2");
  // @ts-expect-error: the dtype of an array cannot be set
  x.dtype = "int8";
  // @ts-expect-error: arrays do not take JavaScript's operators
  void (x * 2);
}
