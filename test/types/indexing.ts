// Checked by tsc, never run: which indices compile, and which typos do not.
import * as mx from "../../src/index.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>): void => undefined;

declare const x: mx.Array;
declare const ids: mx.Array;
declare const start: number;
declare const anyText: string;

export function accepted(): void {
  same<ReturnType<typeof x.get>, mx.Array>(true);
  x.get();
  x.get(0, -1);
  x.get(":", "1:3", "::-1", ":-2", "-2:", "1:3:2", "10:1:-3");
  x.get("...", 0, null);
  x.get([0, 2], ids, [[0], [1]]);
  x.get(`${start}:`, `:${start}`, `${start}:${start}`, `${start}:${start}:${2}`);
  const parts: mx.IndexPart[] = [0, "1:", null];
  x.get(...parts);
  const slice: mx.SliceText = "1:3";
  x.get(slice);

  for (const value of [1, 2n, true, x, mx.float(2), { re: 0, im: 1 }] as const) x.at(0).set(value);
  same<ReturnType<ReturnType<typeof x.at>["add"]>, mx.Array>(true);
  x.at(ids, "2:6").add(1);
  x.at("...").subtract(x);
  x.at(ids).multiply(2);
  x.at(0).divide(2);
  x.at(0).maximum(2);
  x.at(0).minimum(2);
  for (const row of x) same<typeof row, mx.Array>(true);
}

export function refusedSlices(): void {
  // @ts-expect-error: a letter for a bound
  x.get("1:a");
  // @ts-expect-error: the wrong separator
  x.get("1;3");
  // @ts-expect-error: too many parts
  x.at("::::");
  // @ts-expect-error: too many parts
  x.get("1:2:3:4");
  // @ts-expect-error: no slice at all
  x.get("");
  // @ts-expect-error: an integer as text
  x.get("3");
  // @ts-expect-error: two dots
  x.get("..");
  // @ts-expect-error: Python's word
  x.get("None");
  // @ts-expect-error: a range in words
  x.get("1 to 3");
  // @ts-expect-error: brackets
  x.get("[1:3]");
  // @ts-expect-error: several axes in one text
  x.get("1:3, 2:4");
  // @ts-expect-error: text that nobody has looked at
  x.get(anyText);
  // @ts-expect-error: a bound that is no number
  x.get(`${anyText}:3`);
}

export function refusedParts(): void {
  // @ts-expect-error: nothing is no index
  x.get(undefined);
  // @ts-expect-error: a boolean is no index
  x.get(true);
  // @ts-expect-error: a list of booleans is no index: masks are Arrays
  x.get([true, false]);
  // @ts-expect-error: slices stand alone, not in lists
  x.get(["1:3"]);
  // @ts-expect-error: an object is no slice
  x.get({ start: 1, stop: 3 });
  // @ts-expect-error: arrays are not indexed by brackets
  void x[0];
  // @ts-expect-error: nothing to set
  x.at(0).set();
  // @ts-expect-error: text is no value
  x.at(0).set("1");
  // @ts-expect-error: a list is no value: mx.array makes one of it
  x.at(0).set([1, 2]);
  // @ts-expect-error: there is no such update
  x.at(0).power(2);
  // @ts-expect-error: at is called, not indexed
  x.at[0];
}

export function refusedOptions(): void {
  // @ts-expect-error: options are not Python's words
  mx.argmax(x, { keepdims: true });
  // @ts-expect-error: a misspelt option
  mx.softmax(x, { axes: 0 });
  // @ts-expect-error: a misspelt option
  mx.zeros([2], { dType: "int32" });
  // @ts-expect-error: an option of another operation
  mx.sort(x, { descending: true });
  // @ts-expect-error: a misspelt option
  mx.grad((a: mx.Array) => a, { argnum: 0 });
  // @ts-expect-error: Python's spelling
  mx.vmap((a: mx.Array) => a, { in_axes: 0 });
  // @ts-expect-error: a misspelt option
  mx.compile((a: mx.Array) => a, { shapeLess: true });
  // @ts-expect-error: Python's word for the state
  mx.compile((a: mx.Array) => a, { inputs: [x] });
  // @ts-expect-error: a misspelt option
  mx.random.normal([2], { mean: 0 });
  // @ts-expect-error: a flag is no number
  mx.sum(x, { keepDims: 1 });
  // @ts-expect-error: an axis in text
  mx.concatenate([x], { axis: "1" });
}

export function refusedDtypes(): void {
  // @ts-expect-error: NumPy's name
  x.astype("float");
  // @ts-expect-error: another framework's name
  mx.ones([2], { dtype: "half" });
  // @ts-expect-error: Python's bool_
  mx.array([1], { dtype: "bool_" });
  // @ts-expect-error: a dtype that MLX does not have
  mx.array([1], { dtype: "complex128" });
  // @ts-expect-error: a JavaScript class is no dtype
  mx.zeros([2], { dtype: Float32Array });
  // @ts-expect-error: a dtype is not a number
  mx.arange(3, { dtype: 10 });
}
