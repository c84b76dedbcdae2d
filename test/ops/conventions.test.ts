// How operations are called: by position, by options, by both; and what is refused before the native call.
import { expect, test } from "bun:test";
import { python } from "../../codegen/emit-all-ops.ts";
import { camelName } from "../../codegen/op-names.ts";
import { elsewhere } from "../../codegen/accounts.ts";
import * as mx from "../../src/index.ts";
import { caught, refusal, scoped, untyped } from "../helpers.ts";

const matrix = (): mx.Array => mx.arange(6).reshape(2, 3).astype("float32");

scoped("positional arguments, options, and a mixture give the same", () => {
  const x = matrix();
  const forms = [
    mx.sum(x, 1, true),
    mx.sum(x, { axis: 1, keepDims: true }),
    mx.sum(x, 1, { keepDims: true }),
    mx.sum(x, undefined, { keepDims: true }).sum({ keepDims: true }),
    x.sum(1, true),
    x.sum({ axis: 1, keepDims: true }),
    x.sum(1, { keepDims: true, stream: "cpu" }),
    mx.sum(x, 1, true, { stream: mx.cpu }),
  ];
  expect(forms.map((form) => form.tolist())).toEqual([
    [[3], [12]],
    [[3], [12]],
    [[3], [12]],
    [[15]],
    [[3], [12]],
    [[3], [12]],
    [[3], [12]],
    [[3], [12]],
  ]);
});

scoped("null is Python's None, undefined is not given", () => {
  const x = matrix();
  expect(mx.sum(x, null).item()).toBe(15);
  expect(mx.sum(x, undefined, true).shape).toEqual([1, 1]);
  expect(mx.sort(mx.array([3, 1, 2]), null).tolist()).toEqual([1, 2, 3]);
  expect(mx.sum(x, { axis: undefined, keepDims: undefined, stream: undefined }).item()).toBe(15);
});

scoped("a required argument behind the operand may be an option", () => {
  const x = matrix();
  expect(mx.reshape(x, { shape: [3, 2] }).shape).toEqual([3, 2]);
  expect(mx.swapaxes(x, 0, { axis2: 1 }).shape).toEqual([3, 2]);
  expect(mx.take(x, { indices: 1, axis: 0 }).tolist()).toEqual([3, 4, 5]);
  expect(mx.clip(x, 1, { aMax: 2 }).max().item()).toBe(2);
  expect(refusal(() => mx.swapaxes(x, 0, untyped({})))).toBe(
    "TypeError: swapaxes: axis2 must be a 32-bit integer, got undefined.",
  );
});

scoped("reshape and transpose take spread numbers", () => {
  const x = matrix();
  expect(x.reshape(3, -1).shape).toEqual([3, 2]);
  expect(x.reshape(6, { stream: "cpu" }).shape).toEqual([6]);
  expect(x.transpose(1, 0).shape).toEqual([3, 2]);
  expect(x.transpose().shape).toEqual([3, 2]);
  expect(x.transpose({ axes: [0, 1] }).shape).toEqual([2, 3]);
  expect(x.T.shape).toEqual([3, 2]);
});

scoped("given twice, unknown, or in the wrong place: a TypeError that names the operation", () => {
  const x = matrix();
  expect(refusal(() => mx.sum(x, 0, untyped({ axis: 1 })))).toBe(
    "TypeError: sum: axis is given twice, by position and as an option.",
  );
  expect(refusal(() => mx.sum(x, untyped({ keepdims: true })))).toBe(
    'TypeError: sum: unknown option "keepdims". Did you mean "keepDims"? The options are axis, keepDims, stream.',
  );
  expect(refusal(() => mx.softmax(x, untyped({ dim: 1 })))).toContain('softmax: unknown option "dim".');
  expect(refusal(() => mx.add(x, x, untyped({ strem: "cpu" })))).toBe(
    'TypeError: add: unknown option "strem". Did you mean "stream"? The options are stream.',
  );
  expect(refusal(() => mx.sum(x, untyped({ axis: 0 }), untyped(true)))).toBe(
    "TypeError: sum: nothing may follow the options object, got true.",
  );
  for (const options of [null, 5, "cpu", [1], mx.cpu]) {
    expect(caught(() => mx.add(x, x, untyped(options)))).toBeInstanceOf(TypeError);
    expect(caught(() => mx.sum(x, 0, true, untyped(options)))).toBeInstanceOf(TypeError);
  }
  expect(refusal(() => mx.exp(x, untyped({ stream: "tpu" })))).toContain("TypeError: exp: stream");
});

scoped("integers: no fraction, NaN, overflow, text or boolean", () => {
  const x = matrix();
  for (const axis of [0.5, NaN, Infinity, 2 ** 31, -(2 ** 31) - 1, 2n ** 40n]) {
    expect(caught(() => mx.sum(x, untyped(axis)))).toBeInstanceOf(RangeError);
    expect(caught(() => mx.sum(x, untyped([0, axis])))).toBeInstanceOf(RangeError);
    expect(caught(() => mx.argmax(x, untyped(axis)))).toBeInstanceOf(RangeError);
    expect(caught(() => mx.reshape(x, untyped([axis, 1])))).toBeInstanceOf(RangeError);
  }
  for (const axis of ["0", true, [0], Symbol.iterator, () => 0]) {
    const refused = caught(() => mx.argmax(x, untyped(axis)));
    expect(refused).toBeInstanceOf(TypeError);
    expect(refused.message).toStartWith("argmax: ");
  }
  expect(refusal(() => mx.sum(x, untyped(["a"])))).toBe('TypeError: sum: axis[0] must be a 32-bit integer, got "a".');
  expect(mx.sum(x, untyped(1n)).tolist()).toEqual([3, 12]);
});

scoped("booleans, dtypes, text and numbers are not guessed", () => {
  const x = matrix();
  expect(refusal(() => mx.sum(x, 0, untyped(1)))).toBe("TypeError: sum: keepDims must be true or false, got 1.");
  expect(refusal(() => mx.sum(x, 0, untyped(null)))).toContain("keepDims must be true or false, got null");
  expect(refusal(() => mx.zeros([2], untyped("float")))).toContain(
    'TypeError: zeros: dtype must be a dtype, got "float".',
  );
  expect(refusal(() => mx.searchsorted(x, x, untyped(1)))).toContain("TypeError: searchsorted: side must be a string");
  expect(refusal(() => mx.linspace(untyped("0"), 1))).toContain("TypeError: linspace: start must be a number");
});

scoped("operands: an Array or a scalar, and nothing else", () => {
  for (const value of [
    "text",
    null,
    undefined,
    {},
    [1, 2],
    new Float32Array(2),
    Symbol.iterator,
    () => 1,
    new Date(0),
  ]) {
    for (const run of [() => mx.exp(untyped(value)), () => mx.add(1, untyped(value)), () => mx.sum(untyped(value))]) {
      expect(caught(run)).toBeInstanceOf(TypeError);
    }
  }
  expect(refusal(() => mx.exp(untyped([1, 2])))).toBe(
    "TypeError: exp: a must be an Array or a scalar, got [1, 2]. Make an array of it with mx.array(...).",
  );
});

scoped("a disposed operand is a DisposedError that names the operation", () => {
  const gone = mx.array([1, 2]);
  gone.dispose();
  const runs: Record<string, () => unknown> = {
    add: () => mx.add(1, gone),
    sum: () => gone.sum(),
    where: () => mx.where(1, 2.5, gone),
    concatenate: () => mx.concatenate([gone]),
    take: () => mx.take(gone, 0),
    pad: () => mx.pad(gone, 1),
    slice: () => mx.slice(gone, 0, [0], [1]),
    "fft.fft": () => mx.fft.fft(gone),
    "random.bernoulli": () => mx.random.bernoulli(gone),
    gatherMm: () => mx.gatherMm(gone, gone),
    remainder: () => mx.remainder(gone, 2),
  };
  for (const [name, run] of Object.entries(runs)) {
    const error = caught(run) as mx.DisposedError;
    expect(error).toBeInstanceOf(mx.DisposedError);
    expect(error.operation).toBe(name);
  }
});

scoped("MLX's own refusals are MlxErrors with the shapes and dtypes of the operands", () => {
  const error = caught(() => mx.add(mx.zeros([2]), mx.zeros([3], "int32"))) as mx.MlxError;
  expect(error).toBeInstanceOf(mx.MlxError);
  expect(error.operation).toBe("add");
  expect(error.message).toContain("float32[2], int32[3]");
  expect(caught(() => mx.sum(mx.zeros([2]), 1))).toBeInstanceOf(mx.MlxError);
});

test("refused calls leave nothing behind", () => {
  const x = matrix();
  const runs = [
    () => mx.add(2, untyped("text")),
    () => mx.where(1, 2.5, untyped(null)),
    () => mx.clip(x, 1, untyped("2")),
    () => mx.concatenate([x, 2, untyped("x")]),
    () => mx.fast.rmsNorm(x, mx.array([1, 2]), untyped("eps")),
    () => mx.einsum("ij->ijk", x, 3),
    () => mx.addmm(1, 2, x),
    () => mx.quantize(x, 33),
  ];
  const attempt = (): void =>
    mx.tidy(() => {
      for (const run of runs) expect(() => run()).toThrow();
    });
  attempt();
  const before = mx.memory().liveHandles;
  for (let i = 0; i < 200; i++) attempt();
  expect(mx.memory().liveHandles).toBe(before);
  x.dispose();
});

test("every function of Python's that is an operation is there, under its name in camelCase", () => {
  const missing: string[] = [];
  const spaces = mx as unknown as Record<string, Record<string, unknown>>;
  for (const module of ["core", "linalg", "fft", "random", "fast"]) {
    const { functions, aliases } = python.modules[module]!;
    for (const name of [...Object.keys(functions), ...Object.keys(aliases)]) {
      const key = module === "core" ? name : `${module}.${name}`;
      if (elsewhere[key] !== undefined) continue;
      const space = module === "core" ? (mx as unknown as Record<string, unknown>) : spaces[module];
      if (typeof space?.[camelName(name)] !== "function") missing.push(key);
    }
  }
  expect(missing).toEqual([]);
});

scoped("every method of Python's array is there, and so are the properties", () => {
  const x = matrix();
  const known = x as unknown as Record<string, unknown>;
  const missing = Object.keys(python.array.functions).filter((name) => typeof known[camelName(name)] !== "function");
  expect(missing).toEqual([]);
  for (const name of python.array.properties) expect(known[name]).toBeDefined();
  expect(Object.keys(x)).not.toContain("add");
});

scoped("aliases are the same functions", () => {
  expect(mx.acos).toBe(mx.arccos);
  expect(mx.pow).toBe(mx.power);
  expect(mx.concat).toBe(mx.concatenate);
  expect(mx.conj).toBe(mx.conjugate);
  expect(mx.permuteDims).toBe(mx.transpose);
  expect(mx.matrixNorm).toBe(mx.linalg.norm);
  expect(mx.cumulativeSum).toBe(mx.cumsum);
  expect(mx.empty).toBe(mx.zeros);
});
